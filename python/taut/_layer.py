"""Calls of the TAUT_ functions in the layer for the MPI that mpi4py has loaded."""

from functools import lru_cache
from pathlib import Path
from typing import Any, NoReturn

from mpi4py import MPI

from . import _core
from ._errors import Error, class_of

TRANSPORT = 80  # MPI's own errors


@lru_cache(maxsize=None)
def _layer() -> _core.Layer:
    folder = Path(__file__).parent / "lib" / "taut"
    try:
        return _core.Layer(str(folder))
    except RuntimeError as error:
        there = ", ".join(sorted(path.name for path in folder.glob("libtaut_*.so"))) or "none"
        raise ImportError(
            f"no layer of Taut for {MPI.Get_library_version().splitlines()[0].strip()}: {error}. In {folder}: {there}. "
            "Install Taut anew where the headers of this MPI are found (pip install --force-reinstall --no-cache-dir; "
            "TAUT_MPICH_INCLUDE, TAUT_OPENMPI_INCLUDE or TAUT_MPIABI_INCLUDE name their folder)"
        ) from None


def flavour() -> str:
    """Returns the kind of MPI: mpich (Intel MPI too), openmpi or mpiabi."""
    return _layer().flavour


@lru_cache(maxsize=None)
def _address(name: str) -> int:
    address = _layer().address("TAUT_" + name)
    if address == 0:
        raise ImportError(f"the layer has no TAUT_{name}: package and layer are of different versions; install Taut anew")
    return address


def handle(thing: Any) -> int:
    """Returns an MPI handle as a number."""
    return MPI._handleof(thing)


def average() -> int:
    """Returns the operator of TAUT_Avg."""
    number = _core.call_word(_address("Avg"))
    return number & ((1 << 8 * MPI._sizeof(MPI.Op)) - 1)


def raw_call(name: str, *words: int) -> int:
    """Calls TAUT_`name` without the GIL and returns its result."""
    return _core.call(_address(name), *words)


def call(name: str, *words: int) -> None:
    """Calls TAUT_`name` without the GIL; raises if the call returns an error."""
    code = _core.call(_address(name), *words)
    if code != 0:
        fail(code)


_mpi_classes: dict[type[Error], Any] = {}


def _mpi_class(cls: type[Error]) -> Any:
    """Returns a class derived from `cls` and MPI.Exception, so that programs that catch MPI.Exception need no change."""
    if cls in _mpi_classes:
        return _mpi_classes[cls]

    def construct(self: Any, code: int, status: int) -> None:
        MPI.Exception.__init__(self, code)
        self.status = status

    made = type(cls.__name__, (cls, MPI.Exception), {"__init__": construct, "__str__": MPI.Exception.__str__})
    made.__module__ = "taut"
    _mpi_classes[cls] = made
    return made


def fail(code: int) -> NoReturn:
    """Raises the exception for an MPI error code."""
    status = raw_call("Error_status", code)
    if status == TRANSPORT:
        raise MPI.Exception(code)
    raise _mpi_class(class_of(status))(code, status)
