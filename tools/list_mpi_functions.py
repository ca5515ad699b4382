#!/usr/bin/env python3
"""Prints the C prototypes of the MPI functions that the drop-in wraps, the contents of
src/preload/functions.txt.

Those of collectives are made from src/core/collectives.txt. They come from the MPI Forum's machine-readable
standard, by the package pympistandard. Functions with large-count twins are followed by these. Usage:
list_mpi_functions.py > src/preload/functions.txt
"""

import pympistandard as standard

ALWAYS = "Init Init_thread Finalize Pcontrol".split()


def prototypes(name):
    express = standard.PROCEDURES[f"mpi_{name.lower()}"].express
    for form in (express.iso_c, getattr(express, "embiggen", None) and express.embiggen.iso_c):
        if form:
            yield str(form).replace("\\ldots", "...")


if __name__ == "__main__":
    standard.use_api_version(1)
    for name in ALWAYS:
        for prototype in prototypes(name):
            print(prototype)
