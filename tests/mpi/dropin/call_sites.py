"""Calls of every kind by mpi4py, whose lines are the call sites."""

import numpy
from mpi4py import MPI

comm = MPI.COMM_WORLD
x = numpy.sin(numpy.arange(1 << 18, dtype="f4") * 1e-4)
y = numpy.empty_like(x)


def solve():
    comm.Allreduce(x, y)  # line of solve


def statistics():
    comm.Allreduce(x, y)  # line of statistics


for _ in range(3):
    solve()
    statistics()
    comm.Iallreduce(x, y).Wait()  # line of the nonblocking call
comm.gather(x)  # line of the pickles
comm.send(x, 1) if comm.rank == 0 else comm.recv(source=0)  # line of the pickled message
