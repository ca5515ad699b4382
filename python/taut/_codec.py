"""compress, decompress, info, scale and statistics: arrays as compressed bytes."""

import warnings
from dataclasses import replace
from typing import Any, NamedTuple, Optional, Union

import numpy as np

from . import _core
from ._arrays import Values, address_of, as_array
from ._device import device_values
from ._dtypes import coded_number, dtype_of, size_of
from ._errors import ArgumentError, BoundWarning
from ._file import FORTRAN, MOST_REFERENCES, NPY, Contents, Description, read, write
from ._policy import Policy, current_policy


SAMPLE_VALUES = 1 << 15  # values of the sample that larger arrays are judged by
LEAST_RATIO = 1.2  # of bytes of values to bytes of the frame; below, an array in a message stays as it is


class Info:
    """Description of compressed bytes, from `compress` or a ``.taut`` file.

    Attributes
    ----------
    shape : tuple of int
        Shape of the array.
    dtype : numpy.dtype
        Type of its values.
    bound : str
        The bound that was asked for.
    frames : int
        Number of frames: parts that can be decoded separately.
    codec : str or None
        Codec of the first frame; None if there is no frame.
    frame_bound : str or None
        Bound of the first frame; a bound relative to the range of the values is absolute here.
    references : int
        Number of arrays that `decompress` needs as ``reference=``.
    nbytes : int
        Size of the array in bytes.
    packed_bytes : int
        Size of the compressed bytes.
    ratio : float
        Compression ratio: ``nbytes / packed_bytes``.
    """

    def __init__(self, contents: Contents) -> None:
        about = contents.about
        self.shape = about.shape
        self.dtype = dtype_of(about.type)
        self.bound = about.coding
        self.frames = len(contents.entries)
        self.references = about.references
        self.codec: Optional[str] = None
        self.frame_bound: Optional[str] = None
        if self.frames:
            frame = contents.frame(0)
            self.codec, self.frame_bound, *_ = _core.frame_info(address_of(frame), frame.nbytes)
        self.nbytes = about.count * self.dtype.itemsize
        self.packed_bytes = contents.data.nbytes
        self.ratio = self.nbytes / self.packed_bytes

    def __repr__(self) -> str:
        return (
            f"<taut.Info: {'x'.join(map(str, self.shape)) or 'scalar'} {self.dtype}, {self.bound}, "
            f"{self.codec or 'no frame'}, ratio {self.ratio:.3g}>"
        )


def compress(array: Any, bound: Union[str, Policy, None] = None, reference: Any = None) -> bytes:
    """Compresses an array within a bound.

    Parameters
    ----------
    array : array_like
        NumPy array, buffer or DLPack object of any shape: float16, bfloat16 (ml_dtypes), float32, float64,
        complex64, complex128 (each part within the bound), or integers, which are coded exactly. Arrays that are
        contiguous in neither C nor Fortran order are copied first. Arrays on a CUDA device (CuPy, PyTorch and others,
        by DLPack or ``__cuda_array_interface__``) are coded there, and have to be contiguous.
    bound : str or Policy, optional
        ``"abs:1e-4"``: every value within 1e-4. ``"rel:1e-3"``: within 1e-3 of the range of the array. Other bounds,
        and options after commas: docs/configuration.md. Default: the surrounding `policy`, else ``"lossless"``.
    reference : array_like or tuple of array_like, optional
        An earlier array, or two as ``(newest, older)``, of the same shape and type as ``array``. `decompress` needs the same
        values. What has changed little since is coded in few bytes (codecs planes and mpc); the bound holds as without.

    Returns
    -------
    bytes
        The contents of a ``.taut`` file (docs/spec/file.md), which ``taut info`` and ``taut decompress`` can read.

    Raises
    ------
    PolicyError
        If the bound is invalid or not supported.
    DTypeError
        If no codec supports values of this type.
    ArgumentError
        If a reference has another shape or type than ``array``, or there are more than two.

    Warns
    -----
    BoundWarning
        If the bound exceeds the range of the array, or is relative to a range that a value for missing data sets (1e20).

    Notes
    -----
    NaN and infinities come back unchanged, as do values that the bound cannot resolve. The GIL is released.

    Examples
    --------
    >>> import numpy as np, taut
    >>> field = np.sin(np.linspace(0, 20, 1_000_000, dtype=np.float32)).reshape(1000, 1000)
    >>> packed = taut.compress(field, "abs:1e-4")
    >>> len(packed) < field.nbytes / 4
    True
    >>> back = taut.decompress(packed)
    >>> back.shape, back.dtype.name, bool(np.abs(back - field).max() <= 1e-4)
    ((1000, 1000), 'float32', True)

    An array that resembles one that the reader has:

    >>> old = np.random.default_rng(0).normal(size=100_000)
    >>> new = old + 1e-3
    >>> packed = taut.compress(new, "abs:1e-4", reference=old)
    >>> len(packed) < len(taut.compress(new, "abs:1e-4")) / 4
    True
    >>> bool(np.abs(taut.decompress(packed, reference=old) - new).max() <= 1e-4)
    True
    """
    packed, warning = pack(array, bound, reference)
    if warning:
        warnings.warn(warning, BoundWarning, stacklevel=2)
    return packed


