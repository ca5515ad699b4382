"""`taut compress` and `taut decompress` on variables of HDF5 and NetCDF-4 files, which are named FILE::VARIABLE.

The C++ program compresses or decompresses a temporary .npy file beside the output.
"""

import argparse
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from ._dtypes import coded_number
from ._errors import Error

SEPARATOR = "::"
SLAB_BYTES = 1 << 26


def main(words: Sequence[str], program: Path) -> int:
    """Runs the command and returns its exit code."""
    command = words[0]
    try:
        return {"compress": _compress, "decompress": _decompress}[command](words[1:], program)
    except ImportError:
        message = "variables of HDF5 files need h5py; pip install 'taut[hdf5]'"
    except (Error, OSError, KeyError) as error:
        message = str(error.args[0] if isinstance(error, KeyError) else error)
    print(f"taut {command}: {message}", file=sys.stderr)
    return 1


def _parser(command: str, positional: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=f"taut {command}", allow_abbrev=False)
    parser.add_argument("input", metavar=positional)
    parser.add_argument("-f", "--force", action="store_true")
    parser.add_argument("-q", "--quiet", action="store_true")
    parser.add_argument("--json", action="store_true")
    return parser


def _flags(options: argparse.Namespace, *names: str) -> list[str]:
    return [f"--{name}" for name in names if getattr(options, name.replace("-", "_"))]


def _compress(words: Sequence[str], program: Path) -> int:
    parser = _parser("compress", f"FILE{SEPARATOR}VARIABLE")
    parser.add_argument("-o", "--output")
    parser.add_argument("-b", "--bound", default="lossless")
    parser.add_argument("--no-verify", action="store_true")
    options = parser.parse_args(words)
    file, _, variable = options.input.partition(SEPARATOR)
    if not variable:
        parser.error("the variable is read from an HDF5 file: give IN as FILE::VARIABLE")
    output = options.output or variable.rpartition("/")[2] + ".taut"
    with TemporaryDirectory(prefix=".taut-", dir=Path(output).absolute().parent) as folder:
        values = Path(folder) / "values.npy"
        _read(file, variable, values)
        flags = _flags(options, "force", "quiet", "json", "no-verify")
        done = _run(program, "compress", values, "-o", output, "--bound", options.bound, *flags)
    return _shown(done, values, options.input)


def _decompress(words: Sequence[str], program: Path) -> int:
    parser = _parser("decompress", "IN")
    parser.add_argument("-o", "--output", metavar=f"FILE{SEPARATOR}VARIABLE", required=True)
    options = parser.parse_args(words)
    file, _, variable = options.output.partition(SEPARATOR)
    if not variable:
        parser.error("-o: the variable is written to an HDF5 file: give it as FILE::VARIABLE")
    with TemporaryDirectory(prefix=".taut-", dir=Path(file).absolute().parent) as folder:
        values = Path(folder) / "values.npy"
        flags = _flags(options, "quiet", "json")
        done = _run(program, "decompress", options.input, "-o", values, "--form", "npy", *flags)
        if done.returncode == 0:
            _write(file, variable, values, options.force)
    return _shown(done, values, options.output)


def _run(program: Path, *arguments: Any) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([str(program), *map(str, arguments)], capture_output=True, text=True)


def _shown(done: "subprocess.CompletedProcess[str]", values: Path, name: str) -> int:
    """Prints what the program printed, with the variable in place of the .npy file."""
    sys.stdout.write(done.stdout.replace(str(values), name))
    sys.stderr.write(done.stderr.replace(str(values), name))
    return done.returncode


def _slabs(dataset: Any) -> Iterator[Any]:
    """Yields selections that cover a dataset, of whole chunks and about SLAB_BYTES each."""
    if not dataset.shape:
        yield ()
        return
    row_bytes = max(1, dataset.nbytes // max(1, dataset.shape[0]))
    step = dataset.chunks[0] if dataset.chunks else 1
    rows = max(1, SLAB_BYTES // row_bytes // step) * step
    for first in range(0, dataset.shape[0], rows):
        yield slice(first, first + rows)


def _read(file: str, variable: str, target: Path) -> None:
    import h5py

    from . import hdf5  # noqa: F401  (makes the filter known)

    with h5py.File(file, "r") as source:
        dataset = source[variable]
        if not isinstance(dataset, h5py.Dataset):
            raise OSError(f"{file}{SEPARATOR}{variable}: is a group; name a variable in it")
        dtype = dataset.dtype.newbyteorder("=")
        coded_number(dtype)
        values = np.lib.format.open_memmap(target, mode="w+", dtype=dtype, shape=dataset.shape)
        for slab in _slabs(dataset):
            values[slab] = dataset[slab]
        values.flush()


def _write(file: str, variable: str, source: Path, force: bool) -> None:
    import h5py

    values = np.load(source, mmap_mode="r")
    coded_number(values.dtype)
    with h5py.File(file, "a") as target:
        if variable in target:
            if not force:
                raise OSError(f"{file} has {variable}; name another variable, or replace it with --force")
            del target[variable]
        dataset = target.create_dataset(variable, values.shape, values.dtype)
        for slab in _slabs(dataset):
            dataset[slab] = values[slab]
