# mpiexec -n 4 python allreduce.py: a sum over all ranks, every element of it within 1e-4.
import numpy as np
from mpi4py import MPI

import taut

comm = taut.Comm(MPI.COMM_WORLD, "abs:1e-4")
mine = np.sin(np.linspace(0, 20, 1_000_000, dtype=np.float32)) + comm.rank
total = np.empty_like(mine)
comm.Allreduce(mine, total)
if comm.rank == 0:
    print(comm.explain())
