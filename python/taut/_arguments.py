"""The arguments of each collective call: converts the arguments of mpi4py's methods to the arguments of the C functions.

The C functions TAUT_X, TAUT_IX and TAUT_X_init begin with the same arguments, which are made here. generate_forms.py gives
the docstrings of these functions to the methods of `Comm`.
"""

from dataclasses import dataclass, field
from typing import Any, Callable, Optional

import numpy as np
from mpi4py import MPI

from . import _half
from ._arrays import address_of
from ._errors import ArgumentError
from ._layer import average, handle
from ._message import IN_PLACE, NOTHING, Buffers, Message, type_name
from ._new import Shape, block_of, empty, shape_of


class Average:
    """The operator of the mean over the ranks, for reductions of `Comm`; see `AVG`."""

    def __repr__(self) -> str:
        return "taut.AVG"


AVG = Average()


@dataclass
class Call:
    """A prepared call: its name without prefix, and the machine words of its arguments."""

    name: str
    words: list[int]
    keeps: list[Any] = field(default_factory=list)  # memory that the arguments refer to
    before: Optional[Callable[[], None]] = None  # run at each start
    after: Optional[Callable[[], None]] = None  # run once the call is complete
    result: Any = None  # the new array that receives, if the caller gave none
    buffers: Optional[Buffers] = None  # where the arguments come from


def operator(op: Any) -> int:
    if op is None:
        return handle(MPI.SUM)
    return average() if op is AVG else handle(op)


def _same_count(send: Message, recv: Message) -> Message:
    """Returns the side that gives count and type of a reduction; raises if the other side differs."""
    if send is IN_PLACE or send is NOTHING:
        return recv
    if recv is not NOTHING and (send.count, send.type) != (recv.count, recv.type):
        sides = [f"{side.count} elements of {type_name(side.type)}" for side in (send, recv)]
        raise ArgumentError(f"the arrays differ: {sides[0]} to send, {sides[1]} to receive; convert one of them")
    return send


def _same(shape: Shape) -> Shape:
    return shape


def _received(sendbuf: Any, recvbuf: Any, shape: Callable[[Shape], Shape] = _same, blocks: int = 1) -> tuple[Any, Any]:
    """Returns the array that receives `blocks` blocks, and the same again if it is new. `shape` gives the shape of a new one."""
    if recvbuf is not None or blocks == 0:
        return recvbuf, None
    made = empty(sendbuf, shape(shape_of(sendbuf)))
    return made, made


def _given(recvbuf: Any, blocks: int = 1) -> Any:
    if recvbuf is None and blocks > 0:
        raise ArgumentError("recvbuf is missing: this call does not make it, because only the caller knows all counts")
    return recvbuf


def _source(send: Message, recv: Message) -> int:
    """Returns the address that a reduction gets as sendbuf: MPI.IN_PLACE if both buffers are the same memory, as in mpi4py."""
    same = send.address == recv.address and send.count > 0 and recv is not NOTHING
    return IN_PLACE.address if same else send.address


def _reduction(name: str, buffers: Buffers, sendbuf: Any, recvbuf: Any, op: Any) -> Call:
    recvbuf, made = _received(sendbuf, recvbuf)
    half = _half.stage(sendbuf, recvbuf)
    send, recv = buffers.message(half.send, False), buffers.message(half.recv, made is None)
    what = _same_count(send, recv)
    words = [_source(send, recv), recv.address, what.count, what.type, operator(op), buffers.handle]
    return Call(name, words, [send, recv, half], half.before, half.after, made)


def allreduce(buffers: Buffers, sendbuf: Any, recvbuf: Any, op: Any) -> Call:
    """Computes the sum, minimum, maximum or mean over the ranks, on every rank."""
    return _reduction("Allreduce", buffers, sendbuf, recvbuf, op)


def scan(buffers: Buffers, sendbuf: Any, recvbuf: Any, op: Any) -> Call:
    """Computes the sum, minimum or maximum over the ranks up to this one."""
    return _reduction("Scan", buffers, sendbuf, recvbuf, op)


def exscan(buffers: Buffers, sendbuf: Any, recvbuf: Any, op: Any) -> Call:
    """Computes the sum, minimum or maximum over the ranks before this one; rank 0 receives nothing."""
    call = _reduction("Exscan", buffers, sendbuf, recvbuf, op)
    if buffers.rank == 0:
        call.after = call.result = None
    return call


def reduce(buffers: Buffers, sendbuf: Any, recvbuf: Any, op: Any, root: int) -> Call:
    """Computes the sum, minimum, maximum or mean over the ranks, at the root."""
    recvbuf, made = _received(sendbuf, recvbuf) if buffers.rank == root else (None, None)
    half = _half.stage(sendbuf, recvbuf)
    send, recv = buffers.message(half.send, False), buffers.message(half.recv, made is None)
    what = _same_count(send, recv)
    source = _source(send, recv) if buffers.rank == root else send.address
    words = [source, recv.address, what.count, what.type, operator(op), root, buffers.handle]
    return Call("Reduce", words, [send, recv, half], half.before, half.after, made)


