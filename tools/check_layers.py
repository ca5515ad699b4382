#!/usr/bin/env python3
"""Checks which room of src may include which. A room is a folder of a half; src/compressor knows nothing of
src/communication, and src/cli stands above both. ROOMS lists the rooms from the lowest on.

A file may include its own room and rooms of lower levels; never a higher level or another room of its level. A codec
includes no other codec. The headers of the compressor that the communication may include are listed in DOOR. Some
headers and calls are confined to the files named here. Usage: check_layers.py [ROOT]
"""

import re
import sys
from pathlib import Path

# A line is a level; rooms of one level do not include each other.
ROOMS = """
compressor/base
compressor/simd
compressor/values
compressor/frame
compressor/codecs
compressor/gpu
compressor/api
compressor/file
compressor/hdf5 compressor/adios2
communication/team communication/loader
communication/algorithms communication/transports communication/policy
communication/gpu
communication/comm
communication/mpi
communication/p2p
communication/api
communication/dropin communication/nccl communication/preload
cli
"""
LEVELS = {room: level for level, line in enumerate(ROOMS.strip().splitlines()) for room in line.split()}
DOOR = "src/communication/compressor_headers.txt"

# Confined names: (pattern on a line without comments, files where it may occur).
OUTSIDE = "include/|tests/|fuzz/|bench/|examples/|tools/"
CONFINED = [
    (r'#include\s*[<"]mpi\.h', rf"src/communication/(transports/mpi(_failures)?\.|(mpi|p2p|api|dropin)/)|{OUTSIDE}"),
    (r"#include\s*<taut/", rf"src/cli/|src/compressor/(api|file|gpu)/|src/communication/(gpu|mpi|api|dropin|nccl)/|{OUTSIDE}"),
    (r'#include\s*[<"]nccl\.h', r"examples/gpu/nccl|tests/gpu/real/instead/"),
    (r'#include\s*[<"]cu(da|bin|blas|rand)\w*\.h|#include\s*[<"]cu(da|b)/', r"src/compressor/gpu/|tests/gpu/|tests/mpi/gpu/|tests/robustness/random/gpus\.|tools/gpu/|examples/gpu/"),
    (r'#include\s*[<"]\w*(intrin|arm_neon|arm_sve)\.h', r"src/compressor/simd/|src/compressor/codecs/\w+/kernels/\w+/|src/compressor/(values/avx2_halves|frame/checksum|base/float_environment)\."),
    (r'#include\s*[<"]zfp', r"src/compressor/codecs/zfp/|tests/|bench/"),
    (r"\benviron\b", r"src/compressor/base/options\.cpp$|tests/"),
    (r"\bgetenv\b", r"tests/|bench/|examples/|tools/"),
    (r"\bsecure_getenv\b", r"src/communication/preload/preload\.c$"),
]


def without_comments(text):
    return re.sub(r"//[^\n]*|/\*.*?\*/", lambda m: "\n" * m.group().count("\n"), text, flags=re.S)


def room(path):
    """Returns the room of a path below src, such as compressor/frame, and for a file of a codec the codec's folder."""
    folders = path.split("/")[:-1]
    return folders[0] if folders[0] == "cli" else "/".join(folders[: 3 if folders[1:2] == ["codecs"] else 2])


def level(room):
    return LEVELS["/".join(room.split("/")[:2])]


def door(root):
    """Returns the headers that the file DOOR lists: the first word of each line."""
    lines = (root / DOOR).read_text().splitlines()
    return {line.split()[0] for line in lines if line and not line.startswith("#")}


def arrow_fault(including, included, listed):
    """Returns why a file must not include another, or None. Both are paths below src."""
    a, b = room(including), room(included)
    for name in (a, b):
        if "/".join(name.split("/")[:2]) not in LEVELS:
            return f"{name} is no room that tools/check_layers.py lists"
    if including.startswith("communication/") and included.startswith("compressor/") and included not in listed:
        return f"{included} is not listed in {DOOR}"
    if a == b or level(b) < level(a) or b == "compressor/codecs" and a.startswith(b):
        return None
    return f"{a} must not include {included}"


def check_file(name, text, listed=frozenset()):
    """Yields the faults of one file, its name relative to the root, as (line, message)."""
    for number, line in enumerate(without_comments(text).splitlines(), 1):
        for pattern, files in CONFINED:
            found = re.search(pattern, line)
            if found and not re.match(files, name):
                yield number, f"`{found.group().strip()}` is confined to {files}"
        include = re.match(r'\s*#\s*include\s*"((?:compressor|communication|cli)/[^"]+)"', line)
        if include and name.startswith("src/"):
            if fault := arrow_fault(name.removeprefix("src/"), include[1], listed):
                yield number, fault


def circles(includes):
    """Yields (folder, folder) for folders of a codec that include each other. includes: pairs of paths below src."""
    arrows = set()
    for including, included in includes:
        a, b = (path.rsplit("/", 1)[0] for path in (including, included))
        if a != b and a.startswith("compressor/codecs/") and room(including) == room(included):
            arrows.add((a, b))
    reached = set(arrows)
    for _ in arrows:
        reached |= {(a, d) for a, b in reached for c, d in arrows if b == c}
    yield from sorted((a, b) for a, b in arrows if (b, a) in reached)


def idle(listed, includes):
    """Returns the listed headers that no file of the communication includes. includes: as in circles()."""
    return sorted(set(listed) - {included for name, included in includes if name.startswith("communication/")})


def sources(root):
    for folder in ("src", "include", "tests", "bench", "examples", "fuzz"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in (".h", ".hpp", ".cpp", ".c", ".cu", ".cuh"):
                yield path


def main(root):
    faults, includes = 0, []
    listed = door(root)
    for path in sources(root):
        name = path.relative_to(root).as_posix()
        if name.startswith("src/"):
            found = re.findall(r'^#include "(\w+/[^"]+)"', path.read_text(), re.M)
            includes += [(name.removeprefix("src/"), included) for included in found]
        for line, message in check_file(name, path.read_text(), listed):
            print(f"{name}:{line}: {message}")
            faults += 1
    for header in idle(listed, includes):
        print(f"{DOOR}: the communication includes {header} nowhere")
        faults += 1
    for a, b in circles(includes):
        print(f"src/{a} includes {b}, which includes src/{a}")
        faults += 1
    print(f"check_layers: {faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent)))
