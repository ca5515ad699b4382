"""Compressed communication for PyTorch: collectives on tensors, and hooks for DDP and FSDP2.

::

    taut.torch.all_reduce(tensor, "abs:1e-4")                 # every element within 1e-4 of the exact sum
    state = taut.torch.compress_gradients(ddp_model, 0.25)    # DDP's gradients, within a quarter of their RMS

Tensors are in host memory or on NVIDIA GPUs. Frames travel over a process group of NCCL, in memory of the GPU, or over gloo or
MPI, in memory of the host. All ranks get the same bits.
docs/howto/train_with_pytorch.md is the guide.
"""

from ._collectives import all_gather, all_reduce, all_to_all, reduce_scatter
from ._ddp import GradientState, compress_gradients, gradient_hook
from ._work import Timeout, Work

__all__ = [
    "GradientState",
    "Timeout",
    "Work",
    "all_gather",
    "all_reduce",
    "all_to_all",
    "compress_gradients",
    "compress_sharded_gradients",
    "gradient_hook",
    "reduce_scatter",
]


def __getattr__(name: str) -> object:
    if name != "compress_sharded_gradients":
        raise AttributeError(f"module 'taut.torch' has no attribute {name!r}")
    from ._fsdp import compress_sharded_gradients  # needs PyTorch 2.8

    return compress_sharded_gradients