def reduce_scatter_block(buffers: Buffers, sendbuf: Any, recvbuf: Any, op: Any) -> Call:
    """Computes the sum, minimum, maximum or mean over the ranks; rank r gets block r of the result."""
    ranks = buffers.ranks
    recvbuf, made = _received(sendbuf, recvbuf, lambda shape: block_of(shape, ranks))
    half = _half.stage(sendbuf, recvbuf)
    send = buffers.message(half.send, False, ranks)
    recv = buffers.message(half.recv, made is None, ranks if send is IN_PLACE else 1)
    what = _same_count(send, recv)
    words = [_source(send, recv), recv.address, what.count, what.type, operator(op), buffers.handle]
    return Call("Reduce_scatter_block", words, [send, recv, half], half.before, half.after, made)


def reduce_scatter(buffers: Buffers, sendbuf: Any, recvbuf: Any, recvcounts: Any, op: Any) -> Call:
    """`Reduce_scatter_block` with blocks of any size."""
    half, ranks = _half.stage(sendbuf, _given(recvbuf)), buffers.ranks
    send, recv = buffers.message(half.send, False), buffers.message(half.recv, True)
    if recvcounts is None:
        whole_in_place = send is IN_PLACE or (_source(send, recv) == IN_PLACE.address and send.count == recv.count)
        mine = recv.count // ranks if whole_in_place else recv.count
        recvcounts = buffers.comm.allgather(mine)
    counts = np.ascontiguousarray(np.broadcast_to(np.asarray(recvcounts, np.int64), ranks))
    whole = recv if send is IN_PLACE else send
    if counts.sum() != whole.count:
        raise ArgumentError(f"the counts add up to {counts.sum()}, the array has {whole.count} elements")
    words = [_source(send, recv), recv.address, address_of(counts), whole.type, operator(op), buffers.handle]
    return Call("Reduce_scatter", words, [send, recv, half, counts], half.before, half.after)


def bcast(buffers: Buffers, buf: Any, root: int) -> Call:
    """Broadcasts the root's values to every rank; the root's array, which may be read-only, stays unless ``same_bits=on``."""
    both = buffers.message(buf, buffers.rank != root or buffers.same_bits)
    return Call("Bcast", [both.address, both.count, both.type, root, buffers.handle], [both])


def _pair(name: str, send: Message, recv: Message, *more: int, made: Any = None) -> Call:
    if (send.address, send.type) == (recv.address, recv.type) and send.count > 0 and recv.count > 0:
        raise ArgumentError(
            "sendbuf and recvbuf are the same memory: pass MPI.IN_PLACE as mpi4py has it for this call, or two arrays"
        )
    words = [send.address, send.count, send.type, recv.address, recv.count, recv.type, *more]
    return Call(name, words, [send, recv], result=made)


def allgather(buffers: Buffers, sendbuf: Any, recvbuf: Any) -> Call:
    """Collects the blocks of all ranks on every rank."""
    recvbuf, made = _received(sendbuf, recvbuf, lambda shape: (buffers.ranks, *shape))
    send, recv = buffers.message(sendbuf, False), buffers.message(recvbuf, made is None, buffers.ranks)
    return _pair("Allgather", send, recv, buffers.handle, made=made)


def alltoall(buffers: Buffers, sendbuf: Any, recvbuf: Any) -> Call:
    """Sends block r of every rank to rank r."""
    recvbuf, made = _received(sendbuf, recvbuf)
    send, recv = buffers.message(sendbuf, False, buffers.ranks), buffers.message(recvbuf, made is None, buffers.ranks)
    return _pair("Alltoall", send, recv, buffers.handle, made=made)


def gather(buffers: Buffers, sendbuf: Any, recvbuf: Any, root: int) -> Call:
    """Collects the blocks of all ranks at the root."""
    recv, made = NOTHING, None
    if buffers.rank == root:
        recvbuf, made = _received(sendbuf, recvbuf, lambda shape: (buffers.ranks, *shape))
        recv = buffers.message(recvbuf, made is None, buffers.ranks)
    return _pair("Gather", buffers.message(sendbuf, False), recv, root, buffers.handle, made=made)


def scatter(buffers: Buffers, sendbuf: Any, recvbuf: Any, root: int) -> Call:
    """Sends block r of the root's array to rank r."""
    send = buffers.message(sendbuf, False, buffers.ranks) if buffers.rank == root else NOTHING
    return _pair("Scatter", send, buffers.message(recvbuf, True), root, buffers.handle)


def allgatherv(buffers: Buffers, sendbuf: Any, recvbuf: Any) -> Call:
    """`Allgather` with blocks of any size."""
    send, recv = buffers.message(sendbuf, False), buffers.vector_message(_given(recvbuf), True, buffers.ranks)
    words = [send.address, send.count, send.type, recv.address, *recv.vector(), recv.type, buffers.handle]
    return Call("Allgatherv", words, [send, recv])


