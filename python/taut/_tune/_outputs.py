"""Distances between what a program writes in two runs: numbers in texts, .npy, .npz, HDF5 and raw files."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from .._errors import Error

NUMBER = re.compile(rb"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eEdD][-+]?\d+)?|[-+]?(?:nan|inf)\b", re.I)
RAW = {".f32": "<f4", ".f64": "<f8"}
Array = "np.ndarray[Any, Any]"


def numbers_of(path: Path) -> "np.ndarray[Any, Any]":
    """Returns all floating-point numbers of a file, one after the other."""
    parts = [np.asarray(part, np.float64).ravel() for part in _parts(path)]
    if not sum(part.size for part in parts):
        raise Error(f"{path}: holds no numbers; name a text, .npy, .npz, .h5, .f32 or .f64 file")
    return np.concatenate(parts)


def _parts(path: Path) -> Iterable["np.ndarray[Any, Any]"]:
    if not path.exists():
        raise Error(f"{path}: the program did not write it; name a file that it writes with --output")
    kind = path.suffix.lower()
    if kind in RAW:
        return [np.fromfile(path, RAW[kind])]
    if kind == ".npy":
        return [np.load(path)]
    if kind == ".npz":
        with np.load(path) as file:
            return [file[name] for name in sorted(file.files)]
    if kind in (".h5", ".hdf5", ".nc"):
        return _datasets(path)
    return [np.array([float(word.lower().replace(b"d", b"e")) for word in NUMBER.findall(path.read_bytes())])]


def _datasets(path: Path) -> list["np.ndarray[Any, Any]"]:
    try:
        import h5py
    except ImportError:
        raise Error(f"{path}: HDF5 files need h5py; pip install 'taut[hdf5]'") from None
    found: list[np.ndarray[Any, Any]] = []

    def take(_: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset) and item.dtype.kind == "f":
            found.append(item[...])

    with h5py.File(path) as file:
        file.visititems(take)
    return found


def distance(plain: "np.ndarray[Any, Any]", other: "np.ndarray[Any, Any]") -> float:
    """Returns the root of the sum of squared differences, relative to that of the values: |other - plain| / |plain|. It is
    infinite if the numbers do not correspond, or one of a pair alone is finite."""
    if plain.shape != other.shape:
        return float("inf")
    whole = np.isfinite(plain) & np.isfinite(other)
    same = (plain == other) | (np.isnan(plain) & np.isnan(other))
    if not np.all(whole | same):
        return float("inf")
    away = float(np.linalg.norm(np.where(whole, other - np.where(whole, plain, 0), 0)))
    size = float(np.linalg.norm(np.where(whole, plain, 0)))
    return away / size if size else float("inf") if away else 0.0
