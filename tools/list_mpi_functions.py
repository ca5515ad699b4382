#!/usr/bin/env python3
"""Prints the C prototypes of the MPI functions that the drop-in wraps, the contents of
src/communication/preload/functions.txt.

Those of collectives are made from src/communication/team/collectives.txt. They come from the MPI Forum's machine-readable
standard, by the package pympistandard. src/communication/preload/functions.py derives their large-count forms. Usage:
list_mpi_functions.py > src/communication/preload/functions.txt
"""

import pympistandard as standard

ALWAYS = "Init Init_thread Finalize Pcontrol".split()


if __name__ == "__main__":
    standard.use_api_version(1)
    for name in ALWAYS:
        print(str(standard.PROCEDURES[f"mpi_{name.lower()}"].express.iso_c).replace("\\ldots", "..."))
