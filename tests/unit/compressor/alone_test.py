#!/usr/bin/env python3
"""Builds the compressor from a copy of the tree without src/communication, and tries what comes of it: the library, the
program, the filter of HDF5, the codec part of the Python package, tests and fuzz targets.

Usage: alone_test.py FOLDER, an empty folder or that of an earlier run. PYTHON names an interpreter that has nanobind.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
COPIED = ("CMakeLists.txt", "CMakePresets.json", "bench/codec", "cmake", "fuzz", "include", "proofs/parameters.txt", "python", "src", "tests")
TARGETS = ("taut", "taut_program", "taut_hdf5", "compressor_test", "frame_test", "file_test", "fuzz_targets")


def run(*command, **options):
    print("+", *command, flush=True)
    subprocess.run([str(word) for word in command], check=True, **options)


def copy_tree(tree):
    shutil.rmtree(tree, ignore_errors=True)
    for name in COPIED:
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, tree / name)
    shutil.rmtree(tree / "src/communication")


def configure(tree, options):
    """Returns the build folder. With ccache it lies in the copy as build/test lies in the tree, and is configured alike, so that
    what the compiler made of the whole tree serves here."""
    folder = tree / "build/test"
    if shutil.which("ccache"):
        options = ["--preset", "test", "-DCMAKE_CXX_COMPILER_LAUNCHER=ccache", *options]
    else:
        options = ["-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug", "-DTAUT_PRECOMPILED_HEADERS=ON", "-DTAUT_TEST_UNITY=ON", "-DTAUT_TEST_FLAGS=-O0", *options]
    run("cmake", "-S", tree, "-B", folder, *options)
    return folder


def build(tree, python):
    folder = configure(tree, [f"-DTAUT_PYTHON={'ON' if python else 'OFF'}", f"-DPython_EXECUTABLE={python or sys.executable}"])
    environment = os.environ | {"CCACHE_BASEDIR": str(tree), "CCACHE_SLOPPINESS": "pch_defines,time_macros"}
    run("cmake", "--build", folder, "-j2", "--target", *TARGETS, *(["taut_python"] if python else []), env=environment)
    return folder


def try_out(folder, python):
    run("ctest", "--test-dir", folder, "--output-on-failure", "-R", "^(compressor_test|frame_test|file_test|fuzz)[.]")
    field, packed = folder / "field.f32", folder / "field.taut"
    field.write_bytes(bytes(40000))
    program = folder / "bin/taut"
    run(program, "compress", field, "-o", packed, "--bound", "abs:1e-3", "--force")
    run(program, "info", packed)
    run(program, "decompress", packed, "-o", folder / "again.f32", "--force")
    assert (folder / "again.f32").read_bytes() == field.read_bytes()
    symbols = subprocess.run(["nm", "-D", "--defined-only", folder / "libtaut.so"], check=True, capture_output=True, text=True).stdout
    assert "TAUT_Encode" in symbols and "TAUT_Allreduce" not in symbols
    if python:
        code = "import numpy, taut; x = numpy.arange(9.0); assert (taut.decompress(taut.compress(x, 'lossless')) == x).all()"
        run(python, "-c", code, env=os.environ | {"PYTHONPATH": str(folder / "python")})


def main(folder):
    python = os.environ.get("PYTHON", "")
    copy_tree(folder / "tree")
    try_out(build(folder / "tree", python), python)
    print("the compressor builds and works alone")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
