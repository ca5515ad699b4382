"""Point-to-point messages."""

import ctypes
from typing import Any, Optional

from mpi4py import MPI

from ._arguments import Call
from ._calls import Calls
from ._layer import call, handle
from ._message import Buffers, Message
from ._request import Request


def _side(buffers: Buffers, buf: Any, writes: bool, peer: int, tag: int) -> tuple[list[int], Message]:
    one = buffers.message(None if peer == MPI.PROC_NULL else buf, writes)
    return [one.address, one.count, one.type, peer, tag], one


def _send(buffers: Buffers, buf: Any, dest: int, tag: int) -> Call:
    words, one = _side(buffers, buf, False, dest, tag)
    return Call("Send", [*words, buffers.handle], [one])


def _recv(buffers: Buffers, buf: Any, source: int, tag: int, *status: int) -> Call:
    words, one = _side(buffers, buf, True, source, tag)
    return Call("Recv", [*words, buffers.handle, *status], [one])


def _sendrecv(buffers: Buffers, out: tuple[Any, int, int], into: tuple[Any, int, int], status: int) -> Call:
    send, recv = _side(buffers, out[0], False, *out[1:]), _side(buffers, into[0], True, *into[1:])
    return Call("Sendrecv", [*send[0], *recv[0], buffers.handle, status], [send[1], recv[1]])


class Messages(Calls):
    """Point-to-point methods of `Comm`. Only these methods can receive their messages, not ``MPI.Comm.Recv`` or lower-case
    ``recv`` (docs/howto/exchange_messages.md)."""

    def Send(self, buf: Any, dest: int, tag: int = 0) -> None:
        """Sends a message; the receiver gets its values within the bound."""
        self._run(_send, buf, dest, tag)

    def Recv(self, buf: Any, source: int = MPI.ANY_SOURCE, tag: int = MPI.ANY_TAG, status: Optional[MPI.Status] = None) -> None:
        """Receives a message that `Send`, `Isend` or `Sendrecv` sent."""
        self._run(_recv, buf, source, tag, _address(status))

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
        self._run(_sendrecv, (sendbuf, dest, sendtag), (recvbuf, source, recvtag), _address(status))

    def Isend(self, buf: Any, dest: int, tag: int = 0) -> Request:
        """Nonblocking `Send`."""
        return self._start(_send, buf, dest, tag)

    def Irecv(self, buf: Any, source: int = MPI.ANY_SOURCE, tag: int = MPI.ANY_TAG) -> Request:
        """Nonblocking `Recv`."""
        return self._start(_recv, buf, source, tag)

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
