"""Choice of an error bound: what each of several bounds does to an array. `taut bounds` is the same on files."""

from collections.abc import Sequence
from typing import Any, Optional, Union

from ._compare import compare
from ._quantities import Definition, quantities_of
from ._result import Bounds
from ._source import source_of

__all__ = ["Bounds", "bounds"]


def bounds(
    array: Any,
    bounds: Optional[Sequence[str]] = None,
    *,
    quantities: Optional[Union[dict[str, Definition], Sequence[str]]] = None,
    ratio: Optional[float] = None,
    psnr: Optional[float] = None,
    bits_of_information: bool = False,
    name: str = "array",
) -> Bounds:
    """Compares error bounds on an array, and proposes one.

    Parameters
    ----------
    array : array_like
        NumPy array, masked array, or what is read by slices: a variable of xarray, Zarr, h5py or NetCDF.
    bounds : list of str, optional
        Bounds to compare; default: ``rel:1e-1`` to ``rel:1e-6``, and ``lossless``.
    quantities : dict or list of str, optional
        What is derived from the values: by name a function of the array, or an expression with ``x`` and ``np``; or names
        of the known ones.
    ratio, psnr : float, optional
        Searches the tightest bound with this compression ratio, or the loosest one with this PSNR in dB.
    bits_of_information : bool
        Proposes the bound that keeps 99 % of the bitwise real information (Kloewer et al. 2021).
    name : str
        What texts call the array.

    Returns
    -------
    Bounds
        Its ``repr`` is a table; ``save(file)`` writes a page, and ``to_dict()`` returns all figures.

    Examples
    --------
    >>> import numpy as np, taut
    >>> field = np.sin(np.linspace(0, 20, 90_000, dtype=np.float32)).reshape(300, 300)
    >>> found = taut.bounds(field, ratio=10)
    >>> found.row(found.proposed).ratio >= 10
    True
    """
    asked = {"ratio": ratio, "psnr": psnr, "information": 1.0 if bits_of_information else None}
    return compare(source_of(array, name), list(bounds or ()), quantities_of(quantities), asked)


for _one in (bounds, Bounds):
    _one.__module__ = "taut"
