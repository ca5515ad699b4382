"""Point-to-point messages."""

import ctypes
from typing import Any, Optional

from mpi4py import MPI

from ._arguments import Call
from ._calls import Calls
from ._layer import call, handle
from ._message import message
from ._request import Request


class Messages(Calls):
    """Point-to-point methods of `Comm`. Only these methods can receive their messages, not ``MPI.Comm.Recv`` or lower-case
    ``recv`` (docs/howto/exchange_messages.md)."""

    def _side(self, buf: Any, writes: bool, peer: int, tag: int) -> tuple[list[int], Any]:
        one = message(None if peer == MPI.PROC_NULL else buf, writes)
        return [one.address, one.count, one.type, peer, tag], one

    def Send(self, buf: Any, dest: int, tag: int = 0) -> None:
        """Sends a message; the receiver gets its values within the bound."""
        words, _ = self._side(buf, False, dest, tag)
        call("Send", *words, handle(self._comm))

    def Recv(self, buf: Any, source: int = MPI.ANY_SOURCE, tag: int = MPI.ANY_TAG, status: Optional[MPI.Status] = None) -> None:
        """Receives a message that `Send`, `Isend` or `Sendrecv` sent."""
        words, _ = self._side(buf, True, source, tag)
        call("Recv", *words, handle(self._comm), _address(status))

    def Sendrecv(
        self,
        sendbuf: Any,
        dest: int,
        sendtag: int = 0,
        recvbuf: Any = None,
        source: int = MPI.ANY_SOURCE,
        recvtag: int = MPI.ANY_TAG,
        status: Optional[MPI.Status] = None,
    ) -> None:
        """Sends and receives a message at the same time."""
        send, _ = self._side(sendbuf, False, dest, sendtag)
        recv, _ = self._side(recvbuf, True, source, recvtag)
        call("Sendrecv", *send, *recv, handle(self._comm), _address(status))

    def Isend(self, buf: Any, dest: int, tag: int = 0) -> Request:
        """Nonblocking `Send`."""
        words, one = self._side(buf, False, dest, tag)
        return self._start(Call("Send", [*words, handle(self._comm)], [one]))

    def Irecv(self, buf: Any, source: int = MPI.ANY_SOURCE, tag: int = MPI.ANY_TAG) -> Request:
        """Nonblocking `Recv`."""
        words, one = self._side(buf, True, source, tag)
        return self._start(Call("Recv", [*words, handle(self._comm)], [one]))

    def Probe(self, source: int = MPI.ANY_SOURCE, tag: int = MPI.ANY_TAG, status: Optional[MPI.Status] = None) -> bool:
        """Waits for a message, which the next matching receive gets; returns True."""
        call("Probe", source, tag, handle(self._comm), _address(status))
        return True

    def Iprobe(self, source: int = MPI.ANY_SOURCE, tag: int = MPI.ANY_TAG, status: Optional[MPI.Status] = None) -> bool:
        """Returns True if a message has arrived, which the next matching receive gets."""
        flag = ctypes.c_int(0)
        call("Iprobe", source, tag, handle(self._comm), ctypes.addressof(flag), _address(status))
        return bool(flag.value)


def _address(status: Optional[MPI.Status]) -> int:
    return MPI._addressof(status if status is not None else _unread)


_unread = MPI.Status()  # never read
