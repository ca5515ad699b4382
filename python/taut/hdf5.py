"""Filter of HDF5: datasets whose chunks are coded within a bound, with h5py.

    file.create_dataset("t", data=field, chunks=(64, 64, 64), **taut.hdf5.compression("abs:1e-4"))

Importing this module makes the filter known to h5py, for reading too. Other programs find it by HDF5_PLUGIN_PATH, which is
`plugin_folder`. ``python -m taut.hdf5 abs:1e-4`` prints the filter as h5repack and nccopy take it.
"""

import struct
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional, Union

import numpy as np

from ._core import check_coding
from ._dtypes import dtype_of
from ._errors import ArgumentError
from ._policy import Policy

FILTER = 384  # in HDF5's range for testing, 256 to 511
VERSION = 1
LONGEST_CODING = 512


def plugin_folder() -> str:
    """Returns the folder of the filter, for HDF5_PLUGIN_PATH."""
    return str(Path(__file__).parent / "lib/taut/hdf5")


def words(bound: Union[str, Policy] = "lossless") -> tuple[int, ...]:
    """Returns the filter's options (cd_values); the filter fills in type and chunk shape of the dataset."""
    coding = check_coding(str(bound)).encode()
    if len(coding) > LONGEST_CODING:
        raise ArgumentError(f"the bound is longer than {LONGEST_CODING} characters")
    padded = coding.ljust(-(-len(coding) // 4) * 4, b"\0")
    return (VERSION, 0, 0, len(coding), *struct.unpack(f"<{len(padded) // 4}I", padded))


def compression(bound: Union[str, Policy] = "lossless") -> dict[str, Any]:
    """Returns the arguments of ``h5py.Group.create_dataset`` that apply the filter.

    Parameters
    ----------
    bound : str or Policy
        As in `taut.compress`: ``"abs:1e-4"``, ``"lossless"``, ... A bound relative to the range of the values refers to
        each chunk.
    """
    return {"compression": FILTER, "compression_opts": words(bound)}


@dataclass(frozen=True)
class Coding:
    """Coding that a dataset names: bound, type of the values and shape of a chunk."""

    bound: str
    dtype: np.dtype
    chunks: tuple[int, ...]


def coding(dataset: Any) -> Optional[Coding]:
    """Returns the coding of a dataset of h5py; None if the filter is not applied.

    h5py shows 16 words of a filter: a bound that takes more of them ends in ``...``.
    """
    found = dataset._filters.get(str(FILTER))
    if found is None:
        return None
    _, number, dims, *rest = found
    size, *text = rest[dims:]
    shown = struct.pack(f"<{len(text)}I", *text)
    bound = shown[:size].decode() + ("..." if size > len(shown) else "")
    return Coding(bound, dtype_of(number), tuple(rest[:dims]))


def main(arguments: Sequence[str]) -> int:
    """Prints the filter in the words of h5repack and nccopy."""
    numbers = words(*arguments[:1])
    joined = ",".join(map(str, numbers))
    print(f"export HDF5_PLUGIN_PATH={plugin_folder()}")
    print(f"h5repack -f UD={FILTER},0,{len(numbers)},{joined} IN OUT")
    print(f"nccopy -F '*,{FILTER},{joined}' IN OUT")
    return 0


try:
    import h5py
except ImportError:  # the words above need no h5py
    pass
else:
    h5py.h5pl.prepend(plugin_folder().encode())

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
