"""Buffer arguments of mpi4py's upper-case methods: an array, or [array, counts, displacements, type]."""

import os
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Callable, Optional

import numpy as np
from mpi4py import MPI

from ._arrays import Values, address_of, as_array, check_writable
from ._core import rules_replace_root
from ._device import LEGACY_STREAM, device_values
from ._dtypes import BFLOAT16, dtype_of
from ._errors import ArgumentError, DTypeError
from ._layer import flavour, handle

BFLOAT16_OF_MPICH = 0x4C00024C  # MPIX_BFLOAT16 in mpi.h; no MPI but MPICH has one
_NAMED = {
    "float32": "FLOAT",
    "float64": "DOUBLE",
    "complex64": "C_FLOAT_COMPLEX",
    "complex128": "C_DOUBLE_COMPLEX",
    "float16": "FLOAT16_T",
    "bool": "C_BOOL",
    **{f"{u}int{bits}": f"{u.upper()}INT{bits}_T" for u in ("", "u") for bits in (8, 16, 32, 64)},
}


_HANDLE_BYTES = MPI._sizeof(MPI.Datatype)


@dataclass
class Message:
    """Buffer, count and type of one side of a call, as the C function takes them."""

    address: int
    count: int  # in elements; the count of one block if there are several
    type: int  # MPI handle
    counts: Optional[np.ndarray] = None  # for vector calls: one for each rank
    displs: Optional[np.ndarray] = None
    owner: Any = None  # keeps the memory alive; None if there is no buffer
    types: Optional[np.ndarray] = None  # of vector calls with a type for each block; `type` is its address

    def vector(self) -> tuple[int, int]:
        """Returns the addresses of counts and displacements; 0 if they do not matter."""
        if self.counts is None or self.displs is None:
            return 0, 0
        return address_of(self.counts), address_of(self.displs)


NOTHING = Message(0, 0, handle(MPI.BYTE))
IN_PLACE = Message(int(MPI.IN_PLACE), 0, handle(MPI.BYTE))


def bfloat16_type() -> Optional[MPI.Datatype]:
    """Returns MPICH's bfloat16 type; None if the MPI has none."""
    if flavour() != "mpich":
        return None
    try:
        found = MPI.Datatype.fromhandle(BFLOAT16_OF_MPICH)
        return found if found.Get_size() == 2 and "BFLOAT16" in found.Get_name() else None
    except MPI.Exception:
        return None


@lru_cache(maxsize=256)
def type_of_number(number: int) -> MPI.Datatype:
    """Returns the MPI type of a TAUT_Type."""
    if number == BFLOAT16:
        return bfloat16_type() or MPI.UINT16_T
    return type_of(dtype_of(number))


@lru_cache(maxsize=256)
def type_of(dtype: np.dtype) -> MPI.Datatype:
    """Returns the MPI type of a NumPy type."""
    if not dtype.isnative:
        raise DTypeError(f"values of type {dtype} are in foreign byte order; use array.astype(dtype.newbyteorder('='))")
    if dtype.name == "bfloat16":
        return bfloat16_type() or MPI.UINT16_T
    found = getattr(MPI, _NAMED.get(dtype.name, ""), None) or MPI._typedict.get(dtype.char)
    if found is None or found == MPI.DATATYPE_NULL:
        raise DTypeError(f"MPI has no type for values of type {dtype}; give [array, count, MPI.BYTE] or a type of yours")
    return found


def type_name(number: int) -> str:
    """Returns MPI's name of the datatype with this handle."""
    return MPI.Datatype.fromhandle(number).Get_name() or "a derived datatype"


def split(spec: Any) -> tuple[Any, Any, Any, Any]:
    """Returns (buffer, counts, displacements, type) of a buffer argument; None for a part that is not given."""
    if not isinstance(spec, (list, tuple)):
        return spec, None, None, None
    counts = displs = kind = None
    if len(spec) == 2:
        buffer, counts = spec
        if isinstance(counts, (MPI.Datatype, str)):
            counts, kind = None, counts
    elif len(spec) == 3:
        buffer, counts, kind = spec
    elif len(spec) == 4:
        buffer, counts, displs, kind = spec
    else:
        raise ArgumentError(f"a message is [array], [array, count, type] or the like, not {len(spec)} things")
    if isinstance(counts, tuple):
        counts, displs = counts
    return buffer, counts, displs, kind


@dataclass
class _Memory:
    """The memory of one buffer."""

    address: int
    type: MPI.Datatype
    room: int  # in elements of that type
    owner: Any = None  # keeps the memory alive; None if there is no buffer


def _on_host(buffer: Any, writes: bool) -> np.ndarray:
    array = as_array(buffer)
    if not (array.flags.c_contiguous or array.flags.f_contiguous):
        raise ArgumentError("the array has gaps or steps: pass numpy.ascontiguousarray(...) of it")
    if writes:
        check_writable(buffer)
        check_writable(array)
    return array


@lru_cache(maxsize=None)
def _rules_replace_root(line: Optional[str], file: Optional[str]) -> bool:
    return rules_replace_root(line or "", file or "")


