"""A program whose report is worth reading (docs/howto/read_a_report.md): 20 steps of a sum of smooth values, a broadcast of
noise, and a norm.

  TAUT_REPORT=report.json mpiexec -n 2 python examples/python/steps.py [POLICY]     default: abs:1e-4
"""

import sys

import numpy as np
import taut
from mpi4py import MPI

STEPS, SMOOTH, NOISE = 20, 1_000_000, 300_000


def main():
    comm = taut.Comm(MPI.COMM_WORLD, sys.argv[1] if len(sys.argv) > 1 else "abs:1e-4")
    place = np.linspace(0, 20, SMOOTH, dtype=np.float32)
    field, total, noise = np.empty_like(place), np.empty_like(place), np.empty(NOISE)
    norm, norms = np.empty(1), np.empty(1)
    random = np.random.default_rng(1)
    for step in range(STEPS):
        np.sin(place + 0.1 * step + comm.rank, out=field)
        comm.Allreduce(field, total)
        if comm.rank == 0:
            noise[:] = random.normal(size=NOISE)
        comm.Bcast(noise, root=0)
        norm[0] = np.dot(field, field)
        comm.Allreduce(norm, norms)
    if comm.rank == 0:
        print(f"norm {norms[0] ** 0.5:.6g}")


if __name__ == "__main__":
    main()
