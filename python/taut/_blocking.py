"""The blocking collective calls."""

from typing import Any

from . import _arguments as arguments
from ._calls import Calls


class Blocking(Calls):
    """Messages are given as to mpi4py; what a bound promises after each call: docs/configuration.md."""

    def Allreduce(self, sendbuf: Any, recvbuf: Any, op: Any = None) -> None:
        """Sum, minimum, maximum or mean over the ranks, on every rank."""
        self._run(arguments.allreduce(self._comm, sendbuf, recvbuf, op))

    def Reduce(self, sendbuf: Any, recvbuf: Any, op: Any = None, root: int = 0) -> None:
        """The same at the root alone."""
        self._run(arguments.reduce(self._comm, sendbuf, recvbuf, op, root))

    def Reduce_scatter_block(self, sendbuf: Any, recvbuf: Any, op: Any = None) -> None:
        """The same reduction; rank r gets block r of it."""
        self._run(arguments.reduce_scatter_block(self._comm, sendbuf, recvbuf, op))

    def Reduce_scatter(self, sendbuf: Any, recvbuf: Any, recvcounts: Any = None, op: Any = None) -> None:
        """The same with blocks of any size."""
        self._run(arguments.reduce_scatter(self._comm, sendbuf, recvbuf, recvcounts, op))

    def Bcast(self, buf: Any, root: int = 0) -> None:
        """The root's values on every rank, as decoded at the root too."""
        self._run(arguments.bcast(self._comm, buf, root))

    def Allgather(self, sendbuf: Any, recvbuf: Any) -> None:
        """Every rank's block on every rank."""
        self._run(arguments.allgather(self._comm, sendbuf, recvbuf))

    def Allgatherv(self, sendbuf: Any, recvbuf: Any) -> None:
        """The same with blocks of any size."""
        self._run(arguments.allgatherv(self._comm, sendbuf, recvbuf))

    def Alltoall(self, sendbuf: Any, recvbuf: Any) -> None:
        """Block r to rank r, from every rank."""
        self._run(arguments.alltoall(self._comm, sendbuf, recvbuf))

    def Alltoallv(self, sendbuf: Any, recvbuf: Any) -> None:
        """The same with blocks of any size."""
        self._run(arguments.alltoallv(self._comm, sendbuf, recvbuf))

    def Gather(self, sendbuf: Any, recvbuf: Any, root: int = 0) -> None:
        """Every rank's block at the root."""
        self._run(arguments.gather(self._comm, sendbuf, recvbuf, root))

    def Gatherv(self, sendbuf: Any, recvbuf: Any, root: int = 0) -> None:
        """The same with blocks of any size."""
        self._run(arguments.gatherv(self._comm, sendbuf, recvbuf, root))

    def Scatter(self, sendbuf: Any, recvbuf: Any, root: int = 0) -> None:
        """Block r of the root's array to rank r."""
        self._run(arguments.scatter(self._comm, sendbuf, recvbuf, root))

    def Scatterv(self, sendbuf: Any, recvbuf: Any, root: int = 0) -> None:
        """The same with blocks of any size."""
        self._run(arguments.scatterv(self._comm, sendbuf, recvbuf, root))