class Buffers:
    """The buffers of one call on a communicator. Work on the CUDA stream sees complete values in arrays on a GPU."""

    def __init__(self, comm: MPI.Comm, stream: int = LEGACY_STREAM, policy: Callable[[], object] = lambda: None) -> None:
        self.comm = comm
        self._policy = policy
        self.stream = stream
        self.rank, self.ranks = comm.Get_rank(), comm.Get_size()
        self.handle = handle(comm)
        self.on_gpu: list[Values] = []

    @property
    def same_bits(self) -> bool:
        """The option ``same_bits=on`` of the policy, or else of the rules: a broadcast then writes to the root's array."""
        policy = self._policy()
        return "same_bits=on" in str(policy) if policy else _rules_replace_root(*map(os.getenv, ("TAUT_RULES", "TAUT_CONFIG")))

    def renew(self, stream: int) -> None:
        """Lets a stream wait for work on the arrays that was enqueued since they were taken."""
        for values in self.on_gpu:
            again = device_values(values.source, stream=stream)
            if again is None or again.address != values.address:
                raise ArgumentError("the array's memory is another one than when the request was made: make a new request")

    def _take(self, buffer: Any, kind: Any, writes: bool) -> _Memory:
        if isinstance(kind, str):
            kind = type_of(np.dtype(kind))
        if buffer is None or buffer is MPI.BOTTOM:
            return _Memory(0, kind if kind is not None else MPI.BYTE, 0)
        values = device_values(buffer, writes, self.stream)
        if values is not None:
            self.on_gpu.append(values)
            memory = _Memory(values.address, kind, values.count, values)
        else:
            array = _on_host(buffer, writes)
            memory = _Memory(address_of(array), kind, array.size, array)
        if kind is None:
            memory.type = type_of(array.dtype) if values is None else type_of_number(values.type)
        else:
            extent = kind.Get_extent()[1]
            memory.room = memory.owner.nbytes // extent if extent > 0 else 0
        return memory

    def message(self, spec: Any, writes: bool, blocks: int = 1) -> Message:
        """Returns a message with one count. By default the array is divided into `blocks` blocks of that count."""
        if spec is None:
            return NOTHING
        if spec is MPI.IN_PLACE:
            return IN_PLACE
        buffer, count, displ, kind = split(spec)
        memory = self._take(buffer, kind, writes)
        room, displ = memory.room, int(displ or 0)
        if count is None:
            if blocks and (room - displ) % blocks:
                raise ArgumentError(f"the array has {room - displ} elements, which {blocks} ranks cannot share evenly")
            count = (room - displ) // blocks if blocks else 0
        if memory.owner is not None and displ + int(count) * blocks > room and memory.type.is_predefined:
            raise ArgumentError(f"the array has {room} elements, the message {displ + int(count) * blocks}")
        address = memory.address + displ * (memory.type.Get_extent()[1] if displ else 0)
        return Message(address, int(count), handle(memory.type), owner=memory.owner)

    def vector_message(self, spec: Any, writes: bool, ranks: int) -> Message:
        """Returns a message with one count for each rank. By default the ranks share the array evenly."""
        if spec is None:
            return NOTHING
        if spec is MPI.IN_PLACE:
            return IN_PLACE
        buffer, counts, displs, kind = split(spec)
        memory = self._take(buffer, kind, writes)
        room = memory.room
        if counts is None:
            if ranks and room % ranks:
                raise ArgumentError(f"the array has {room} elements, which {ranks} ranks cannot share evenly: give counts")
            counts = room // ranks if ranks else 0
        counts = _numbers(counts, ranks, "counts")
        if displs is None:
            displs = np.concatenate([[0], np.cumsum(counts)])[:ranks]
        elif np.ndim(displs) == 0:
            displs = np.arange(ranks) * int(displs)
        displs = _numbers(displs, ranks, "displacements")
        reach = int((displs + counts)[counts > 0].max(initial=0))
        if memory.owner is not None and memory.type.is_predefined and reach > room:
            raise ArgumentError(f"the array has {room} elements, the blocks reach to {reach}")
        return Message(memory.address, 0, handle(memory.type), counts, displs, memory.owner)

    def typed_message(self, spec: Any, writes: bool, blocks: int) -> Message:
        """Returns a message with a count, a displacement in bytes and a type for each block: [array, types],
        [array, (counts, displacements), types] or [array, counts, displacements, types]. Defaults: count 1, displacement 0."""
        if spec is MPI.IN_PLACE:
            return IN_PLACE
        if not isinstance(spec, (list, tuple)) or not 2 <= len(spec) <= 4:
            raise ArgumentError("a message is [array, types] or [array, counts, displacements, types]")
        buffer, *numbers, types = spec
        counts, displs = (1, 0) if not numbers else numbers if len(numbers) == 2 else numbers[0]
        memory = self._take(buffer, MPI.BYTE, writes)
        handles = np.array([handle(one) % (1 << 8 * _HANDLE_BYTES) for one in types], f"u{_HANDLE_BYTES}")
        if handles.shape != (blocks,):
            raise ArgumentError(f"{handles.size} types for {blocks} blocks")
        counts, displs = _numbers(counts, blocks, "counts"), _numbers(displs, blocks, "displacements")
        return Message(memory.address, 0, address_of(handles), counts, displs, memory.owner, handles)


def _numbers(values: Any, ranks: int, what: str) -> np.ndarray:
    """Returns counts or displacements as the C functions take them: MPI_Count and MPI_Aint have 64 bits."""
    numbers = np.array(values, np.int64)
    numbers = np.full(ranks, numbers) if numbers.ndim == 0 else numbers
    if numbers.shape != (ranks,):
        raise ArgumentError(f"{numbers.size} {what} for {ranks} ranks")
    return np.ascontiguousarray(numbers)
