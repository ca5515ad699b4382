"""Compression under an error bound: for arrays, and inside MPI communication.

``compress``, ``decompress`` and ``info`` work on arrays and need no MPI::

    packed = taut.compress(field, "abs:1e-4")      # every value within 1e-4
    same_shape = taut.decompress(packed)

``Comm`` wraps a communicator of mpi4py and has its upper-case methods::

    comm = taut.Comm(MPI.COMM_WORLD, "abs:1e-4")
    comm.Allreduce(mine, total)                    # every element of `total` within 1e-4

Bounds and options are those of the C library (docs/configuration.md). Compression is lossless unless a bound allows a loss.
"""

from typing import TYPE_CHECKING, Any

from ._codec import Info, Statistics, compress, decompress, info, scale, statistics
from ._core import version as _version
from ._errors import (
    ArgumentError,
    BoundWarning,
    DTypeError,
    Error,
    FrameError,
    OutOfMemoryError,
    PeerError,
    PolicyError,
    RankMismatchError,
)
from ._policy import Policy, policy

if TYPE_CHECKING:
    from ._bounds import Bounds, bounds
    from ._comm import AVG, Comm
    from ._request import Request

__version__ = _version()
__all__ = [
    "AVG",
    "ArgumentError",
    "BoundWarning",
    "Bounds",
    "Comm",
    "DTypeError",
    "Error",
    "FrameError",
    "Info",
    "OutOfMemoryError",
    "PeerError",
    "Policy",
    "PolicyError",
    "RankMismatchError",
    "Request",
    "Statistics",
    "bounds",
    "compress",
    "decompress",
    "info",
    "policy",
    "scale",
    "statistics",
]

# Parts that need MPI, or take long to import.
_LAZY = {"AVG": "._comm", "Bounds": "._bounds", "Comm": "._comm", "Request": "._request", "bounds": "._bounds"}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'taut' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_LAZY[name], __name__), name)


for _name in __all__:
    if _name not in _LAZY:
        globals()[_name].__module__ = __name__  # the module in which users find them
