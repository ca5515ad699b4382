"""Files as sources: HDF5, NetCDF, Zarr, .npy, and raw values."""

from pathlib import Path
from math import prod
from typing import Any, Optional

import numpy as np

from .._dtypes import bfloat16
from .._errors import ArgumentError
from ._source import Selection, Source, missing_values, packing

SEPARATOR = "::"
CACHE_BYTES = 1 << 25  # of chunks of an HDF5 file
TYPES = {"f16": "f2", "f32": "f4", "f64": "f8", "c64": "c8", "c128": "c16"}
TYPES |= {f"{kind}{8 * size}": f"{kind}{size}" for kind in "iu" for size in (1, 2, 4, 8)}


class FlatFile:
    """Values that lie in a file in C order. They are read, not mapped, so that memory stays small."""

    def __init__(self, path: Path, dtype: "np.dtype[Any]", shape: tuple[int, ...], offset: int = 0) -> None:
        self.path, self.dtype, self.shape, self.offset = path, dtype, shape, offset

    def __getitem__(self, selection: Selection) -> "np.ndarray[Any, Any]":
        first, extents = 0, list(self.shape)
        for one in selection:
            rows = one if isinstance(one, slice) else slice(one, one + 1)
            first += rows.start * prod(extents[1:])
            kept = rows.stop - rows.start
            extents = extents[1:] if not isinstance(one, slice) else [kept, *extents[1:]]
        count = prod(extents)
        values = np.fromfile(self.path, self.dtype, count, offset=self.offset + first * self.dtype.itemsize)
        if values.size != count:
            raise OSError(f"{self.path}: is shorter than its shape says; get it again")
        return values.reshape(extents)


def open_file(name: str, dtype: Optional[str] = None, shape: Optional[tuple[int, ...]] = None) -> Source:
    """Opens FILE or FILE::VARIABLE."""
    file, _, variable = name.partition(SEPARATOR)
    path = Path(file)
    if path.is_dir():
        return _zarr(path, variable)
    with open(path, "rb") as opened:
        start = opened.read(8)
    if start == b"\x89HDF\r\n\x1a\n":
        return _hdf5(path, variable)
    if start[:3] == b"CDF":
        return _netcdf3(path, variable)
    if variable:
        raise ArgumentError(f"{file}: is neither HDF5, NetCDF nor Zarr, and has no variables; name it without {SEPARATOR}{variable}")
    if start[:6] == b"\x93NUMPY":
        return _npy(path)
    return _raw(path, dtype, shape)


def _npy(path: Path) -> Source:
    with open(path, "rb") as file:
        version = np.lib.format.read_magic(file)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, fortran, dtype = read(file)
        if dtype.hasobject:
            raise ArgumentError(f"{path}: holds Python objects, not numbers")
        return Source(str(path), FlatFile(path, dtype, shape[::-1] if fortran else shape, file.tell()))


def _raw(path: Path, dtype: Optional[str], shape: Optional[tuple[int, ...]]) -> Source:
    named = dtype or path.suffix[1:]
    if named not in TYPES and named != "bf16":
        raise ArgumentError(f"{path}: holds raw values of a type that is not given; say it with --dtype, such as --dtype f32")
    kind = bfloat16() if named == "bf16" else np.dtype("<" + TYPES[named])
    count, rest = divmod(path.stat().st_size, kind.itemsize)
    if rest:
        raise ArgumentError(f"{path}: has {path.stat().st_size} bytes, no multiple of {kind.itemsize}; say its type with --dtype")
    if shape is not None and prod(shape) != count:
        raise ArgumentError(f"{path}: holds {count} values of {named}, --shape {'x'.join(map(str, shape))} has {prod(shape)}")
    return Source(str(path), FlatFile(path, kind, shape or (count,)))


def _chosen(path: Path, variable: str, fields: dict[str, Any], everything: Any) -> Any:
    """Returns the named variable, or the only field of the file."""
    if variable:
        try:
            found = everything[variable]
        except (KeyError, IndexError):
            found = None
        if not hasattr(found, "dtype"):
            raise ArgumentError(f"{path}: has no variable {variable}; its fields are {', '.join(fields) or 'none'}")
        return found
    if len(fields) != 1:
        raise ArgumentError(f"{path}: name one of its fields, {path}{SEPARATOR}VARIABLE: {', '.join(fields) or 'it has none'}")
    return next(iter(fields.values()))


def _is_field(variable: Any) -> bool:
    return np.dtype(variable.dtype).kind in "fc" and prod(variable.shape) > 1


def _source(path: Path, variable: str, values: Any, attributes: Any) -> Source:
    notes = packing(attributes) if np.dtype(values.dtype).kind in "iu" else []
    return Source(f"{path}{SEPARATOR}{variable}" if variable else str(path), values, missing_values(attributes), notes)


def _hdf5(path: Path, variable: str) -> Source:
    try:
        import h5py

        from .. import hdf5  # noqa: F401  (makes the filter known)
    except ImportError:
        raise ArgumentError(f"{path}: HDF5 and NetCDF-4 need h5py; pip install 'taut[hdf5]'") from None
    file = h5py.File(path, "r", rdcc_nbytes=CACHE_BYTES)
    fields: dict[str, Any] = {}

    def visit(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset) and _is_field(item) and item.attrs.get("CLASS") != b"DIMENSION_SCALE":
            fields[name] = item

    file.visititems(visit)
    chosen = _chosen(path, variable, fields, file)
    return _source(path, chosen.name.lstrip("/"), chosen, dict(chosen.attrs))


def _netcdf3(path: Path, variable: str) -> Source:
    try:
        import netCDF4
    except ImportError:
        raise ArgumentError(f"{path}: NetCDF-3 needs netCDF4 (pip install netCDF4), or convert it: nccopy -k nc4 IN OUT") from None
    dataset = netCDF4.Dataset(path)
    dataset.set_auto_maskandscale(False)
    fields = {name: one for name, one in dataset.variables.items() if _is_field(one) and name not in dataset.dimensions}
    chosen = _chosen(path, variable, fields, dataset.variables)
    return _source(path, chosen.name, chosen, {name: chosen.getncattr(name) for name in chosen.ncattrs()})


def _zarr(path: Path, variable: str) -> Source:
    try:
        import zarr

        from .. import zarr as _codec  # noqa: F401  (makes the codec known)
    except ImportError:
        raise ArgumentError(f"{path}: Zarr needs zarr; pip install 'taut[zarr]'") from None
    try:
        root = zarr.open(str(path), mode="r")
    except OSError:
        raise ArgumentError(f"{path}: is a folder, and no Zarr store; name a file") from None
    except (ValueError, KeyError) as error:
        raise ArgumentError(f"{path}: zarr cannot read this store: {error}") from None
    if isinstance(root, zarr.Array):
        return _source(path, "", root, dict(root.attrs))
    fields = {name: one for name, one in root.arrays() if _is_field(one)}
    chosen = _chosen(path, variable, fields, root)
    return _source(path, variable or chosen.basename, chosen, dict(chosen.attrs))
