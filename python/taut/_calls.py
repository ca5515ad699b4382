"""Blocking, nonblocking and persistent execution of calls."""

from typing import Optional

from mpi4py import MPI

from ._arguments import Call
from ._layer import call, handle
from ._request import Request


class Calls:
    """Base class of `Comm`: runs, starts and initialises prepared calls."""

    _comm: MPI.Comm

    def _run(self, made: Call) -> None:
        if made.before is not None:
            made.before()
        call(made.name, *made.words)
        if made.after is not None:
            made.after()

    def _start(self, made: Call) -> Request:
        if made.before is not None:
            made.before()
        request = Request(made, persistent=False)
        name = f"I{made.name.lower()}"
        call(name, *made.words, request._at)
        return request._begun()

    def _init(self, made: Call, info: Optional[MPI.Info]) -> Request:
        request = Request(made, persistent=True)
        call(f"{made.name}_init", *made.words, handle(info if info is not None else MPI.INFO_NULL), request._at)
        return request
