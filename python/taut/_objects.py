"""Lower-case calls: Python objects whose arrays travel as compressed bytes."""

import operator
import pickle
from collections.abc import Iterable
from typing import Any, Callable, Optional, Union

import numpy as np
from mpi4py import MPI

from ._arrays import address_of
from ._calls import Calls
from ._codec import LEAST_RATIO, decompress, pack, sample_compresses
from ._core import move_coding
from ._dtypes import number_of

PLAIN = frozenset((int, float, complex, bool, str, bytes, type(None)))  # types of objects without arrays
SHORT = 32  # elements of a container that is searched for arrays before it is pickled
CODED = frozenset("e f d Zf Zd b B h H i I l L q Q".split())  # formats of buffers whose values have a type in frames
SUMMED = (np.dtype(np.float32), np.dtype(np.float64), np.dtype(np.complex64), np.dtype(np.complex128))

Op = Union[MPI.Op, Callable[[Any, Any], Any]]


class _Packed:
    """A pickled object, as which mpi4py sends it. Every receiver's pickle makes the object of it, with or without `Comm`."""

    def __init__(self, data: bytes, arrays: list[tuple[bytes, bool]]) -> None:
        self.data, self.arrays = data, arrays

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return (unpack, (self.data, self.arrays)) if self.arrays else (pickle.loads, (self.data,))


def unpack(data: bytes, arrays: list[tuple[bytes, bool]]) -> Any:
    """Returns an object from its pickle and from its arrays: their compressed bytes, and true if an array is read-only."""
    buffers = []
    for packed, read_only in arrays:
        memory = pickle.PickleBuffer(decompress(packed)).raw()
        buffers.append(memory.toreadonly() if read_only else memory)
    return pickle.loads(data, buffers=buffers)


class _Packer:
    """Pickles an object; its arrays are compressed under a policy where that pays."""

    def __init__(self, policy: str) -> None:
        self.policy = policy
        self.arrays: list[tuple[bytes, bool]] = []
        self.value_bytes = 0

    def pickled(self, obj: Any) -> bytes:
        return pickle.dumps(obj, protocol=5, buffer_callback=self._stays_inside)

    def _stays_inside(self, buffer: pickle.PickleBuffer) -> bool:
        """Returns true if the pickle is to hold the buffer as it is."""
        memory = memoryview(buffer)
        packed = self._compressed(memory)
        if packed is None:
            return True
        self.arrays.append((packed, memory.readonly))
        self.value_bytes += memory.nbytes
        return False

    def _compressed(self, memory: memoryview) -> Optional[bytes]:
        if memory.nbytes == 0 or memory.format not in CODED or not memory.contiguous:
            return None
        array = np.asarray(memory)
        number = number_of(array.dtype)
        coding = move_coding(self.policy, address_of(array), array.size, number) if number is not None else ""
        if not coding:
            return None
        if "when=always" in self.policy or "codec=" in self.policy:
            return pack(array, coding)[0]
        if not sample_compresses(array, coding):
            return None
        packed = pack(array, coding)[0]
        return packed if len(packed) * LEAST_RATIO <= array.nbytes else None


class _Summand:
    """Description of an array that a rank gives to allreduce. Equal descriptions add up to the same description: the ranks
    then know that all of them have such an array."""

    __array_ufunc__ = None  # arrays of other ranks leave the addition to this class

    def __init__(self, about: Any) -> None:
        self.about = about  # None: the ranks gave different things

    def __add__(self, other: object) -> "_Summand":
        return self if isinstance(other, _Summand) and self.about == other.about else _Summand(None)

    __radd__ = __add__


def _without_arrays(obj: Any, depth: int = 3) -> bool:
    """Returns true if an object is seen at once to hold no array."""
    kind = type(obj)
    if kind in PLAIN:
        return True
    if depth == 0 or kind not in (dict, list, tuple) or len(obj) > SHORT:
        return False
    return all(_without_arrays(element, depth - 1) for element in (obj.values() if kind is dict else obj))


