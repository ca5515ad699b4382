"""Serialisers of Dask: arrays that go from one host to another are compressed.

    client = Client(address)
    taut.dask.enable_on(client)                    # lossless; or enable_on(client, "abs:1e-4")

Every process of the cluster needs the serialisers, as it decodes what others send. ``enable`` sets them in one process,
``enable_on`` in this process and all workers, later ones too. ``dask worker --preload taut.dask`` sets them with the policy
of Dask's configuration, ``taut.policy`` (``DASK_TAUT__POLICY=abs:1e-4``).

Arrays stay as they are where compression does not pay: between processes of one host, when a worker spills to disk, below
`MIN_BYTES`, and if a sample shows that they hardly compress.

Each worker tells the scheduler what it sent: the page *Workers* of Dask's dashboard has the columns ``taut arrays``,
``taut MB`` and ``taut MB sent``. ``statistics`` returns the same for this process.
"""

import threading
from dataclasses import dataclass, field
from typing import Any, Callable, Optional, Union

import dask
import numpy as np
from distributed import Client, WorkerPlugin
from distributed.comm.addressing import get_address_host
from distributed.protocol.serialize import dask_deserialize, dask_serialize
from distributed.utils import has_keyword

from ._codec import LEAST_RATIO, compress, decompress, sample_compresses
from ._core import check_coding
from ._dtypes import number_of
from ._policy import Policy

MIN_BYTES = 1 << 16  # smaller arrays are not compressed

Packed = tuple[dict[str, Any], list[Any]]


@dataclass
class _Setting:
    """Setting of this process."""

    policy: str = "lossless"


@dataclass
class _Sent:
    """Sums over the compressed arrays that this process sent; Dask serialises in several threads."""

    arrays: int = 0
    value_bytes: int = 0
    frame_bytes: int = 0
    lock: Any = field(default_factory=threading.Lock)

    def add(self, value_bytes: int, frame_bytes: int) -> None:
        with self.lock:
            self.arrays, self.value_bytes, self.frame_bytes = self.arrays + 1, self.value_bytes + value_bytes, self.frame_bytes + frame_bytes


_setting, _sent = _Setting(), _Sent()
METRICS: dict[str, Callable[[Any], float]] = {
    "taut arrays": lambda _: _sent.arrays,
    "taut MB": lambda _: round(_sent.value_bytes / 1e6, 3),
    "taut MB sent": lambda _: round(_sent.frame_bytes / 1e6, 3),
}


def statistics() -> dict[str, int]:
    """Returns what this process sent compressed: the number of arrays, the bytes of their values, and those of the frames."""
    return {"arrays": _sent.arrays, "value_bytes": _sent.value_bytes, "frame_bytes": _sent.frame_bytes}


def enable(policy: Union[str, Policy, None] = None) -> None:
    """Compresses NumPy and CuPy arrays that this process sends to other hosts, and lets it decode what it receives.

    Parameters
    ----------
    policy : str or Policy, optional
        As in `taut.compress`: ``"abs:1e-4"``, ``"rel:1e-3"``, ... A bound refers to each transfer of an array, and a
        relative one to the range of that array. ``"off"`` compresses nothing, and still decodes. Default:
        ``taut.policy`` of Dask's configuration, else ``"lossless"``.
    """
    text = str(policy if policy is not None else dask.config.get("taut.policy", "lossless"))
    if text != "off":
        text = check_coding(text)
    _setting.policy = text
    register(np.ndarray)
    dask_serialize.register_lazy("cupy", _register_cupy)
    dask_deserialize.register_lazy("cupy", _register_cupy)


def enable_on(client: Client, policy: Union[str, Policy, None] = None) -> dict[str, str]:
    """Calls `enable` in this process and on all workers of a cluster, those that join later included.

    Returns
    -------
    dict
        The policy in force on each worker of now, by its address.
    """
    enable(policy)
    client.register_plugin(_OnWorkers(_setting.policy), name="taut")
    return dict(client.run(_policy_here))


def _policy_here() -> str:
    """Returns the policy of this process."""
    return _setting.policy


def dask_setup(server: Any) -> None:
    """Sets the serialisers. Dask calls this function for ``--preload taut.dask``."""
    enable()
    _tell(server)


def _tell(server: Any) -> None:
    """Adds the counters to what a worker tells the scheduler."""
    if isinstance(getattr(server, "metrics", None), dict):
        server.metrics.update(METRICS)


class _OnWorkers(WorkerPlugin):
    """Plugin that sets the serialisers on a worker."""

    def __init__(self, policy: str) -> None:
        self.policy = policy

    def setup(self, worker: Any) -> None:
        enable(self.policy)
        _tell(worker)


def register(kind: type, empty: Optional[Callable[..., Any]] = None) -> None:
    """Sets the serialisers for arrays of a class, unless they are set already.

    Parameters
    ----------
    kind
        The class, which Dask can serialise already.
    empty
        Makes an array to decode into, by (shape, dtype, order), if `kind` is not NumPy's.
    """
    usual_dumps, usual_loads = dask_serialize.dispatch(kind), dask_deserialize.dispatch(kind)
    if getattr(usual_dumps, "is_taut", False):
        return
    takes_context = has_keyword(usual_dumps, "context")

    def dumps(array: Any, context: Optional[dict[str, Any]] = None) -> Packed:
        packed = _packed(array, context) if type(array) is kind else None
        if packed is not None:
            return packed
        return usual_dumps(array, context=context) if takes_context else usual_dumps(array)

    def loads(header: dict[str, Any], frames: list[Any]) -> Any:
        return _unpacked(header, frames, empty) if "taut" in header else usual_loads(header, frames)

    dumps.is_taut = True  # type: ignore[attr-defined]
    dask_serialize.register(kind, dumps)
    dask_deserialize.register(kind, loads)


def _register_cupy() -> None:
    import cupy
    import distributed.protocol.cupy  # noqa: F401  (Dask's own, which serves what is not compressed)

    register(cupy.ndarray, cupy.empty)


def _packed(array: Any, context: Optional[dict[str, Any]]) -> Optional[Packed]:
    """Returns header and frames of an array, or None if compression does not pay."""
    policy = _setting.policy
    if policy == "off" or array.nbytes < MIN_BYTES or number_of(np.dtype(array.dtype)) is None or not _leaves_host(context):
        return None
    if 0 in array.strides or not sample_compresses(array, policy):
        return None
    data = compress(array, policy)
    if len(data) * LEAST_RATIO > array.nbytes:
        return None
    _sent.add(array.nbytes, len(data))
    order = "C" if array.flags.c_contiguous or not array.flags.f_contiguous else "F"
    return {"taut": {"shape": array.shape, "dtype": array.dtype.str, "order": order}, "writeable": (True,)}, [data]


def _leaves_host(context: Optional[dict[str, Any]]) -> bool:
    """Returns true if the connection leads to another host. Returns false for spilling, which has no connection."""
    if not context:
        return False
    ends = [context.get(end, {}).get("address") for end in ("sender", "recipient")]
    if not all(ends) or any(end.startswith("inproc") for end in ends):
        return False
    sender, recipient = map(get_address_host, ends)
    return bool(sender != recipient)


def _unpacked(header: dict[str, Any], frames: list[Any], empty: Optional[Callable[..., Any]]) -> Any:
    data = frames[0] if len(frames) == 1 else b"".join(frames)
    about = header["taut"]
    out = None if empty is None else empty(tuple(about["shape"]), np.dtype(about["dtype"]), about["order"])
    return decompress(data, out)
