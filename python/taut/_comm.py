"""Comm: a communicator of mpi4py whose calls are compressed."""

import ctypes
import re
from functools import lru_cache, wraps
from typing import Any, Optional, Union

from mpi4py import MPI

from ._arguments import AVG, Average
from ._core import check_policy
from ._device import stream_number
from ._errors import ArgumentError, DTypeError
from ._forms import Blocking, Nonblocking, Persistent
from ._layer import call, handle
from ._messages import Messages
from ._objects import Objects
from ._policy import Policy, current_policy, policy_text

__all__ = ["AVG", "Average", "Comm"]

# Members of TAUT_Stats after struct_size.
STATISTICS = (
    "calls compressed_calls value_bytes frame_bytes sent_bytes sent_messages plain_unsupported plain_small plain_no_gain "
    "plain_off failed_calls message_bytes carried_bytes call_ns encode_ns combine_ns decode_ns wait_ns agree_ns plain_ns "
    "plain_slower plain_sender"
).split()

OWN_SITE = re.compile(r" at _core\S*\.so\+0x[0-9a-f]+")  # in the text of explain: this package's, the same for all calls


# Methods of mpi4py's communicators that make a communicator of ranks of this one, besides duplicates.
CREATIONS = frozenset(
    "Create Create_cart Create_dist_graph Create_dist_graph_adjacent Create_graph Create_group Shrink Split Split_type Sub".split()
)


def _creation(name: str) -> Any:
    """Returns a method that makes a communicator as mpi4py does, with the policy of this one."""

    def create(self: "Comm", *arguments: Any, **named: Any) -> Union[MPI.Comm, "Comm"]:
        return self._child(getattr(self._comm, name)(*arguments, **named))

    return create


@lru_cache(maxsize=None)
def _class_of(cls: type, kind: type) -> type:
    """Returns the class of communicators that wrap one of a class of mpi4py: both are its bases."""
    creations = {name: wraps(getattr(kind, name))(_creation(name)) for name in CREATIONS if hasattr(kind, name)}
    return type(cls.__name__, (cls,) if kind is MPI.Intracomm else (cls, kind), {"__doc__": cls.__doc__, **creations})


def _intracommunicator(comm: Any) -> MPI.Intracomm:
    """Returns mpi4py's communicator of an argument; raises if there is none."""
    if isinstance(comm, Comm):
        return comm.wrapped
    if not isinstance(comm, MPI.Comm):
        raise DTypeError(f"taut.Comm wraps a communicator of mpi4py, such as MPI.COMM_WORLD, not {type(comm).__name__}")
    if comm == MPI.COMM_NULL or comm.Is_inter():
        raise ArgumentError("taut.Comm wraps intracommunicators; calls of others are not compressed: use mpi4py's")
    return comm


