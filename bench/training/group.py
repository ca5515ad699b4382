"""Process group of programs that measure: ranks from torchrun or mpiexec, and bytes that an interface has sent."""

import os
from datetime import timedelta
from pathlib import Path

import torch.distributed as dist

RANKS = {"RANK": ("PMI_RANK", "OMPI_COMM_WORLD_RANK"), "WORLD_SIZE": ("PMI_SIZE", "OMPI_COMM_WORLD_SIZE")}


def counter_of(interface):
    """Returns a function that returns the bytes sent by a network interface; always 0 where there is none."""
    path = Path("/sys/class/net") / interface / "statistics/tx_bytes"
    return (lambda: int(path.read_text())) if path.exists() else (lambda: 0)


def join(interface):
    """Joins the process group, by gloo over the interface."""
    for name, sources in RANKS.items():
        for source in sources:
            if source in os.environ:
                os.environ.setdefault(name, os.environ[source])
    if (Path("/sys/class/net") / interface).exists():
        os.environ.setdefault("GLOO_SOCKET_IFNAME", interface)
    dist.init_process_group("gloo", timeout=timedelta(minutes=5))
