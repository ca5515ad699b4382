#!/usr/bin/env python3
"""Checks which part of the library may include which: dependencies go {cli, dropin, nccl} -> api -> p2p -> comm -> gpu
-> {policy, algorithms, codecs, transports} -> core, {dropin} -> p2p, hdf5 -> cli, and {cli, preload} -> loader. Some headers of api are a level of their own, below p2p: ARGUMENTS.

A file may include its own part and the levels below; never a higher level or another part of its level. A
codec includes no other codec. Some headers and calls are confined to the files named here. Usage:
check_layers.py [ROOT]
"""

import re
import sys
from pathlib import Path

LEVELS = {"core": 0, "policy": 1, "algorithms": 1, "codecs": 1, "transports": 1, "gpu": 2, "comm": 3, "arguments": 4, "p2p": 5, "api": 6}
LEVELS |= {"cli": 7, "dropin": 7, "nccl": 7, "hdf5": 8, "loader": 0, "preload": 1}

# The part of api that models MPI's arguments: errors, datatypes, MPI's own calls.
ARGUMENTS = r"api/(args/(?!average\.cpp)|(errors|failure)\.[ch]pp$)"

# Confined names: (pattern on a line without comments, files where it may occur).
OUTSIDE = "include/|tests/|fuzz/|bench/|examples/|tools/"
CONFINED = [
    (r'#include\s*[<"]mpi\.h', rf"src/transports/mpi(_failures)?\.|src/(api|p2p|dropin)/|{OUTSIDE}"),
    (r"#include\s*<taut/", rf"src/(api|cli|dropin|gpu|nccl)/|{OUTSIDE}"),
    (r'#include\s*[<"]nccl\.h', r"examples/gpu/nccl|tests/gpu/real/instead/"),
    (r'#include\s*[<"]cu(da|bin|blas|rand)\w*\.h|#include\s*[<"]cu(da|b)/', r"src/gpu/|tests/gpu/|tests/mpi/gpu/|tests/robustness/random/gpus\.|tools/gpu/|examples/gpu/"),
    (r'#include\s*[<"]\w*(intrin|arm_neon|arm_sve)\.h', r"src/codecs/\w+/(kernels/)?(avx2|avx512|neon|sve)[\w/]*\.[ch]pp$|src/core/(avx2_bitmaps|avx2_halves|neon_bitmaps|checksum|float_environment)\."),
    (r'#include\s*[<"]zfp', r"src/codecs/zfp/|tests/|bench/"),
    (r"\benviron\b", r"src/policy/text/options\.cpp$|tests/"),
    (r"\bgetenv\b", r"tests/|bench/|examples/|tools/"),
    (r"\bsecure_getenv\b", r"src/preload/preload\.c$"),
]


def without_comments(text):
    return re.sub(r"//[^\n]*|/\*.*?\*/", lambda m: "\n" * m.group().count("\n"), text, flags=re.S)


def part(path):
    """Returns the unit of a file that must not include its neighbours: a codec's folder, ARGUMENTS, else the
    folder in src."""
    if re.match(ARGUMENTS, path):
        return "arguments"
    folders = path.split("/")
    return "/".join(folders[:2]) if folders[0] == "codecs" and len(folders) > 2 else folders[0]


def arrow_allowed(including, included):
    a, b = part(including), part(included)
    if a == b or b == "codecs" and a.startswith("codecs/"):
        return True
    return LEVELS.get(b.split("/")[0], -1) < LEVELS.get(a.split("/")[0], -1)


def check_file(name, text):
    """Yields the faults of one file, its name relative to the root, as (line, message)."""
    for number, line in enumerate(without_comments(text).splitlines(), 1):
        for pattern, files in CONFINED:
            found = re.search(pattern, line)
            if found and not re.match(files, name):
                yield number, f"`{found.group().strip()}` is confined to {files}"
        include = re.match(r'\s*#\s*include\s*"(\w+/[^"]+)"', line)
        if include and name.startswith("src/") and include[1].split("/")[0] in LEVELS:
            if not arrow_allowed(name.removeprefix("src/"), include[1]):
                yield number, f"{part(name.removeprefix('src/'))} must not include {include[1]}"


def sources(root):
    for folder in ("src", "include", "tests", "bench", "examples", "fuzz"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in (".h", ".hpp", ".cpp", ".c", ".cu", ".cuh"):
                yield path


def main(root):
    faults = 0
    for path in sources(root):
        name = path.relative_to(root).as_posix()
        for line, message in check_file(name, path.read_text()):
            print(f"{name}:{line}: {message}")
            faults += 1
    print(f"check_layers: {faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent)))
