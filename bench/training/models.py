"""Models in training: replicas by DDP or shards by FSDP2, their optimizer, what communicates their gradients, and checkpoints.

With `masters` the weights are bfloat16, and Adam changes float32 copies of them.
"""

from pathlib import Path

import torch
import torch.distributed as dist
import variants
from torch import nn
from torch.distributed import checkpoint
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FSDPModule, MixedPrecisionPolicy, fully_shard
from torch.nn.parallel import DistributedDataParallel

import taut.torch


class Masters:
    """Adam on float32 copies of bfloat16 weights."""

    def __init__(self, parameters, rate):
        self._weights = list(parameters)
        self._copies = [weight.detach().float() for weight in self._weights]
        self._adam = torch.optim.Adam(self._copies, lr=rate)

    def zero_grad(self):
        for weight in self._weights:
            weight.grad = None

    def step(self):
        for weight, copy in zip(self._weights, self._copies):
            copy.grad = weight.grad.float()
        self._adam.step()
        self._round()

    def _round(self):
        with torch.no_grad():
            for weight, copy in zip(self._weights, self._copies):
                weight.copy_(copy)

    def state_dict(self):
        return {"copies": self._copies, "adam": self._adam.state_dict()}

    def load_state_dict(self, state):
        with torch.no_grad():
            for copy, saved in zip(self._copies, state["copies"]):
                copy.copy_(saved)
        self._adam.load_state_dict(state["adam"])
        self._round()


class Replicas:
    """A model that every rank holds. Every rank saves its own file: residuals are those of a rank."""

    def __init__(self, variant, network, rate, masters):
        network = network.bfloat16() if masters else network
        self.model = DistributedDataParallel(network, bucket_cap_mb=variants.bucket_mb(variant))
        self.network, self._state = network, variants.apply(variant, self.model)
        parameters = list(self.model.parameters())
        self.optimizer = Masters(parameters, rate) if masters else torch.optim.Adam(parameters, lr=rate)

    def save(self, folder):
        state = {"model": self.network.state_dict(), "optimizer": self.optimizer.state_dict()}
        if isinstance(self._state, taut.torch.GradientState):
            state["taut"] = self._state.state_dict()
        torch.save(state, folder / f"rank{dist.get_rank()}.pt")

    def load(self, folder):
        state = torch.load(folder / f"rank{dist.get_rank()}.pt", weights_only=True)
        self.network.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        if "taut" in state:
            self._state.load_state_dict(state["taut"])

    def weights(self):
        return [parameter.detach() for parameter in self.network.parameters()]


class Shards:
    """A model of which every rank holds a part, in float32; with `masters` the gathered weights are bfloat16. Variants: plain, taut:BOUND."""

    def __init__(self, variant, network, rate, masters):
        mesh = init_device_mesh("cpu", (dist.get_world_size(),))
        policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32) if masters else MixedPrecisionPolicy()
        for layer in network.modules():
            if isinstance(layer, nn.TransformerEncoderLayer):
                fully_shard(layer, mesh=mesh, mp_policy=policy)
        self.model = self.network = fully_shard(network, mesh=mesh, mp_policy=policy)
        kind, _, bound = variant.partition(":")
        if kind == "taut":
            taut.torch.compress_sharded_gradients(self.model, float(bound or 0.25))
        elif kind != "plain":
            raise SystemExit(f"--fsdp: no variant {variant!r}; there are plain and taut:BOUND")
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=rate)

    def _states(self):
        model, optimizer = get_state_dict(self.model, self.optimizer)
        return {"model": model, "optimizer": optimizer}

    def save(self, folder):
        checkpoint.save(self._states(), checkpoint_id=folder)

    def load(self, folder):
        states = self._states()
        checkpoint.load(states, checkpoint_id=folder)
        set_state_dict(self.model, self.optimizer, model_state_dict=states["model"], optim_state_dict=states["optimizer"])

    def weights(self):
        """Returns the weights as the next forward pass gathers them."""
        sharded = [module for module in self.model.modules() if isinstance(module, FSDPModule)]
        for module in sharded:
            module.unshard()
        whole = [parameter.detach().clone() for parameter in self.model.parameters()]
        for module in sharded:
            module.reshard()
        return whole


def replicas_equal(model):
    """Returns true if the weights have the same bits on every rank."""
    mine = torch.cat([weight.reshape(-1) for weight in model.weights()])
    mine = mine.view(torch.int16 if mine.dtype == torch.bfloat16 else torch.int32).int()
    first = mine.clone()
    dist.broadcast(first, 0)
    differ = (mine != first).any().int()
    dist.all_reduce(differ)
    return differ.item() == 0


def folder_of(parent, variant):
    """Returns the folder of a variant's checkpoint, which rank 0 makes."""
    folder = Path(parent) / variant.replace(":", "_")
    if dist.get_rank() == 0:
        folder.mkdir(parents=True)
    dist.barrier()
    return folder
