"""Blocking, nonblocking and persistent execution of calls."""

from typing import Any, Callable, Optional

from mpi4py import MPI

from ._arguments import Call
from ._device import LEGACY_STREAM
from ._errors import ArgumentError
from ._layer import call, handle
from ._message import Buffers
from ._policy import Policy
from ._request import Request


class Calls:
    """Base class of `Comm`: runs, starts and initialises calls, whose arguments a function of _arguments.py makes."""

    Get_policy: Callable[[], Optional[Policy]]
    _comm: MPI.Comm
    _stream: int = LEGACY_STREAM  # on which the calls work on arrays on a GPU

    def _made(self, make: Callable[..., Call], given: tuple[Any, ...]) -> Call:
        buffers = Buffers(self._comm, self._stream, self.Get_policy)
        made = make(buffers, *given)
        made.buffers = buffers
        if buffers.on_gpu:
            devices = {values.device for values in buffers.on_gpu} - {None}
            if len(devices) > 1:
                raise ArgumentError(f"the arrays are on several GPUs, {sorted(devices)}: copy them to one")
            call("Cuda_comm_set_stream", buffers.handle, self._stream)
        return made

    def _run(self, make: Callable[..., Call], *given: Any) -> Any:
        made = self._made(make, given)
        if made.before is not None:
            made.before()
        call(made.name, *made.words)
        if made.after is not None:
            made.after()
        return made.result

    def _start(self, make: Callable[..., Call], *given: Any) -> Request:
        made = self._made(make, given)
        if made.before is not None:
            made.before()
        request = Request(made, persistent=False)
        name = f"I{made.name.lower()}"
        call(name, *made.words, request._at)
        return request._begun()

    def _init(self, make: Callable[..., Call], given: tuple[Any, ...], info: Optional[MPI.Info]) -> Request:
        made = self._made(make, given)
        request = Request(made, persistent=True)
        call(f"{made.name}_init", *made.words, handle(info if info is not None else MPI.INFO_NULL), request._at)
        return request
