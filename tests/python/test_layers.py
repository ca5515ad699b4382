"""Tests of the choice of a layer, with stand-ins for the two libraries of Open MPI 6."""

import shutil
import subprocess
import sys

import pytest

CALLS = "int PMPI_Init(int* c, char*** v) { return 0; } int ompi_mpi_comm_self;"
VERSION = "int PMPI_Abi_get_version(int* a, int* b) { *a = *b = %d; return 0; }"
PROGRAM = """
import ctypes, sys
from taut import _core
opened = [ctypes.CDLL(library) for library in sys.argv[2:]]
_core.Layer(sys.argv[1])
"""


@pytest.mark.skipif(not shutil.which("cc"), reason="no compiler")
@pytest.mark.parametrize(
    ("libraries", "said"),
    [
        (["libmpi.so.40"], "no layer for this MPI (openmpi)"),
        (["libmpi_abi.so.1"], "no layer for this MPI (mpiabi)"),
        (["libmpi_abi.so.1", "libmpi.so.40"], "two MPIs are loaded"),
    ],
)
def test_of_one_mpi_but_not_of_two(libraries, said, tmp_path):
    for library in libraries:
        source = CALLS + VERSION % (1 if "abi" in library else -1)
        subprocess.run(["cc", "-shared", "-fPIC", "-w", "-xc", "-", "-o", tmp_path / library], input=source, text=True, check=True)
    paths = [str(tmp_path / library) for library in libraries]
    done = subprocess.run([sys.executable, "-c", PROGRAM, str(tmp_path), *paths], capture_output=True, text=True, check=False)
    assert said in done.stderr
