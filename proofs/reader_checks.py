"""The part `readers`: angr executes compiled readers on all inputs of up to a given size at once.

Every access to memory has to be inside the input, the output, the stack or the library, whatever the bytes are; code
that UndefinedBehaviorSanitizer guards must not reach its trap. Checksums may have any value.
"""

import shutil
import sys
import tempfile
from functools import partial
from pathlib import Path

from check import Check, Verdict, last_line, output_of

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ["compressor/frame/frame.cpp", "communication/comm/envelope.cpp"]
FLAGS = (
    "-std=c++20 -O1 -shared -fPIC -w -fno-stack-protector -fcf-protection=none -mno-avx -fno-tree-vectorize "
    "-ffp-contract=off -fsanitize=undefined -fno-sanitize=vptr -fsanitize-undefined-trap-on-error"
).split()

# Reader: (greatest size of the input, mutations as (name, file, old text, new text)).
READERS = {
    "read_frame": (
        152,
        [("unchecked_payload", "compressor/frame/frame.cpp", "if (h.payload_bytes > in.size() - frame_header_bytes) return Status::corrupt_frame;", "")],
    ),
    "read_message": (
        152,
        [("header_not_counted", "communication/comm/envelope.cpp", "following.header_bytes() + padding > message.size()", "padding > message.size()")],
    ),
    "read_escapes": (
        7,
        [("place_not_counted", "compressor/codecs/zfp/escapes.hpp", "if (n == 0 || n > count - at) return false;", "if (n == 0 || n > count) return false;")],
    ),
}


def build(folder, change=None):
    """Compiles the readers into folder/readers.so, with one text of one file replaced. Returns an error, or ""."""
    sources = []
    for name in SOURCES:
        sources.append(ROOT / "src" / name)
    if change is not None:
        name, old, new = change
        text = (ROOT / "src" / name).read_text()
        if old not in text:
            return f"{name} has no text {old}"
        changed = folder / "src" / name
        changed.parent.mkdir(parents=True)
        changed.write_text(text.replace(old, new, 1))
        sources = [changed if source == ROOT / "src" / name else source for source in sources]
    compiler = shutil.which("g++") or "g++"
    command = [compiler, *FLAGS, f"-I{folder / 'src'}", f"-I{ROOT / 'src'}", "-o", str(folder / "readers.so")]
    status, _, errors = output_of([*command, str(ROOT / "proofs" / "readers.cpp"), *map(str, sources)])
    return "" if status == 0 else last_line(errors)


def prove(reader, change=None):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if error := build(folder, change):
            return Verdict.undecided, error
        status, output, errors = output_of([sys.executable, __file__, str(folder / "readers.so"), reader])
    verdict = {0: Verdict.proven, 1: Verdict.refuted}.get(status, Verdict.undecided)
    return verdict, last_line(output if status in (0, 1) else errors)


def checks():
    for reader, (_, mutations) in READERS.items():
        yield Check("readers", reader, True, partial(prove, reader))
        for mutation, *change in mutations:
            yield Check("readers", f"{reader} ! {mutation}", False, partial(prove, reader, change))


def main(library, reader):
    """Returns 0 if every execution is free of faults, else 1 after the first fault."""
    from symbolic_execution import faults

    path, found = 0, None
    for found, path in faults(library, reader, READERS[reader][0]):
        if found:
            print(found)
            return 1
    print(f"{path} paths")
    return 0 if path else 2


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