def gatherv(buffers: Buffers, sendbuf: Any, recvbuf: Any, root: int) -> Call:
    """`Gather` with blocks of any size."""
    recv = buffers.vector_message(_given(recvbuf), True, buffers.ranks) if buffers.rank == root else NOTHING
    send = buffers.message(sendbuf, False)
    words = [send.address, send.count, send.type, recv.address, *recv.vector(), recv.type, root, buffers.handle]
    return Call("Gatherv", words, [send, recv])


def scatterv(buffers: Buffers, sendbuf: Any, recvbuf: Any, root: int) -> Call:
    """`Scatter` with blocks of any size."""
    send = buffers.vector_message(sendbuf, False, buffers.ranks) if buffers.rank == root else NOTHING
    recv = buffers.message(recvbuf, True)
    words = [send.address, *send.vector(), send.type, recv.address, recv.count, recv.type, root, buffers.handle]
    return Call("Scatterv", words, [send, recv])


def alltoallv(buffers: Buffers, sendbuf: Any, recvbuf: Any) -> Call:
    """`Alltoall` with blocks of any size."""
    ranks = buffers.ranks
    send, recv = buffers.vector_message(sendbuf, False, ranks), buffers.vector_message(_given(recvbuf), True, ranks)
    words = [send.address, *send.vector(), send.type, recv.address, *recv.vector(), recv.type, buffers.handle]
    return Call("Alltoallv", words, [send, recv])


def alltoallw(buffers: Buffers, sendbuf: Any, recvbuf: Any) -> Call:
    """`Alltoallv` with a datatype for each block, and displacements in bytes."""
    ranks = buffers.ranks
    send, recv = buffers.typed_message(sendbuf, False, ranks), buffers.typed_message(_given(recvbuf), True, ranks)
    words = [send.address, *send.vector(), send.type, recv.address, *recv.vector(), recv.type, buffers.handle]
    return Call("Alltoallw", words, [send, recv])


def _degrees(comm: MPI.Comm) -> tuple[int, int]:
    """Returns the number of neighbours that the rank receives from and sends to."""
    if not isinstance(comm, MPI.Topocomm):
        raise ArgumentError("the communicator has no topology: create it with Create_cart, Create_graph or Create_dist_graph")
    return comm.indegree, comm.outdegree


def neighbor_allgather(buffers: Buffers, sendbuf: Any, recvbuf: Any) -> Call:
    """Collects one block from each neighbour in the communicator's topology."""
    sources, _ = _degrees(buffers.comm)
    recvbuf, made = _received(sendbuf, recvbuf, lambda shape: (sources, *shape), sources)
    send, recv = buffers.message(sendbuf, False), buffers.message(recvbuf, made is None, sources)
    return _pair("Neighbor_allgather", send, recv, buffers.handle, made=made)


def neighbor_allgatherv(buffers: Buffers, sendbuf: Any, recvbuf: Any) -> Call:
    """`Neighbor_allgather` with blocks of any size."""
    sources, _ = _degrees(buffers.comm)
    send, recv = buffers.message(sendbuf, False), buffers.vector_message(_given(recvbuf, sources), True, sources)
    words = [send.address, send.count, send.type, recv.address, *recv.vector(), recv.type, buffers.handle]
    return Call("Neighbor_allgatherv", words, [send, recv])


def neighbor_alltoall(buffers: Buffers, sendbuf: Any, recvbuf: Any) -> Call:
    """Sends one block to each neighbour in the communicator's topology."""
    sources, targets = _degrees(buffers.comm)
    recvbuf, made = _received(sendbuf, recvbuf, lambda shape: block_of(shape, targets, sources), sources)
    send, recv = buffers.message(sendbuf, False, targets), buffers.message(recvbuf, made is None, sources)
    return _pair("Neighbor_alltoall", send, recv, buffers.handle, made=made)


def neighbor_alltoallv(buffers: Buffers, sendbuf: Any, recvbuf: Any) -> Call:
    """`Neighbor_alltoall` with blocks of any size."""
    sources, targets = _degrees(buffers.comm)
    send, recv = buffers.vector_message(sendbuf, False, targets), buffers.vector_message(_given(recvbuf, sources), True, sources)
    words = [send.address, *send.vector(), send.type, recv.address, *recv.vector(), recv.type, buffers.handle]
    return Call("Neighbor_alltoallv", words, [send, recv])


def neighbor_alltoallw(buffers: Buffers, sendbuf: Any, recvbuf: Any) -> Call:
    """`Neighbor_alltoallv` with a datatype for each block, and displacements in bytes."""
    sources, targets = _degrees(buffers.comm)
    send, recv = buffers.typed_message(sendbuf, False, targets), buffers.typed_message(_given(recvbuf, sources), True, sources)
    words = [send.address, *send.vector(), send.type, recv.address, *recv.vector(), recv.type, buffers.handle]
    return Call("Neighbor_alltoallw", words, [send, recv])
