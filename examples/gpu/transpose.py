# mpiexec -n 4 python transpose.py [N]: x + x.T of a matrix that is distributed by rows; with CuPy, on GPUs.
import sys

import numpy as np
from mpi4py import MPI

import taut

try:
    import cupy as xp

    xp.cuda.Device(MPI.COMM_WORLD.rank % xp.cuda.runtime.getDeviceCount()).use()
except ImportError:
    xp = np

BOUND = 1e-4
comm = taut.Comm(MPI.COMM_WORLD, f"abs:{BOUND}", codec="planes", when="always", min_bytes=1)
n = int(sys.argv[1]) if len(sys.argv) > 1 else 4096
rows = n // comm.size
n = rows * comm.size

# This rank's rows of x. Block r of its transpose goes to rank r.
i = xp.arange(comm.rank * rows, (comm.rank + 1) * rows, dtype=xp.float32)[:, None]
x = xp.sin(i / 100) * xp.cos(xp.arange(n, dtype=xp.float32) / 300)
blocks = xp.ascontiguousarray(x.reshape(rows, comm.size, rows).transpose(1, 2, 0))
received = comm.Alltoall(blocks)  # a new array of the same library
y = x + received.transpose(1, 0, 2).reshape(rows, n)

exact = x + xp.sin(xp.arange(n, dtype=xp.float32) / 100) * xp.cos(i / 300)
error = float(abs(y - exact).max())
if comm.rank == 0:
    stats = comm.stats()
    share = 100 * stats["sent_bytes"] / max(stats["carried_bytes"], 1)
    print(f"x + x.T, {n} x {n}, {xp.__name__}: sent {share:.1f} % of the bytes; error {error:.2g}, bound {BOUND:.2g}")
sys.exit(error > BOUND + 1e-6)
