#!/usr/bin/env python3
"""Tests that the drop-in leaves calls on intercommunicators to MPI, with arrays that MPI does not read.

intercommunicators_test.py LAYERS MPICC MPIEXEC    LAYERS: the folder of libtaut_preload.so
"""

import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
LAYERS, MPICC, MPIEXEC = sys.argv[1:]

with tempfile.TemporaryDirectory() as folder:
    program = Path(folder) / "intercommunicators"
    subprocess.run([MPICC, "-std=c99", "-O1", "-o", program, HERE / "intercommunicators.c"], check=True)
    for drop_in in ([], ["env", f"LD_PRELOAD={LAYERS}/libtaut_preload.so", "TAUT_RULES=* : lossless,when=always,min_bytes=0"]):
        subprocess.run([MPIEXEC, "-n", "3", *drop_in, program], check=True, timeout=60)
