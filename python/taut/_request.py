"""Requests of nonblocking and persistent calls, which can be completed together with mpi4py's requests."""

import ctypes
from collections.abc import Sequence
from typing import Any, Optional, Union

from mpi4py import MPI

from ._arguments import Call
from ._device import stream_number
from ._errors import ArgumentError
from ._layer import call, fail, raw_call

_under_way: set["Request"] = set()  # requests in flight; keeps their memory alive even if the caller drops them


class Request:
    """A request of a nonblocking or persistent call.

    A request has the methods of ``MPI.Request`` and ``MPI.Prequest`` that complete, start and free. The static methods take
    requests of mpi4py too, mixed with these in any order. The calls progress only inside calls of this package, or in a
    thread, under ``TAUT_PROGRESS=1``.

    Notes
    -----
    The memory of the call is kept until the call is complete, even if the request is dropped.
    """

    def __init__(self, made: Call, persistent: bool) -> None:
        self._call = made
        self._persistent = persistent
        self._active = not persistent
        self._word = ctypes.c_uint64(0)  # the TAUT_Request

    @property
    def _at(self) -> int:
        return ctypes.addressof(self._word)

    def _begun(self) -> "Request":
        self._active = True
        _under_way.add(self)
        return self

    def _ended(self) -> None:
        self._active = False
        _under_way.discard(self)

    def _complete(self, code: int) -> None:
        self._ended()
        if code != 0:
            fail(code)
        if self._call.after is not None:
            self._call.after()

    def __bool__(self) -> bool:
        return self._word.value != 0

    @property
    def result(self) -> Any:
        """The new array that a call without recvbuf fills; None if the caller gave one. Valid once the call is complete."""
        return self._call.result

    def Start(self) -> None:
        """Starts a persistent call."""
        if self._call.buffers is not None:
            self._call.buffers.renew(self._call.buffers.stream)
        if self._call.before is not None:
            self._call.before()
        call("Start", self._at)
        self._begun()

    def Start_enqueue(self, stream: Any = None) -> None:
        """Starts a persistent collective call on a GPU in the order of a CUDA stream, as `Comm.Set_stream` takes it; waits for
        nothing. `Wait` or `Test` completes all starts. Rules: TAUT_Cuda_start_enqueue in taut.h."""
        number = stream_number(stream)
        if self._call.before is not None:
            raise ArgumentError("16-bit floats for which the MPI has no type are converted on the host: use Start")
        if self._call.buffers is not None:
            self._call.buffers.renew(number)
        call("Cuda_start_enqueue", self._at, number)
        self._begun()

    def Wait_enqueue(self, stream: Any = None) -> None:
        """Makes later work of a CUDA stream wait for the last `Start_enqueue`; the host does not wait."""
        call("Cuda_wait_enqueue", self._at, stream_number(stream))

    def Wait(self, status: Optional[MPI.Status] = None) -> bool:
        """Waits until the call is complete; returns True."""
        status = status if status is not None else MPI.Status()
        self._complete(raw_call("Wait", self._at, MPI._addressof(status))) if self._active else None
        return True

    def Test(self, status: Optional[MPI.Status] = None) -> bool:
        """Makes progress; returns True if the call is complete."""
        if not self._active:
            return True
        status = status if status is not None else MPI.Status()
        flag = ctypes.c_int(0)
        code = raw_call("Test", self._at, ctypes.addressof(flag), MPI._addressof(status))
        if flag.value or code != 0:
            self._complete(code)
        return bool(flag.value)

    def Free(self) -> None:
        """Frees the request; waits first for a call in flight."""
        try:
            call("Request_free", self._at)
        finally:
            self._ended()

    def wait(self, status: Optional[MPI.Status] = None) -> None:
        """`Wait`, in mpi4py's other spelling."""
        self.Wait(status)

    def test(self, status: Optional[MPI.Status] = None) -> tuple[bool, None]:
        """`Test`, in mpi4py's other spelling."""
        return self.Test(status), None

    @staticmethod
    def Waitall(requests: Sequence[Union["Request", MPI.Request]], statuses: Optional[list[MPI.Status]] = None) -> bool:
        """Waits until all requests are complete, then raises the first error; returns True."""
        pending, error = list(range(len(requests))), None
        one_kind = all(isinstance(request, Request) for request in requests)
        while pending:
            position = pending.pop(0)
            request, status = requests[position], _status_of(statuses, position)
            try:
                if not (request.Wait(*status) if one_kind else request.Test(*status)):
                    pending.append(position)
            except MPI.Exception as raised:
                error = error or raised
        if error is not None:
            raise error
        return True

    @staticmethod
    def Testall(requests: Sequence[Union["Request", MPI.Request]], statuses: Optional[list[MPI.Status]] = None) -> bool:
        """Makes progress; returns True if all requests are complete. Completes them one by one, unlike MPI's function."""
        return all([request.Test(*_status_of(statuses, position)) for position, request in enumerate(requests)])

    @staticmethod
    def Waitany(requests: Sequence[Union["Request", MPI.Request]], status: Optional[MPI.Status] = None) -> int:
        """Waits for one of the active requests; returns its position, or MPI.UNDEFINED if none is active."""
        active = [position for position, request in enumerate(requests) if _is_active(request)]
        while active:
            for position in active:
                if requests[position].Test(*([status] if status is not None else [])):
                    return position
        return MPI.UNDEFINED

    @staticmethod
    def Startall(requests: Sequence[Union["Request", MPI.Prequest]]) -> None:
        """Starts persistent requests in the order of the list."""
        for request in requests:
            request.Start()


def _status_of(statuses: Optional[list[MPI.Status]], position: int) -> list[MPI.Status]:
    if statuses is None:
        return []
    while len(statuses) <= position:
        statuses.append(MPI.Status())
    return [statuses[position]]


def _is_active(request: Any) -> bool:
    return request._active if isinstance(request, Request) else request != MPI.REQUEST_NULL