class Objects(Calls):
    """Lower-case methods of `Comm` that send. Arrays of 64 KiB or more (``min_bytes`` of the policy) inside the objects are
    compressed; everything else travels as mpi4py sends it. Any receiver will do: ``recv``, ``irecv``, ``mprobe``, and
    communicators of mpi4py, in whose Python environment Taut is installed."""

    Allreduce: Callable[..., Any]
    _objects = (0, 0, 0)  # arrays, bytes of their values, and their compressed bytes

    def _packed(self, obj: Any) -> Any:
        """Returns what mpi4py is to send for an object."""
        if _without_arrays(obj):
            return obj
        policy = self.Get_policy()
        if policy is None or str(policy) == "off":
            return obj
        packer = _Packer(str(policy))
        try:
            data = packer.pickled(obj)
        except (pickle.PicklingError, TypeError, AttributeError):
            return obj  # which the pickle that the program gave to mpi4py may know, and mpi4py else refuses
        if packer.arrays:
            sums = len(packer.arrays), packer.value_bytes, sum(len(packed) for packed, _ in packer.arrays)
            self._objects = tuple(map(operator.add, self._objects, sums))
        return _Packed(data, packer.arrays)

    def _each_packed(self, objects: Optional[Iterable[Any]]) -> Optional[list[Any]]:
        return None if objects is None else [self._packed(obj) for obj in objects]

    def send(self, obj: Any, dest: int, tag: int = 0) -> None:
        """Sends an object."""
        self._comm.send(self._packed(obj), dest, tag)

    def ssend(self, obj: Any, dest: int, tag: int = 0) -> None:
        """Sends an object in synchronous mode."""
        self._comm.ssend(self._packed(obj), dest, tag)

    def bsend(self, obj: Any, dest: int, tag: int = 0) -> None:
        """Sends an object in buffered mode."""
        self._comm.bsend(self._packed(obj), dest, tag)

    def isend(self, obj: Any, dest: int, tag: int = 0) -> MPI.Request:
        """Nonblocking `send`; the request is mpi4py's."""
        return self._comm.isend(self._packed(obj), dest, tag)

    def issend(self, obj: Any, dest: int, tag: int = 0) -> MPI.Request:
        """Nonblocking `ssend`."""
        return self._comm.issend(self._packed(obj), dest, tag)

    def ibsend(self, obj: Any, dest: int, tag: int = 0) -> MPI.Request:
        """Nonblocking `bsend`."""
        return self._comm.ibsend(self._packed(obj), dest, tag)

    def sendrecv(
        self,
        sendobj: Any,
        dest: int,
        sendtag: int = 0,
        recvbuf: Any = None,
        source: int = MPI.ANY_SOURCE,
        recvtag: int = MPI.ANY_TAG,
        status: Optional[MPI.Status] = None,
    ) -> Any:
        """Sends an object, and receives another one."""
        return self._comm.sendrecv(self._packed(sendobj), dest, sendtag, recvbuf, source, recvtag, status)

    def bcast(self, obj: Any, root: int = 0) -> Any:
        """Returns the root's object on every rank, with the same bits, the root's included."""
        return self._comm.bcast(obj if obj is None or self._comm.Get_rank() != root else self._packed(obj), root)

    def gather(self, sendobj: Any, root: int = 0) -> Optional[list[Any]]:
        """Returns every rank's object at the root."""
        return self._comm.gather(self._packed(sendobj), root)

    def scatter(self, sendobj: Optional[Iterable[Any]], root: int = 0) -> Any:
        """Returns one of the root's objects on each rank."""
        return self._comm.scatter(self._each_packed(sendobj) if self._comm.Get_rank() == root else sendobj, root)

    def allgather(self, sendobj: Any) -> list[Any]:
        """Returns every rank's object on every rank."""
        return self._comm.allgather(self._packed(sendobj))

    def alltoall(self, sendobj: Iterable[Any]) -> list[Any]:
        """Sends an object to each rank."""
        return self._comm.alltoall(self._each_packed(sendobj))

    def neighbor_allgather(self, sendobj: Any) -> list[Any]:
        """Returns the objects of the neighbours in a topology."""
        return self._comm.neighbor_allgather(self._packed(sendobj))

    def neighbor_alltoall(self, sendobj: Iterable[Any]) -> list[Any]:
        """Sends an object to each neighbour in a topology."""
        return self._comm.neighbor_alltoall(self._each_packed(sendobj))

    def allreduce(self, sendobj: Any, op: Op = MPI.SUM) -> Any:
        """Reduces objects. Arrays of floats of one shape and type are summed by `Allreduce`, and so within the bound."""
        array = None if type(sendobj) is not np.ndarray or op != MPI.SUM else self._summand(sendobj)
        if array is None:
            result = self._comm.allreduce(sendobj, op)
        else:
            about = (array.shape, array.dtype.str, array.flags.c_contiguous)
            result = self._comm.allreduce(_Summand(about), op)
        if type(result) is not _Summand:
            return result
        if result.about is None:
            return self._comm.allreduce(sendobj, op)
        total = np.empty_like(array)
        self.Allreduce(array, total)
        return total

    def _summand(self, sendobj: np.ndarray) -> Optional[np.ndarray]:
        """Returns the array, contiguous, if Allreduce is to sum it; else None."""
        if sendobj.ndim == 0 or sendobj.dtype not in SUMMED or self._comm.Get_size() == 1:
            return None
        policy = self.Get_policy()
        if policy is None or not move_coding(str(policy), address_of(sendobj), sendobj.size, number_of(sendobj.dtype) or 0):
            return None
        return sendobj if sendobj.flags.forc else np.ascontiguousarray(sendobj)
