"""Arrays as a source of pieces: blocks of bounded size that follow each other in memory order."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, Optional

import numpy as np

from .. import _core
from .._arrays import as_array
from .._dtypes import coded_number
from .._errors import ArgumentError, DTypeError

SLAB_BYTES, MOST_SLAB_BYTES = 1 << 23, 1 << 25

Selection = tuple[Any, ...]


@dataclass
class Source:
    """An array that is read by selections: a NumPy array, or a variable in a file."""

    name: str
    values: Any  # has shape, dtype and [selection]
    fills: tuple[float, ...] = ()
    notes: list[str] = field(default_factory=list)
    shape: tuple[int, ...] = ()
    dtype: "np.dtype[Any]" = np.dtype(np.float32)

    def __post_init__(self) -> None:
        self.shape = tuple(int(extent) for extent in self.values.shape)
        self.dtype = np.dtype(self.values.dtype).newbyteorder("=")
        coded_number(self.dtype)
        if self.count == 0:
            raise ArgumentError(f"{self.name} is empty, of shape {'x'.join(map(str, self.shape))}: there is nothing to measure")

    @property
    def count(self) -> int:
        return prod(self.shape)

    @property
    def nbytes(self) -> int:
        return self.count * self.dtype.itemsize

    def pieces(self) -> Iterator["np.ndarray[Any, Any]"]:
        """Yields blocks that a frame can hold; together they are the array."""
        for selection in slabs(self.shape, self.dtype.itemsize, _chunks(self.values)):
            slab = np.ascontiguousarray(np.asarray(self.values[selection]), self.dtype)
            flat = slab.reshape(-1)
            for first, extents in _core.pieces(list(slab.shape)):
                yield flat[first : first + prod(extents)].reshape(extents)


def _chunks(values: Any) -> Optional[Sequence[Any]]:
    chunks = getattr(values, "chunks", None)
    return [one[0] if isinstance(one, tuple) else one for one in chunks] if isinstance(chunks, tuple) else None


def slabs(shape: tuple[int, ...], itemsize: int, chunks: Optional[Sequence[int]] = None) -> Iterator[Selection]:
    """Yields selections of about SLAB_BYTES that cover an array in memory order, of whole chunks where these are small enough."""
    if not shape:
        yield ()
        return
    axis = 0
    while axis < len(shape) - 1 and prod(shape[axis + 1 :]) * itemsize > SLAB_BYTES:
        axis += 1
    row_bytes = max(1, prod(shape[axis + 1 :]) * itemsize)
    step = max(1, SLAB_BYTES // row_bytes)
    chunk = chunks[axis] if chunks else 1
    if chunk * row_bytes <= MOST_SLAB_BYTES:
        step = max(1, step // chunk) * chunk
    for lead in np.ndindex(*shape[:axis]):
        for first in range(0, shape[axis], step):
            yield (*lead, slice(first, min(first + step, shape[axis])))


class _Filled:
    """A masked array, whose masked values are read as its fill value."""

    def __init__(self, array: Any) -> None:
        self.array, self.shape, self.dtype = array, array.shape, array.dtype

    def __getitem__(self, selection: Selection) -> Any:
        return np.ma.filled(self.array[selection], self.array.fill_value)


def missing_values(attributes: Any) -> tuple[float, ...]:
    """Returns the numbers that attributes of NetCDF declare as missing values."""
    found = []
    for name in ("_FillValue", "missing_value"):
        value = attributes.get(name)
        try:
            found += [float(one) for one in np.ravel(value)] if value is not None else []
        except (TypeError, ValueError):
            pass
    return tuple(dict.fromkeys(one for one in found if np.isfinite(one)))


def packing(attributes: Any) -> list[str]:
    """Returns a note if the integers of a variable stand for other numbers."""
    if attributes.get("scale_factor") is None and attributes.get("add_offset") is None:
        return []
    return ["the variable holds packed integers (scale_factor, add_offset): they are coded without loss as they stand"]


def source_of(array: Any, name: str) -> Source:
    """Returns the source of an array in memory, or of an object that is read by slices (xarray, Zarr, h5py, dask)."""
    if isinstance(array, np.ma.MaskedArray):
        fill = np.ravel(array.fill_value)[0]
        return Source(name, _Filled(array), (float(fill.real),) if np.ma.is_masked(array) else ())
    if isinstance(array, np.ndarray):
        return Source(name, array)
    if all(hasattr(array, needed) for needed in ("shape", "dtype", "__getitem__")):
        if not isinstance(array.shape, tuple):
            raise DTypeError(f"{type(array).__name__} holds several variables: name one of them")
        attributes = {**getattr(array, "encoding", {}), **dict(getattr(array, "attrs", {}))}
        notes = packing(attributes) if np.dtype(array.dtype).kind in "iu" else []
        return Source(getattr(array, "name", None) or name, array, missing_values(attributes), notes)
    return Source(name, as_array(array))
