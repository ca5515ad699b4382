"""The nonblocking and the persistent collective calls."""

from typing import Any, Optional

from mpi4py import MPI

from . import _arguments as arguments
from ._calls import Calls
from ._request import Request


class Nonblocking(Calls):
    """As the blocking ones; they return a `Request`. Buffers are not touched until it is complete."""

    def Iallreduce(self, sendbuf: Any, recvbuf: Any, op: Any = None) -> Request:
        """Nonblocking `Allreduce`."""
        return self._start(arguments.allreduce(self._comm, sendbuf, recvbuf, op))

    def Ireduce(self, sendbuf: Any, recvbuf: Any, op: Any = None, root: int = 0) -> Request:
        """Nonblocking `Reduce`."""
        return self._start(arguments.reduce(self._comm, sendbuf, recvbuf, op, root))

    def Ireduce_scatter_block(self, sendbuf: Any, recvbuf: Any, op: Any = None) -> Request:
        """Nonblocking `Reduce_scatter_block`."""
        return self._start(arguments.reduce_scatter_block(self._comm, sendbuf, recvbuf, op))

    def Ireduce_scatter(self, sendbuf: Any, recvbuf: Any, recvcounts: Any = None, op: Any = None) -> Request:
        """Nonblocking `Reduce_scatter`."""
        return self._start(arguments.reduce_scatter(self._comm, sendbuf, recvbuf, recvcounts, op))

    def Ibcast(self, buf: Any, root: int = 0) -> Request:
        """Nonblocking `Bcast`."""
        return self._start(arguments.bcast(self._comm, buf, root))

    def Iallgather(self, sendbuf: Any, recvbuf: Any) -> Request:
        """Nonblocking `Allgather`."""
        return self._start(arguments.allgather(self._comm, sendbuf, recvbuf))

    def Iallgatherv(self, sendbuf: Any, recvbuf: Any) -> Request:
        """Nonblocking `Allgatherv`."""
        return self._start(arguments.allgatherv(self._comm, sendbuf, recvbuf))

    def Ialltoall(self, sendbuf: Any, recvbuf: Any) -> Request:
        """Nonblocking `Alltoall`."""
        return self._start(arguments.alltoall(self._comm, sendbuf, recvbuf))

    def Ialltoallv(self, sendbuf: Any, recvbuf: Any) -> Request:
        """Nonblocking `Alltoallv`."""
        return self._start(arguments.alltoallv(self._comm, sendbuf, recvbuf))

    def Igather(self, sendbuf: Any, recvbuf: Any, root: int = 0) -> Request:
        """Nonblocking `Gather`."""
        return self._start(arguments.gather(self._comm, sendbuf, recvbuf, root))

    def Igatherv(self, sendbuf: Any, recvbuf: Any, root: int = 0) -> Request:
        """Nonblocking `Gatherv`."""
        return self._start(arguments.gatherv(self._comm, sendbuf, recvbuf, root))

    def Iscatter(self, sendbuf: Any, recvbuf: Any, root: int = 0) -> Request:
        """Nonblocking `Scatter`."""
        return self._start(arguments.scatter(self._comm, sendbuf, recvbuf, root))

    def Iscatterv(self, sendbuf: Any, recvbuf: Any, root: int = 0) -> Request:
        """Nonblocking `Scatterv`."""
        return self._start(arguments.scatterv(self._comm, sendbuf, recvbuf, root))


class Persistent(Calls):
    """Arguments to be used again and again: `Request.Start` starts the call, its buffers are read anew each time."""

    def Allreduce_init(self, sendbuf: Any, recvbuf: Any, op: Any = None, info: Optional[MPI.Info] = None) -> Request:
        """Persistent `Allreduce`."""
        return self._init(arguments.allreduce(self._comm, sendbuf, recvbuf, op), info)

    def Reduce_init(self, sendbuf: Any, recvbuf: Any, op: Any = None, root: int = 0, info: Optional[MPI.Info] = None) -> Request:
        """Persistent `Reduce`."""
        return self._init(arguments.reduce(self._comm, sendbuf, recvbuf, op, root), info)

    def Reduce_scatter_block_init(self, sendbuf: Any, recvbuf: Any, op: Any = None, info: Optional[MPI.Info] = None) -> Request:
        """Persistent `Reduce_scatter_block`."""
        return self._init(arguments.reduce_scatter_block(self._comm, sendbuf, recvbuf, op), info)

    def Reduce_scatter_init(self, sendbuf: Any, recvbuf: Any, recvcounts: Any = None, op: Any = None, info: Optional[MPI.Info] = None) -> Request:
        """Persistent `Reduce_scatter`."""
        return self._init(arguments.reduce_scatter(self._comm, sendbuf, recvbuf, recvcounts, op), info)

    def Bcast_init(self, buf: Any, root: int = 0, info: Optional[MPI.Info] = None) -> Request:
        """Persistent `Bcast`."""
        return self._init(arguments.bcast(self._comm, buf, root), info)

    def Allgather_init(self, sendbuf: Any, recvbuf: Any, info: Optional[MPI.Info] = None) -> Request:
        """Persistent `Allgather`."""
        return self._init(arguments.allgather(self._comm, sendbuf, recvbuf), info)

    def Allgatherv_init(self, sendbuf: Any, recvbuf: Any, info: Optional[MPI.Info] = None) -> Request:
        """Persistent `Allgatherv`."""
        return self._init(arguments.allgatherv(self._comm, sendbuf, recvbuf), info)

    def Alltoall_init(self, sendbuf: Any, recvbuf: Any, info: Optional[MPI.Info] = None) -> Request:
        """Persistent `Alltoall`."""
        return self._init(arguments.alltoall(self._comm, sendbuf, recvbuf), info)

    def Alltoallv_init(self, sendbuf: Any, recvbuf: Any, info: Optional[MPI.Info] = None) -> Request:
        """Persistent `Alltoallv`."""
        return self._init(arguments.alltoallv(self._comm, sendbuf, recvbuf), info)

    def Gather_init(self, sendbuf: Any, recvbuf: Any, root: int = 0, info: Optional[MPI.Info] = None) -> Request:
        """Persistent `Gather`."""
        return self._init(arguments.gather(self._comm, sendbuf, recvbuf, root), info)

    def Gatherv_init(self, sendbuf: Any, recvbuf: Any, root: int = 0, info: Optional[MPI.Info] = None) -> Request:
        """Persistent `Gatherv`."""
        return self._init(arguments.gatherv(self._comm, sendbuf, recvbuf, root), info)

    def Scatter_init(self, sendbuf: Any, recvbuf: Any, root: int = 0, info: Optional[MPI.Info] = None) -> Request:
        """Persistent `Scatter`."""
        return self._init(arguments.scatter(self._comm, sendbuf, recvbuf, root), info)

    def Scatterv_init(self, sendbuf: Any, recvbuf: Any, root: int = 0, info: Optional[MPI.Info] = None) -> Request:
        """Persistent `Scatterv`."""
        return self._init(arguments.scatterv(self._comm, sendbuf, recvbuf, root), info)
