#!/usr/bin/env python3
"""Trains the same network with each variant of DDP's communication, in alternation, on emulated hosts.

  train.py [--tasks transformer,cnn] [--steps 400] [--small] [--variants plain,fp16,taut:0.25]
  [--interface eth0]

Every variant has a model of its own with the same initial weights, and sees the same batches. The variants take
turns: CHUNK steps each. Rank 0 prints a row of JSON for each variant: the seconds of each step, the bytes that host 0 has sent by the interface,
the training losses, and the loss on held-out data at the end.
"""

import argparse
import json
import time

import tasks
import torch
import torch.distributed as dist
import variants
from group import counter_of, join
from torch.nn.functional import cross_entropy
from torch.nn.parallel import DistributedDataParallel

import taut

CHUNK = 10


class Run:
    """One variant's model, and what was measured of it."""

    def __init__(self, name, task):
        torch.manual_seed(0)
        self.name, self.task = name, task
        self.model = DistributedDataParallel(task.model(), bucket_cap_mb=variants.bucket_mb(name))
        self.state = variants.apply(name, self.model)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=task.rate)
        self.random = torch.Generator().manual_seed(1000 + dist.get_rank())
        self.seconds, self.losses, self.sent = [], [], 0

    def chunk(self, steps, sent_bytes):
        dist.barrier()
        before = sent_bytes()
        for _ in range(steps):
            start = time.perf_counter()
            inputs, wanted = self.task.samples(self.random)
            self.optimizer.zero_grad()
            loss = cross_entropy(self.model(inputs), wanted)
            loss.backward()
            self.optimizer.step()
            self.seconds.append(time.perf_counter() - start)
            self.losses.append(loss.detach())
        dist.barrier()
        if len(self.seconds) > variants.WARM_UP:
            self.sent += sent_bytes() - before

    def result(self):
        """Returns what was measured, with losses averaged over the ranks."""
        losses = torch.stack(self.losses)
        dist.all_reduce(losses)
        with torch.no_grad():
            inputs, wanted = self.task.test()
            test_loss = cross_entropy(self.model.module(inputs), wanted).item()
        compressed = sorted(self.seconds[variants.WARM_UP :])
        return {
            "variant": self.name,
            "median_step_ms": 1e3 * compressed[len(compressed) // 2],
            "seconds": [round(step, 4) for step in self.seconds],
            "sent_bytes_per_step": self.sent / max(len(compressed), 1),
            "losses": [round(loss, 4) for loss in (losses / dist.get_world_size()).tolist()],
            "test_loss": round(test_loss, 5),
            "replicas_equal": replicas_equal(self.model),
        }


def replicas_equal(model):
    mine = torch.cat([parameter.detach().view(-1) for parameter in model.parameters()]).view(torch.int32)
    first = mine.clone()
    dist.broadcast(first, 0)
    differ = (mine != first).any().int()
    dist.all_reduce(differ)
    return differ.item() == 0


def measure(name, options, sent_bytes):
    task = tasks.TASKS[name](options.small)
    runs = [Run(variant, task) for variant in options.variants.split(",")]
    for first in range(0, options.steps, CHUNK):
        for run in runs:
            run.chunk(min(CHUNK, options.steps - first), sent_bytes)
    parameters = sum(parameter.numel() for parameter in runs[0].model.parameters())
    of_task = {"task": name, "parameters": parameters, "batch": task.batch, "steps": options.steps, "ranks": dist.get_world_size()}
    rows = [run.result() for run in runs]
    return [of_task | row | {"speed": rows[0]["median_step_ms"] / row["median_step_ms"]} for row in rows]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tasks", default=",".join(tasks.TASKS))
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--small", action="store_true", help="small networks, for a trial")
    parser.add_argument("--variants", default=variants.USUAL)
    parser.add_argument("--interface", default="eth0")
    options = parser.parse_args()
    if unknown := [name for name in options.tasks.split(",") if name not in tasks.TASKS]:
        parser.error(f"--tasks: no task {unknown[0]!r}; there are {', '.join(tasks.TASKS)}")
    torch.set_num_threads(1)
    join(options.interface)
    for name in options.tasks.split(","):
        for row in measure(name, options, counter_of(options.interface)):
            if dist.get_rank() == 0:
                print(json.dumps(row | {"torch": torch.__version__, "taut": taut.__version__}), flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
