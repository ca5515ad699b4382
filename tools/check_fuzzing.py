#!/usr/bin/env python3
"""Checks that every public function that takes bytes or a text from elsewhere is driven by a fuzz target.

The functions are read from include/taut: those of C with a frame (`const void*` and the number of its bytes) or a
`const char*` among their arguments, and those of frame.hpp with a `const Frame&`. A target is a file that
fuzz/CMakeLists.txt names. Functions that a target cannot call stand in ELSEWHERE. Usage: check_fuzzing.py [ROOT]
"""

import re
import sys
from pathlib import Path

# Function -> (file, what it names): the target of what the function does, where the function needs an MPI or NCCL;
# damaged frames for the kernels, where it needs a GPU.
ELSEWHERE = {
    "TAUT_Comm_set_policy": ("fuzz/parse_policy.cpp", "parse_policy"),
    "TAUT_Nccl_comm_set_policy": ("fuzz/parse_policy.cpp", "parse_policy"),
    "TAUT_Cuda_reserve": ("fuzz/parse_policy.cpp", "parse_coding"),
    "TAUT_Encode_batch_enqueue": ("fuzz/parse_policy.cpp", "parse_coding"),
    "TAUT_Encode_with_references": ("fuzz/parse_policy.cpp", "parse_coding"),
    "TAUT_Encode_enqueue": ("fuzz/parse_policy.cpp", "parse_coding"),
    "TAUT_Encode_with_references_enqueue": ("fuzz/parse_policy.cpp", "parse_coding"),
    "TAUT_Decode_with_references_enqueue": ("tests/gpu/kernels/referenced_test.cpp", "GpuReferencedDamage"),
    "TAUT_Decode_enqueue": ("tests/gpu/kernels/damage_test.cpp", "TEST"),
    "TAUT_Decode_add_enqueue": ("tests/gpu/kernels/lossless_damage_test.cpp", "TEST"),
    "TAUT_Decode_batch_enqueue": ("tests/gpu/kernels/batch_test.cpp", "ReportsTheItemThatFails"),
    "TAUT_Decode_add_batch_enqueue": ("tests/gpu/kernels/batch_test.cpp", "TAUT_Decode_add_batch_enqueue"),
    "TAUT_Decode_add_float_batch_enqueue": ("tests/gpu/kernels/exponents_calls_test.cpp", "TAUT_Decode_add_float_batch_enqueue"),
    "TAUT_Frame_add_enqueue": ("tests/gpu/kernels/damage_test.cpp", "TEST"),
    "TAUT_Frame_accumulate_enqueue": ("tests/gpu/kernels/damage_test.cpp", "TEST"),
}

FRAME = re.compile(r"const void\s*\*\s*(const\s*\*\s*)?\w+\s*,\s*(const\s+)?size_t\s*\*?\s*\w*bytes\b")
TEXT = re.compile(r"const char\s*\*\s*\w+")


def without_comments(text):
    return re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S)


def c_functions(header):
    """Yields the functions of a C header that take a frame or a text."""
    for name, arguments in re.findall(r"\b(TAUT_\w+)\(([^;{}]*)\);", without_comments(header)):
        if FRAME.search(arguments) or TEXT.search(arguments):
            yield name


def cxx_functions(header):
    """Yields the functions of frame.hpp that take a frame, as taut::NAME."""
    for name in re.findall(r"\b(\w+)\(const Frame& ", without_comments(header)):
        yield f"taut::{name}"


def targets(cmake, sources):
    """Returns the code of all fuzz targets: `sources` has the text of each file of fuzz/ by its name."""
    names = re.findall(r"taut_fuzz_target\((\w+) \d+\)", cmake)
    return "\n".join(without_comments(sources.get(f"{name}.cpp", "")) for name in names)


def faults(functions, code, read):
    """Yields a sentence for each function without a target. `read` returns the text of a file, or ""."""
    for name in sorted(set(functions)):
        if re.search(rf"(?<!\w){name}(<\w+>)?\(", code):
            continue
        file, word = ELSEWHERE.get(name, (None, ""))
        if file is None:
            yield f"{name} takes bytes from elsewhere, and no fuzz target calls it (fuzz/, tools/check_fuzzing.py)"
        elif word not in read(file):
            yield f"{name}: {file} does not name {word}"


def main(root):
    def read(name):
        return (root / name).read_text() if (root / name).exists() else ""

    functions = [name for path in sorted((root / "include/taut").glob("*.h")) for name in c_functions(path.read_text())]
    functions += cxx_functions(read("include/taut/frame.hpp"))
    code = targets(read("fuzz/CMakeLists.txt"), {path.name: path.read_text() for path in (root / "fuzz").glob("*.cpp")})
    found = list(faults(functions, code, read))
    for sentence in found:
        print(sentence)
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[1])))