class Comm(Blocking, Nonblocking, Persistent, Messages, Objects, MPI.Intracomm):
    """A communicator of mpi4py whose calls are compressed within a bound.

    Creating a `Comm` is collective over the communicator if a policy is set. The policy is attached to the MPI communicator
    itself: two `Comm` of one communicator share it. ``Dup``, ``Split``, ``Create_cart`` and all other calls that make
    communicators pass it on: they return a `Comm`, but for intercommunicators, which are mpi4py's and not compressed.

    Parameters
    ----------
    comm : mpi4py.MPI.Comm
        Communicator to wrap. The object is of its class too, and has its other attributes (``rank``, ``Barrier``, ...).
    bound : str or Policy, optional
        Error bound, the same on every rank: ``"abs:1e-4"``, ``"rel:1e-3"``, ``"lossless"``, ... with options after commas.
        Default: the surrounding `policy`; if there is none, the communicator's policy is not changed. A communicator that
        has another policy is refused, because others may rely on its bound.
    **options
        More options by name, as for `Policy`.

    Raises
    ------
    PolicyError, RankMismatchError
        If the policy is invalid, or differs among the ranks. Errors of calls are ``MPI.Exception`` as well.
    ArgumentError
        If the communicator has another policy.

    Notes
    -----
    Buffer arguments are as in mpi4py: an array, ``[array, count, type]``, ``[array, (counts, displacements), type]``,
    ``MPI.IN_PLACE``. Arrays of NumPy, CuPy, PyTorch, JAX and others, on the host or on a GPU, are taken by the buffer
    protocol, DLPack or ``__cuda_array_interface__``. Without recvbuf a call returns a new array of the kind of sendbuf.
    float16 and bfloat16 (ml_dtypes) work on every MPI.
    Calls release the GIL; one thread at a time may use a communicator and its requests.

    Examples
    --------
    >>> import numpy as np, taut
    >>> from mpi4py import MPI
    >>> comm = taut.Comm(MPI.COMM_WORLD, "abs:1e-4")
    >>> mine = np.full(100_000, comm.rank, np.float32)
    >>> total = np.empty_like(mine)
    >>> comm.Allreduce(mine, total)                  # MPI.SUM; MPI.MIN, MPI.MAX and taut.AVG too
    >>> bool(abs(total[0] - sum(range(comm.size))) <= 1e-4)
    True
    """

    def __new__(cls, *given: Any, **named: Any) -> Any:
        if not given and not named:  # mpi4py makes room for a communicator
            return MPI.Intracomm.__new__(MPI.Intracomm)
        comm = _intracommunicator(given[0] if given else named.get("comm"))
        made = super().__new__(_class_of(cls, type(comm)), comm)
        made._comm = comm
        return made

    def __init__(self, comm: Union[MPI.Comm, "Comm"], bound: Union[str, Policy, None] = None, **options: object) -> None:
        chosen = current_policy() if bound is None and not options else policy_text(bound, options)
        held = self.Get_policy()
        if chosen is not None and held is not None and check_policy(str(chosen)) != str(held):
            raise ArgumentError(
                f"the communicator has the policy {str(held)!r}, on which others may rely: take a duplicate of your own, "
                f"mine = taut.Comm(comm.Dup()), and mine.Set_policy({str(chosen)!r}); or change the policy for all by "
                f"taut.Comm(comm).Set_policy({str(chosen)!r})"
            )
        if chosen is not None and held is None:
            self.Set_policy(chosen)

    @property
    def wrapped(self) -> MPI.Comm:
        """The wrapped communicator of mpi4py."""
        return self._comm

    def Set_policy(self, bound: Union[str, Policy, None]) -> None:
        """Sets the policy of the communicator, for all who use it; None: plain MPI. Collective; no request may be in flight."""
        chosen = policy_text(bound, {})
        text = ctypes.create_string_buffer(chosen.encode())
        call("Comm_set_policy", handle(self._comm), ctypes.addressof(text))

    def Get_policy(self) -> Optional[Policy]:
        """Returns the policy that is in force on the communicator, whoever has set it; None if there is none."""
        text = self._text("Comm_get_policy")
        return Policy._unread(text) if text else None

    def Set_stream(self, stream: Any) -> None:
        """Sets the CUDA stream on which later calls of this object work on arrays on a GPU: a stream of CuPy or PyTorch, the
        number of a cudaStream_t, or None: the legacy default stream. Local.

        A call sees the work that was enqueued on the stream before it, and that the arrays' library has enqueued elsewhere.
        The result is there when the call returns, or its request is complete.
        """
        self._stream = stream_number(stream)

    def Dup(self, info: Optional[MPI.Info] = None) -> "Comm":
        """Returns a duplicate with the same policy and stream. Collective."""
        return self._twin(self._comm.Dup(info) if info is not None else self._comm.Dup())

    Clone = Dup

    def Dup_with_info(self, info: MPI.Info) -> "Comm":
        """Returns a duplicate with hints, and with the same policy and stream. Collective."""
        return self._twin(self._comm.Dup_with_info(info))

    def Idup(self, info: Optional[MPI.Info] = None) -> tuple["Comm", MPI.Request]:
        """Starts to make a duplicate with the same policy and stream. Returns it, and the request. Collective."""
        made, request = self._comm.Idup(info) if info is not None else self._comm.Idup()
        return self._twin(made), request

    def Idup_with_info(self, info: MPI.Info) -> tuple["Comm", MPI.Request]:
        """Does the same with hints."""
        return self.Idup(info)

    def _twin(self, comm: MPI.Comm) -> "Comm":
        """Wraps a communicator that was made of this one. Sets no policy."""
        twin: Comm = Comm.__new__(Comm, comm)
        twin._stream = self._stream
        return twin

    def _child(self, made: MPI.Comm) -> Union[MPI.Comm, "Comm"]:
        """Returns a communicator that was made of this one's ranks, with the same policy."""
        if made == MPI.COMM_NULL or made.Is_inter():
            return made
        child = self._twin(made)
        policy = self.Get_policy()
        if policy is not None:
            child.Set_policy(policy)
        return child

    def stats(self) -> dict[str, int]:
        """Returns statistics of this rank's calls under all policies of the communicator: the members of ``TAUT_Stats``
        (taut.h).

        ``message_bytes``, ``value_bytes``, ``frame_bytes``, ``sent_bytes`` and the like are in bytes, ``..._ns`` in
        nanoseconds.
        """
        numbers = (ctypes.c_uint64 * (1 + len(STATISTICS)))(8 * (1 + len(STATISTICS)))
        call("Comm_get_stats", handle(self._comm), ctypes.addressof(numbers))
        return dict(zip(STATISTICS, numbers[1:]))

    def explain(self) -> str:
        """Returns the statistics in words: the decision for each kind of call, its reason, and the times (docs/observe.md).
        The policy in force comes first, then earlier ones. A last line tells what the lower-case calls of this object sent."""
        text = OWN_SITE.sub("", self._text("Comm_explain"))
        arrays, values, packed = self._objects
        return text + (f"objects: {arrays} arrays, {values} bytes became {packed}\n" if arrays else "")

    def _text(self, name: str) -> str:
        """Returns the text that a function writes about the communicator."""
        needed = ctypes.c_size_t(0)
        call(name, handle(self._comm), 0, 0, ctypes.addressof(needed))
        text = ctypes.create_string_buffer(max(needed.value, 1))
        call(name, handle(self._comm), ctypes.addressof(text), len(text), 0)
        return text.value.decode(errors="replace")

    def Free(self) -> None:
        """Frees the communicator, and with it the wrapped one. Collective."""
        self._comm.Free()
        self._ended()

    free = Free

    def Disconnect(self) -> None:
        """Frees the communicator once its messages are complete. Collective."""
        self._comm.Disconnect()
        self._ended()

    def _ended(self) -> None:
        ctypes.memmove(MPI._addressof(self), MPI._addressof(MPI.COMM_NULL), MPI._sizeof(MPI.Comm))

    def __getattr__(self, name: str) -> Any:
        if name == "_comm":  # not set yet
            raise AttributeError(name)
        return getattr(self._comm, name)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *dir(self._comm)})

    def __eq__(self, other: object) -> bool:
        return self._comm == (other._comm if isinstance(other, Comm) else other)

    def __hash__(self) -> int:
        return hash(handle(self._comm))

    def __bool__(self) -> bool:
        return bool(self._comm)

    def __repr__(self) -> str:
        name = f"rank {self._comm.Get_rank()} of {self._comm.Get_size()}" if self._comm else "null"
        return f"<taut.Comm: {name}, {(self.Get_policy() if self._comm else None) or 'no policy'}>"