def pack(array: Any, bound: Union[str, Policy, None], reference: Any = None) -> tuple[bytes, str]:
    """Returns what `compress` returns, and its warning; empty: none."""
    text = _core.check_coding(str(bound if bound is not None else current_policy() or "lossless"))
    values = device_values(array) or _host_values(array)
    number = values.type
    if _core.max_bytes(number, 1) == 0:
        raise ArgumentError(f"values of type {dtype_of(number)} are not coded by this build")
    about = Description(number, FORTRAN if values.fortran else NPY, values.extents, text)
    earlier = _references(reference, about)
    frame_text, warning = _core.frame_text(text, values.address, values.count, number)
    frames = []
    for first, extents in _core.pieces(list(values.extents)):
        offset = first * size_of(number)
        places = [one.address + offset for one in earlier]
        frame = _core.encode(values.address + offset, extents, number, frame_text, places)
        frames.append((frame, int(np.prod(extents))))
    return write(replace(about, references=len(earlier)), frames), warning


def _references(reference: Any, about: Description) -> list[Values]:
    """Returns the values of ``reference=``, newest first, in the memory order of the array that is described."""
    if reference is None:
        return []
    arrays = reference if isinstance(reference, (tuple, list)) else (reference,)
    if not 1 <= len(arrays) <= MOST_REFERENCES:
        raise ArgumentError(f"reference= has {len(arrays)} arrays; give one, or two as (newest, older)")
    return [_reference(array, about) for array in arrays]


def _reference(array: Any, about: Description) -> Values:
    fortran = about.form == FORTRAN
    values = device_values(array)
    if values is None:
        on_host = as_array(array)
        shape, number = on_host.shape, coded_number(on_host.dtype)
        ordered = np.require(on_host.T if fortran else on_host, requirements=["C", "A"])
        values = Values(address_of(ordered), number, shape, fortran, ordered)
    if (values.shape, values.type) != (about.shape, about.type):
        raise ArgumentError(
            f"reference= is of shape {values.shape} and type {dtype_of(values.type)}; give an array of shape {about.shape} "
            f"and type {dtype_of(about.type)}, as the one that refers to it"
        )
    if values.fortran != fortran and values.count > 1:
        raise ArgumentError("reference= on a GPU is in another memory order than the array that refers to it; copy it")
    return values


def sample_compresses(array: Any, bound: str) -> bool:
    """Returns false if values from the middle of an array in one piece hardly compress."""
    if array.size <= 4 * SAMPLE_VALUES or not array.flags.forc:
        return True
    first = (array.size - SAMPLE_VALUES) // 2
    sample = array.reshape(-1, order="A")[first : first + SAMPLE_VALUES]
    return len(compress(sample, bound)) * LEAST_RATIO <= sample.nbytes


class ChunkPacker:
    """Compresses the chunks of an array, and warns of the bound once."""

    def __init__(self, bound: str) -> None:
        self.bound = bound
        self.warned = False

    def __call__(self, chunk: Any) -> bytes:
        packed, warning = pack(chunk, self.bound)
        if warning and not self.warned:
            self.warned = True
            warnings.warn(f"a chunk under {self.bound!r}: {warning}", BoundWarning, stacklevel=2)
        return packed


def _host_values(array: Any) -> Values:
    """Returns the values of an array, or of a contiguous copy."""
    values = as_array(array)
    shape = values.shape
    fortran = values.flags.f_contiguous and not values.flags.c_contiguous
    values = np.require(values.T if fortran else values, requirements=["C", "A"])
    return Values(address_of(values), coded_number(values.dtype), shape, fortran, values)


def decompress(data: Any, out: Any = None, reference: Any = None) -> Any:
    """Decompresses an array that `compress` or the program ``taut compress`` compressed.

    Parameters
    ----------
    data : bytes-like
        The compressed bytes, which may be in memory of a CUDA device.
    out : array_like, optional
        Output array: a NumPy array, or an array on a CUDA device as `compress` takes them, which then decodes the values.
        It must be contiguous, with the original's shape, type and memory order. Default: a new NumPy array.
    reference : array_like or tuple of array_like, optional
        The array or arrays that `compress` had as ``reference=``, with the same bits.

    Returns
    -------
    numpy.ndarray
        An array with the shape, type and memory order of the original; or ``out``. bfloat16 needs the package ml_dtypes.

    Raises
    ------
    FrameError
        If ``data`` is not compressed bytes, or is damaged, or refers to other values than ``reference`` has.
    ArgumentError
        If ``out`` does not fit the values, or ``reference`` is missing, needless, or of another shape or type.
    """
    contents = read(_on_host(data))
    about = contents.about
    earlier = _references(reference, about)
    _check_number(about.references, len(earlier))
    if out is not None:
        _decode(contents, _room_for(about, out).address, earlier)
        return out
    values = np.empty(about.count, dtype_of(about.type))
    _decode(contents, address_of(values), earlier)
    values = values.reshape(about.extents)
    return values.T if about.form == FORTRAN else values


