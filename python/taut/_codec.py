"""compress, decompress, info: arrays to bytes and back."""

from typing import Any, Optional, Union

import numpy as np

from . import _core
from ._arrays import address_of, as_array
from ._dtypes import coded_number, dtype_of
from ._errors import ArgumentError
from ._file import FORTRAN, NPY, Contents, Description, read, write
from ._policy import Policy, current_policy


class Info:
    """What bytes of `compress`, or a ``.taut`` file, say of themselves.

    Attributes
    ----------
    shape : tuple of int
        Of the array that they stand for.
    dtype : numpy.dtype
        Of its values.
    bound : str
        What was asked for.
    frames : int
        Parts that can be decoded by themselves.
    codec : str or None
        Of the first frame; None where there is none.
    frame_bound : str or None
        What the first frame keeps to: of bounds relative to the range of the values, the absolute one.
    nbytes : int
        Of the array.
    packed_bytes : int
        Of what stands for it.
    ratio : float
        The one over the other.
    """

    def __init__(self, contents: Contents) -> None:
        about = contents.about
        self.shape = about.shape
        self.dtype = dtype_of(about.type)
        self.bound = about.coding
        self.frames = len(contents.entries)
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


def compress(array: Any, bound: Union[str, Policy, None] = None) -> bytes:
    """Codes an array within a bound.

    Parameters
    ----------
    array : array_like
        NumPy array, buffer or DLPack object on the host, of any shape: float16, bfloat16 (ml_dtypes), float32, float64,
        complex64, complex128 (each part within the bound), or integers, which are coded exactly. Arrays that are
        contiguous in neither C nor Fortran order are copied first.
    bound : str or Policy, optional
        ``"abs:1e-4"``: every value within 1e-4. ``"rel:1e-3"``: within 1e-3 of the range of the array. Others, and
        options behind commas: docs/configuration.md. Default: that of the surrounding `policy`, else ``"lossless"``.

    Returns
    -------
    bytes
        What a ``.taut`` file holds (docs/spec/file.md): written to one, ``taut info`` and ``taut decompress`` read it.

    Raises
    ------
    PolicyError
        If the bound cannot be read, or not be served.
    DTypeError
        If there is no codec for values of this type.

    Notes
    -----
    NaN and infinities come back as they were; so does what the bound cannot resolve. The GIL is released.

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
    """
    text = str(bound if bound is not None else current_policy() or "lossless")
    _core.check_coding(text)
    values = as_array(array)
    fortran = values.flags.f_contiguous and not values.flags.c_contiguous
    values = np.require(values.T if fortran else values, requirements=["C", "A"])
    number = coded_number(values.dtype)
    if _core.max_bytes(number, 1) == 0:
        raise ArgumentError(f"values of type {values.dtype} are not coded by this build")
    start = address_of(values)
    frame_text = _core.frame_text(text, start, values.size, number)
    frames = []
    for first, extents in _core.pieces(list(values.shape)):
        frame = _core.encode(start + first * values.itemsize, extents, number, frame_text)
        frames.append((frame, int(np.prod(extents))))
    return write(Description(number, FORTRAN if fortran else NPY, tuple(values.shape), text), frames)


def decompress(data: Any) -> np.ndarray:
    """Gives back the array that `compress` or the program ``taut compress`` coded.

    Parameters
    ----------
    data : bytes-like
        What they wrote.

    Returns
    -------
    numpy.ndarray
        New; of the shape, type and memory order of the original. bfloat16 needs the package ml_dtypes.

    Raises
    ------
    FrameError
        If it is something else, or damaged.
    """
    contents = read(data)
    about = contents.about
    values = np.empty(about.count, dtype_of(about.type))
    at = address_of(values)
    for position, entry in enumerate(contents.entries):
        frame = contents.frame(position)
        _core.decode(address_of(frame), frame.nbytes, at, entry.values, about.type)
        at += entry.values * values.itemsize
    values = values.reshape(about.extents)
    return values.T if about.form == FORTRAN else values


def info(data: Any) -> Info:
    """What bytes of `compress` hold, without decoding them.

    Examples
    --------
    >>> import numpy as np, taut
    >>> taut.info(taut.compress(np.zeros((30, 40)), "rel:1e-3"))
    <taut.Info: 30x40 float64, rel:1e-3, ..., ratio ...>
    """
    return Info(read(data))
