"""Compressed communication for PyTorch: a backend of torch.distributed, collectives on tensors, weights after a step, and
hooks for DDP and FSDP2.

::

    torch.distributed.init_process_group("cpu:taut,cuda:taut")   # rules choose what is coded: TAUT_RULES, or set_rules
    taut.torch.all_reduce(tensor, "abs:1e-4")                 # every element within 1e-4 of the exact sum
    state = taut.torch.compress_gradients(ddp_model, 0.25)    # DDP's gradients, within a quarter of their RMS
    taut.torch.sync_weights(model)                            # rank 0's weights on all ranks, bit for bit

Tensors are in host memory or on NVIDIA GPUs. Frames travel over a process group of NCCL, in memory of the GPU, or over gloo or
MPI, in memory of the host. All ranks get the same bits.
docs/howto/train_with_pytorch.md is the guide.
"""

import torch.distributed

from ._backend import report, statistics
from ._collectives import all_gather, all_reduce, all_to_all, reduce_scatter
from ._creation import register, set_rules
from ._ddp import GradientState, compress_gradients, gradient_hook
from ._statistics import CallStatistics
from ._weights import SyncReport, all_gather_updates, sync_weights
from ._work import Timeout, Work

__all__ = [
    "CallStatistics",
    "GradientState",
    "SyncReport",
    "Timeout",
    "Work",
    "all_gather",
    "all_gather_updates",
    "all_reduce",
    "all_to_all",
    "compress_gradients",
    "compress_sharded_gradients",
    "gradient_hook",
    "reduce_scatter",
    "report",
    "set_rules",
    "statistics",
    "sync_weights",
]

register()

# Functions of torch.distributed.nn have the group of all ranks as a default argument, and the first step of an optimiser imports
# them. Imported before that group exists, they do not hold it: destroy_process_group can then end its threads.
if not torch.distributed.is_initialized():
    import torch.distributed.nn.functional  # noqa: F401


def __getattr__(name: str) -> object:
    if name != "compress_sharded_gradients":
        raise AttributeError(f"module 'taut.torch' has no attribute {name!r}")
    from ._fsdp import compress_sharded_gradients  # needs PyTorch 2.8

    return compress_sharded_gradients
