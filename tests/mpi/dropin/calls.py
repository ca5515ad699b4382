"""Makes the calls of calls.c by mpi4py.

calls.py FOLDER    into FOLDER/<rank>.txt: name, hash of the bits, greatest deviation from the exact result
"""

import hashlib
import sys

import numpy
from mpi4py import MPI

BLOCK = 1 << 15  # values


def value(rank, first, count):
    """Returns a rank's values: smooth, and exact in float32."""
    return numpy.floor(2048 * numpy.sin(1e-3 * numpy.arange(first, first + count) + rank)) / 256


class Calls:
    def __init__(self, comm, out):
        self.comm, self.out, self.made, self.started = comm, out, 0, 0
        self.rank, self.size = comm.rank, comm.size
        self.send = value(self.rank, 0, self.size * BLOCK).astype("f4")

    def received(self):
        return numpy.full(self.size * BLOCK, -1, "f4")

    def end(self, name, received, exact):
        """Writes the result of a call. `exact`: the expected first values; None: nothing is received on this
        rank."""
        worst = 0.0 if exact is None else numpy.abs(received[: len(exact)] - exact).max()
        print(name, hashlib.md5(received.tobytes()).hexdigest()[:16], worst, file=self.out)
        self.made += 1

    def blocks(self, first):
        return numpy.concatenate([value(r, first, BLOCK) for r in range(self.size)])

    def reductions(self):
        comm, root = self.comm, self.size - 1
        total = sum(value(r, 0, self.size * BLOCK) for r in range(self.size))
        mine = total[self.rank * BLOCK : (self.rank + 1) * BLOCK]
        comm.Allreduce(self.send, received := self.received())
        self.end("Allreduce", received, total)
        comm.Allreduce(MPI.IN_PLACE, received := self.send.copy())
        self.end("Allreduce,in_place", received, total)
        comm.Reduce(self.send, received := self.received(), root=root)
        self.end("Reduce", received, total if self.rank == root else None)
        comm.Reduce_scatter_block(self.send, (received := self.received())[:BLOCK])
        self.end("Reduce_scatter_block", received, mine)
        comm.Reduce_scatter(self.send, (received := self.received())[:BLOCK], [BLOCK] * self.size)
        self.end("Reduce_scatter", received, mine)
        comm.Scan(self.send, received := self.received())
        self.end("Scan", received, sum(value(r, 0, self.size * BLOCK) for r in range(self.rank + 1)))
        comm.Exscan(self.send, received := self.received())
        before = [value(r, 0, self.size * BLOCK) for r in range(self.rank)]
        self.end("Exscan", received, sum(before) if before else None)

    def movements(self):
        comm, root = self.comm, self.size - 1
        at_root = self.rank == root
        comm.Bcast(received := self.send.copy(), root=root)
        self.end("Bcast", received, value(root, 0, self.size * BLOCK))
        comm.Allgather(self.send[:BLOCK], received := self.received())
        self.end("Allgather", received, self.blocks(0))
        comm.Gather(self.send[:BLOCK], received := self.received(), root=root)
        self.end("Gather", received, self.blocks(0) if at_root else None)
        comm.Scatter(self.send, (received := self.received())[:BLOCK], root=root)
        self.end("Scatter", received, value(root, self.rank * BLOCK, BLOCK))
        comm.Alltoall(self.send, received := self.received())
        self.end("Alltoall", received, self.blocks(self.rank * BLOCK))

    def vectors(self):
        """Vector calls: the block of rank r has BLOCK - 1 - r values, with gaps between blocks, in
        reverse order of ranks."""
        comm, root, rank, size = self.comm, self.size - 1, self.rank, self.size
        counts = [BLOCK - 1 - r for r in range(size)]
        displs = [(size - 1 - r) * BLOCK for r in range(size)]
        own = counts[rank]
        exact = self.received()
        for r in range(size):
            exact[displs[r] : displs[r] + counts[r]] = value(r, 0, counts[r])
        comm.Allgatherv(self.send[:own], [received := self.received(), counts, displs, MPI.FLOAT])
        self.end("Allgatherv", received, exact)
        comm.Gatherv(self.send[:own], [received := self.received(), counts, displs, MPI.FLOAT], root=root)
        self.end("Gatherv", received, exact if rank == root else None)
        comm.Scatterv([self.send, counts, displs, MPI.FLOAT], (received := self.received())[:own], root=root)
        self.end("Scatterv", received, value(root, displs[rank], own))
        packed = [[own] * size, [r * own for r in range(size)]]
        comm.Alltoallv([self.send, counts, displs, MPI.FLOAT], [received := self.received(), *packed, MPI.FLOAT])
        self.end("Alltoallv", received, numpy.concatenate([value(r, displs[rank], own) for r in range(size)]))

    def transpositions(self):
        """Turns rows of a matrix into columns, by subarrays, as mpi4py-fft does."""
        comm, rank, size, rows = self.comm, self.rank, self.size, 128
        columns = BLOCK // rows
        wide, high, part = (rows, size * columns), (size * rows, columns), (rows, columns)
        of_rows = [MPI.FLOAT.Create_subarray(wide, part, (0, r * columns)).Commit() for r in range(size)]
        of_columns = [MPI.FLOAT.Create_subarray(high, part, (r * rows, 0)).Commit() for r in range(size)]
        exact = numpy.concatenate([value(r, 0, size * BLOCK).reshape(wide)[:, rank * columns :][:, :columns] for r in range(size)])
        numbers = ([1] * size, [0] * size)
        comm.Alltoallw([self.send, numbers, of_rows], [received := self.received(), numbers, of_columns])
        self.end("Alltoallw", received, exact.ravel())
        request = comm.Ialltoallw([self.send, numbers, of_rows], [received := self.received(), numbers, of_columns])
        for one in of_rows + of_columns:
            one.Free()
        request.Wait()
        self.end("Ialltoallw", received, exact.ravel())
        self.started += 1

    def neighbours(self):
        """Exchanges blocks with both neighbours in the ring of ranks. In a ring of two ranks, Intel MPI's order of the
        blocks is not that of the standard."""
        if self.size == 2:
            return
        ring = self.comm.Create_cart([self.size], periods=[True])
        before, after = ring.Shift(0, 1)
        sent = self.send[: 2 * BLOCK] if self.size > 1 else numpy.resize(self.send, 2 * BLOCK)
        exact = numpy.concatenate([value(before, 0, BLOCK), value(after, 0, BLOCK)])
        ring.Neighbor_allgather(sent[:BLOCK], received := numpy.full(2 * BLOCK, -1, "f4"))
        self.end("Neighbor_allgather", received, exact)
        numbers = ([BLOCK, BLOCK], [0, BLOCK])
        ring.Neighbor_allgatherv(sent[:BLOCK], [received := numpy.full(2 * BLOCK, -1, "f4"), *numbers, MPI.FLOAT])
        self.end("Neighbor_allgatherv", received, exact)
        exact = numpy.concatenate([value(before, BLOCK, BLOCK), value(after, 0, BLOCK)])
        ring.Neighbor_alltoall(sent, received := numpy.full(2 * BLOCK, -1, "f4"))
        self.end("Neighbor_alltoall", received, exact)
        ring.Neighbor_alltoallv([sent, *numbers, MPI.FLOAT], [received := numpy.full(2 * BLOCK, -1, "f4"), *numbers, MPI.FLOAT])
        self.end("Neighbor_alltoallv", received, exact)
        numbers = ([BLOCK, BLOCK], [0, 4 * BLOCK])
        received = numpy.full(2 * BLOCK, -1, "f4")
        ring.Neighbor_alltoallw([sent, numbers, [MPI.FLOAT] * 2], [received, numbers, [MPI.FLOAT] * 2])
        self.end("Neighbor_alltoallw", received, exact)
        ring.Free()

    def nonblocking(self):
        """Makes nonblocking calls among messages and completes them together; the first rank waits in another
        call before that."""
        comm, rank, size, count = self.comm, self.rank, self.size, BLOCK - 1
        packed = [[count] * size, [r * BLOCK for r in range(size)]]
        sent, got = numpy.array([rank + 100.0]), numpy.array([-1.0])
        summed, gathered, spread = self.received(), self.received(), self.received()
        copied = self.send.copy()
        requests = [
            comm.Irecv(got, source=(rank - 1) % size),
            comm.Iallreduce(self.send, summed),
            comm.Iallgatherv(self.send[:count], [gathered, *packed, MPI.FLOAT]),
            comm.Isend(sent, dest=(rank + 1) % size),
            comm.Ialltoall(self.send, spread),
            comm.Ibcast(copied, root=size - 1),
        ]
        if rank == 0:
            comm.Barrier()
        MPI.Request.Waitall(requests)
        if rank != 0:
            comm.Barrier()
        assert got[0] == (rank - 1) % size + 100
        exact = self.received()
        for r in range(size):
            exact[r * BLOCK : r * BLOCK + count] = value(r, 0, count)
        self.end("Iallreduce", summed, sum(value(r, 0, size * BLOCK) for r in range(size)))
        self.end("Iallgatherv", gathered, exact)
        self.end("Ialltoall", spread, self.blocks(rank * BLOCK))
        self.end("Ibcast", copied, value(size - 1, 0, size * BLOCK))
        other = comm.Dup()
        request = other.Iallreduce(MPI.IN_PLACE, received := self.send.copy())
        while not request.Test():
            pass
        self.end("Iallreduce,first", received, sum(value(r, 0, size * BLOCK) for r in range(size)))
        other.Free()
        self.started += 5

    def messages(self):
        """Sends long messages around a ring, which are probed before they are received."""
        comm, before = self.comm, (self.rank - 1) % self.size
        exact, status = value(before, 0, self.size * BLOCK), MPI.Status()
        of_mpi_4 = ("Isendrecv",) if MPI.Get_version() >= (4, 0) else ()
        for way in ("Recv", "Probe", "Mprobe", "Improbe", *of_mpi_4):
            received = self.received()
            if way == "Isendrecv":
                comm.Isendrecv(self.send, (self.rank + 1) % self.size, 3, received, before, 3).Wait()
            else:
                sent = comm.Isend(self.send, (self.rank + 1) % self.size, 3)
                self.receive(way, received, before, status)
                sent.Wait()
            self.end(f"message,{way}", received, exact)
            self.made -= 1

    def receive(self, way, received, before, status):
        comm = self.comm
        if way == "Probe":
            comm.Probe(MPI.ANY_SOURCE, MPI.ANY_TAG, status)
            assert status.Get_count(MPI.FLOAT) == received.size and status.Get_source() == before
        if way in ("Recv", "Probe"):
            comm.Recv(received, before, 3, status)
        if way == "Mprobe":
            comm.Mprobe(before, 3, status).Recv(received)
        if way == "Improbe":
            while not (message := comm.Improbe(before, 3, status)):
                pass
            message.Irecv(received).Wait()
        assert status.Get_count(MPI.FLOAT) == received.size

    def all(self):
        self.reductions()
        self.movements()
        self.vectors()
        self.transpositions()
        self.neighbours()
        self.nonblocking()
        self.messages()
        return numpy.array([self.made - self.started, self.started])


def main(folder):
    world = MPI.COMM_WORLD
    with open(f"{folder}/{world.rank}.txt", "w") as out:
        made = Calls(world, out).all()
        part = world.Split(MPI.UNDEFINED if world.rank == 0 else 1, -world.rank)
        if part != MPI.COMM_NULL:
            made += Calls(part, out).all()
            part.Free()
        print("made", *made, file=out)


if __name__ == "__main__":
    main(sys.argv[1])
