#!/usr/bin/env python3
"""Checks the undefined and the exported symbols of the layers and the preloaded library.

symbols_test.py FOLDER    that of libtaut_*.so
"""

import re
import subprocess
import sys
from pathlib import Path

SYSTEM = r".*@(GLIBC|GCC|GOMP|OMP)_[\w.]+|__gmon_start__|_ITM_\w+|__cxa_finalize|zfp_\w+|stream_(open|close)|__(tsan|asan|ubsan)_\w+"
OFFERED = r"TAUT_\w+|taut_(dropin|fortran|f08)_\w+"
OPEN_MPI = r"ompi_\w+|OMPI_C_\w+"


def symbols(library, *options):
    out = subprocess.run(["nm", "-D", *options, library], capture_output=True, text=True, check=True).stdout
    return [line.split()[-1] for line in out.splitlines() if " w " not in line]  # weak: may be absent


def odd(names, pattern):
    return [name for name in names if not re.fullmatch(pattern, name)]


def faults(library):
    """Returns the symbols that should not be there."""
    undefined, defined = symbols(library, "--undefined-only"), symbols(library, "--defined-only")
    if library.name == "libtaut_preload.so":
        return odd(undefined, SYSTEM) + odd(defined, r"P?MPI_\w+|mpi_\w+|ompi_\w+_f|nccl\w+|dlsym")
    mpis = rf"PMPI_\w+|{OPEN_MPI}" if library.name == "libtaut_openmpi.so" else r"PMPI_\w+"
    return odd(undefined, f"{SYSTEM}|{mpis}") + odd([name.split("@")[0] for name in defined], rf"{OFFERED}|TAUT_\d+")


def main(folder):
    libraries = sorted(Path(folder).glob("libtaut_*.so"))
    found = {library.name: faults(library) for library in libraries}
    for name, odd_ones in found.items():
        print(f"{name}: {', '.join(odd_ones) or 'as it should be'}")
    return len(libraries) < 2 or any(found.values())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
