"""Variants of DDP's communication: plain, PyTorch's hooks, Taut's hook, bfloat16 that Taut compresses without loss."""

import torch.distributed as dist
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks
from torch.distributed.algorithms.ddp_comm_hooks.powerSGD_hook import PowerSGDState, powerSGD_hook

import taut.torch

WARM_UP = 10  # uncompressed steps at the beginning
USUAL = "plain,fp16,bf16,exponents,powersgd:4,taut:0.1,taut:0.25,taut:1"


def bucket_mb(name):
    """Returns the size of DDP's buckets in MB; None: DDP's default. With several buckets PowerSGD blocks for ever over gloo: it
    waits for sums in the threads that gloo needs for the next sum (PyTorch 2.11)."""
    return 1000 if name.startswith("powersgd") else None


def exponents_hook(_, bucket):
    """Averages gradients as bfloat16, as bf16_compress_hook does, in lossless frames of the codec exponents."""
    gradients = bucket.buffer()
    work = taut.torch.all_reduce(gradients.bfloat16(), "lossless,codec=exponents", op=dist.ReduceOp.AVG, async_op=True)
    return work.get_future().then(lambda mean: gradients.copy_(mean.value()))


def apply(name, model):
    """Gives a DDP model the communication `name`; returns the state that has to live as long as the model."""
    kind, _, number = name.partition(":")
    if kind == "fp16":
        model.register_comm_hook(None, default_hooks.fp16_compress_hook)
    elif kind == "bf16":
        model.register_comm_hook(None, default_hooks.bf16_compress_hook)
    elif kind == "exponents":
        model.register_comm_hook(None, exponents_hook)
    elif kind == "powersgd":
        state = PowerSGDState(None, matrix_approximation_rank=int(number or 4), start_powerSGD_iter=WARM_UP)
        model.register_comm_hook(state, powerSGD_hook)
        return state
    elif kind == "taut":
        return taut.torch.compress_gradients(model, float(number or 0.25), warm_up_steps=WARM_UP)
    elif kind != "plain":
        raise SystemExit(f"--variants: no variant {name!r}; there are plain, fp16, bf16, exponents, powersgd:RANK, taut:BOUND")
    return None
