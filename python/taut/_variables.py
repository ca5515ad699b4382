"""`taut compress`, `decompress` and `bench-codec` on variables of HDF5 and NetCDF-4 files, named FILE::VARIABLE.

The C++ program works on temporary .npy files; those of compress and decompress lie beside the output.
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
        return {"compress": _compress, "decompress": _decompress, "bench-codec": _bench}[command](words[1:], program)
    except ImportError:
        message = "variables of HDF5 files need h5py; pip install 'taut[hdf5]'"
    except (Error, OSError, KeyError) as error:
        message = str(error.args[0] if isinstance(error, KeyError) else error)
    print(f"taut {command}: {message}", file=sys.stderr)
    return 1


def _parser(command: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=f"taut {command}", allow_abbrev=False)
    parser.add_argument("-f", "--force", action="store_true")
    parser.add_argument("-q", "--quiet", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--reference", action="append", default=[], metavar="OLD")
    return parser


def _flags(options: argparse.Namespace, *names: str) -> list[str]:
    switches = [f"--{name}" for name in names if getattr(options, name.replace("-", "_"))]
    return switches + [f"--reference={name}" for name in options.reference]


def _compress(words: Sequence[str], program: Path) -> int:
    parser = _parser("compress")
    parser.add_argument("inputs", metavar=f"FILE{SEPARATOR}VARIABLE", nargs="+")
    parser.add_argument("-o", "--output")
    parser.add_argument("-b", "--bound", default="lossless")
    parser.add_argument("--no-verify", action="store_true")
    options = parser.parse_args(words)
    several, folder = len(options.inputs) > 1, options.output and (options.output.endswith("/") or Path(options.output).is_dir())
    if any(not name.partition(SEPARATOR)[2] for name in options.inputs):
        parser.error("variables are read from HDF5 files: give each IN as FILE::VARIABLE")
    if several and options.output and not folder:
        parser.error(f"-o: {options.output} is one file for {len(options.inputs)} variables; name a folder, {options.output}/")
    usual = {name: name.rpartition(SEPARATOR)[2].rpartition("/")[2] + ".taut" for name in options.inputs}
    if len(set(usual.values())) < len(options.inputs):
        parser.error("two variables would go to one file; give them one by one, with -o")
    if folder:
        Path(options.output).mkdir(parents=True, exist_ok=True)
    outputs = {name: str(Path(options.output) / own) if folder else options.output or own for name, own in usual.items()}
    return max(_compress_one(name, output, options, program) for name, output in outputs.items())


def _compress_one(name: str, output: str, options: argparse.Namespace, program: Path) -> int:
    file, _, variable = name.partition(SEPARATOR)
    with TemporaryDirectory(prefix=".taut-", dir=Path(output).absolute().parent) as folder:
        values = Path(folder) / "values.npy"
        _read(file, variable, values)
        flags = _flags(options, "force", "quiet", "json", "no-verify")
        arguments = ("compress", values, "-o", output, "--bound", options.bound, *flags)
        done = _run(program, *arguments, stdout=None if output == "-" else subprocess.PIPE)
    return _shown(done, values, name)


def _bench(words: Sequence[str], program: Path) -> int:
    with TemporaryDirectory(prefix="taut-") as folder:

        def local(word: str) -> str:
            file, _, variable = word.partition(SEPARATOR)
            if not variable:
                return word
            values = Path(folder) / word.replace("/", "|")
            _read(file, variable, values)
            return str(values)

        sys.stdout.flush()
        return subprocess.run([str(program), "bench-codec", *map(local, words)]).returncode


def _decompress(words: Sequence[str], program: Path) -> int:
    parser = _parser("decompress")
    parser.add_argument("input", metavar="IN")
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


def _run(program: Path, *arguments: Any, stdout: Any = subprocess.PIPE) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([str(program), *map(str, arguments)], stdout=stdout, stderr=subprocess.PIPE, text=True)


def _shown(done: "subprocess.CompletedProcess[str]", values: Path, name: str) -> int:
    """Prints what the program printed, with the variable in place of the .npy file."""
    sys.stdout.write((done.stdout or "").replace(str(values), name))
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
