"""Creation of groups of the backend `taut`: their rules, and the groups of gloo and NCCL that they wrap."""

import os
from typing import Any, Optional

import torch
import torch.distributed as dist

from .. import _core
from ._backend import TautGroup, type_of

_rules: Optional[str] = None  # set by set_rules; None: those of the environment


def set_rules(rules: Optional[str]) -> None:
    """Sets the rules of the groups that are made from now on. None: those in ``TAUT_RULES`` and ``TAUT_CONFIG``.

    Parameters
    ----------
    rules
        Rules in one line, as in ``TAUT_RULES``: ``"Allreduce comm=name:dp : abs:1e-4 ; Allgather : lossless"``. Rank 0 of a
        group decides for all its ranks.
    """
    global _rules
    _rules = None if rules is None else _core.rules_text(rules, "")


def _agreed_rules(store: dist.Store, rank: int) -> str:
    """Returns the rules of rank 0, on all ranks of a new group."""
    if rank == 0:
        of_environment = os.environ.get("TAUT_RULES", ""), os.environ.get("TAUT_CONFIG", "")
        store.set("taut_rules", _core.rules_text(*of_environment) if _rules is None else _rules)
    return store.get("taut_rules").decode()


def _new_gloo(options: Any) -> Any:
    store = dist.PrefixStore("cpu/", options.store)
    made = dist.ProcessGroupGloo(store, options.group_rank, options.group_size, timeout=options.timeout)
    made.options.global_ranks_in_group, made.options.group_name = options.global_ranks_in_group, options.group_id
    return made


def _new_nccl(options: Any, given: Any) -> Any:
    """Returns a backend of NCCL, which is split from that of all ranks where PyTorch would do so: ranks outside take part."""
    settings = given if given is not None else dist.ProcessGroupNCCL.Options()
    settings._timeout = options.timeout
    settings.global_ranks_in_group, settings.group_name = options.global_ranks_in_group, options.group_id
    world = dist.group.WORLD
    source = dist.distributed_c10d._get_split_source(world) if world is not None and world.bound_device_id else None
    if source is not None:
        settings.split_from = source
        settings.split_color = dist.distributed_c10d._process_group_color(options.global_ranks_in_group)
    store = dist.PrefixStore("cuda/", options.store)
    return dist.ProcessGroupNCCL(store, options.group_rank, options.group_size, settings)


def _new_group(options: Any, given: Any) -> TautGroup:
    """Makes a group for torch.distributed: over gloo, and over NCCL for tensors on GPUs where there is NCCL."""
    inner = dist.ProcessGroup(options.store, options.group_rank, options.group_size)
    gloo = _new_gloo(options)
    has_nccl = dist.is_nccl_available() and torch.cuda.is_available()
    for device, backend in (("cpu", gloo), ("cuda", _new_nccl(options, given) if has_nccl else gloo)):
        backend._set_sequence_number_for_group()
        inner._register_backend(torch.device(device), type_of(backend), backend)
    return TautGroup(inner, _agreed_rules(options.store, options.group_rank))


def register() -> None:
    """Makes the backend known to torch.distributed."""
    dist.Backend.register_backend("taut", _new_group, extended_api=True, devices=["cpu", "cuda"])