def _on_host(data: Any) -> Any:
    """Returns the bytes on the host: copied if they are on a GPU, else unchanged."""
    there = device_values(data)
    return data if there is None else _core.copy_to_host(there.address, there.nbytes)


def _room_for(about: Description, out: Any) -> Values:
    room = device_values(out, writable=True)
    if room is None:
        array = as_array(out)
        if not array.flags.writeable or not array.flags.forc or not array.flags.aligned:
            raise ArgumentError("out= is read-only, or its values lie apart; give a contiguous array")
        room = _host_values(array)
    if (room.shape, room.type, room.fortran) != (about.shape, about.type, about.form == FORTRAN):
        order = "Fortran" if about.form == FORTRAN else "C"
        raise ArgumentError(f"out= has to be of shape {about.shape}, type {dtype_of(about.type)} and {order} order")
    return room


def _check_number(needed: int, given: int) -> None:
    if needed == given:
        return
    if needed == 0:
        raise ArgumentError("the data refers to no other array; leave reference= out")
    arrays = "one array" if needed == 1 else "two arrays, (newest, older)"
    raise ArgumentError(f"the data refers to {arrays}; give what compress had, with reference=")


def _decode(contents: Contents, at: int, references: list[Values]) -> None:
    number = contents.about.type
    places = [one.address for one in references]
    for position, entry in enumerate(contents.entries):
        frame = contents.frame(position)
        _core.decode(address_of(frame), frame.nbytes, at, entry.values, number, places)
        size = entry.values * size_of(number)
        at += size
        places = [place + size for place in places]


def info(data: Any) -> Info:
    """Describes compressed bytes without decoding them.

    Examples
    --------
    >>> import numpy as np, taut
    >>> taut.info(taut.compress(np.zeros((30, 40)), "rel:1e-3"))
    <taut.Info: 30x40 float64, rel:1e-3, ..., ratio ...>
    """
    return Info(read(_on_host(data)))


class Statistics(NamedTuple):
    """Statistics of values that are not NaN. Without any, ``mean``, ``min`` and ``max`` are NaN."""

    count: int
    mean: float
    min: float
    max: float


def scale(data: Any, factor: float) -> bytes:
    """Multiplies compressed values by a number without decoding them.

    Parameters
    ----------
    data : bytes-like
        Compressed bytes of codec planes, from `compress`.
    factor : float
        Finite and not 0; a power of two, or the negative of one, for 16-bit floats and ``snap`` bounds. The bound is
        multiplied by ``abs(factor)``. Powers of two are exact; other factors round as in ``TAUT_Frame_scale``.

    Returns
    -------
    bytes
        Compressed bytes, as `compress` returns them.

    Raises
    ------
    FrameError
        If ``data`` is damaged, or its codec is another one than planes.
    ArgumentError
        If no frame can hold values times this factor.

    Examples
    --------
    >>> import numpy as np, taut
    >>> packed = taut.compress(np.linspace(0, 1, 1000), "abs:1e-3,codec=planes")
    >>> taut.info(taut.scale(packed, -2)).bound
    'abs:0.002'
    """
    contents = read(_on_host(data))
    frames = []
    bound = contents.about.coding
    for position, entry in enumerate(contents.entries):
        frame = contents.frame(position)
        scaled = np.frombuffer(_core.scale(address_of(frame), frame.nbytes, factor), np.uint8)
        if position == 0:
            bound = _core.frame_info(address_of(scaled), scaled.nbytes)[1]
        frames.append((scaled.tobytes(), entry.values))
    return write(replace(contents.about, coding=bound), frames)


def statistics(data: Any) -> Statistics:
    """Computes mean, minimum and maximum of compressed values, without an array of them.

    Each lies within the bound of the same statistic of the original values. NaN are left out.

    Examples
    --------
    >>> import numpy as np, taut
    >>> found = taut.statistics(taut.compress(np.array([1.0, np.nan, 3.0]), "abs:1e-6"))
    >>> found.count, round(found.mean, 3), round(found.min, 3), round(found.max, 3)
    (2, 2.0, 1.0, 3.0)
    """
    contents = read(_on_host(data))
    count, total, least, greatest = 0, 0.0, float("nan"), float("nan")
    for position in range(len(contents.entries)):
        frame = contents.frame(position)
        some, mean, low, high = _core.statistics(address_of(frame), frame.nbytes)
        if some == 0:
            continue
        least, greatest = (low, high) if count == 0 else (min(least, low), max(greatest, high))
        count += some
        total += mean * some
    return Statistics(count, total / count if count else float("nan"), least, greatest)
