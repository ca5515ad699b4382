#!/usr/bin/env python3
"""Brings the bfloat16 weights of a trainer (rank 0) to workers after each optimiser step, in several ways.

  torchrun --nproc-per-node=4 weights.py [--rate 1e-6] [--steps 4] [--megabytes 256] [--ways plain,taut] [--interface eth0]

The weights are those of a small transformer that AdamW trains on the help texts of Python, after --warm-up steps at a rate of
1e-3. With --megabytes they are random numbers of that size, with updates as AdamW makes them. Every way starts from the same old
weights on all workers. Rank 0 prints a row of JSON for each way: seconds of each step, bytes that the host of rank 0 sent by the
interface, and true if all ranks then had the same bits.
"""

import argparse
import json
import sys
import time
from pathlib import Path

import torch
import torch.distributed as dist
from torch.nn.functional import cross_entropy
from ways import WAYS

sys.path.append(str(Path(__file__).resolve().parents[2] / "bench/training"))
import tasks  # noqa: E402
from group import counter_of, join  # noqa: E402


class Trainer:
    """A transformer of 1.4 million weights, and its optimiser."""

    def __init__(self, warm_up, rate):
        torch.manual_seed(0)
        self._task, self._random = tasks.Text(small=False), torch.Generator().manual_seed(0)
        self._task.batch = 4
        self._model = tasks.Transformer(self._task.characters, width=192, layers=3)
        self._optimiser = torch.optim.AdamW(self._model.parameters(), lr=self._task.rate)
        for _ in range(warm_up):
            self.step()
        for group in self._optimiser.param_groups:
            group["lr"] = rate

    def step(self):
        text, wanted = self._task.samples(self._random)
        self._optimiser.zero_grad()
        cross_entropy(self._model(text), wanted).backward()
        self._optimiser.step()

    def weights(self):
        return torch.cat([parameter.detach().view(-1) for parameter in self._model.parameters()]).bfloat16()


class RandomWeights:
    """Random weights, and updates of 0.6 of the rate. The float32 weights behind them are drawn anew in each step, to save memory."""

    def __init__(self, megabytes, rate):
        self._random = torch.Generator().manual_seed(0)
        self._weights = torch.empty(megabytes * 2**20 // 2, dtype=torch.bfloat16)
        self._rate = rate
        for part in self._weights.split(1 << 22):
            part.copy_(self._normal(part, 0.02))

    def _normal(self, like, deviation):
        return torch.empty_like(like, dtype=torch.float32).normal_(0, deviation, generator=self._random)

    def step(self):
        for part in self._weights.split(1 << 22):
            words = part.float().view(torch.int32)
            words += torch.randint(1 - 2**15, 2**15, words.shape, dtype=torch.int32, generator=self._random)
            masters = words.view(torch.float32)
            part.copy_(masters.add_(self._normal(part, 0.6 * self._rate)))

    def weights(self):
        return self._weights


def words_of(weights):
    return weights.view(torch.int16).split(1 << 22)


def changed_share(new, old):
    return sum(int((one != other).sum()) for one, other in zip(words_of(new), words_of(old))) / new.numel()


def equal_everywhere(weights):
    """Returns true if all ranks have the bits of rank 0, by sums over all words and their places."""
    places = torch.arange(1, (1 << 22) + 1)
    sums = torch.stack([(part * places[: part.numel()]).sum() for part in words_of(weights)])
    wanted = sums.clone()
    dist.broadcast(wanted, 0)
    unequal = torch.tensor([int(not torch.equal(sums, wanted))])
    dist.all_reduce(unequal)
    return unequal.item() == 0


class Comparison:
    """The weights on one rank, and what was measured of each way."""

    def __init__(self, options, trainer):
        self.trainer, self.options = trainer, options
        count = torch.tensor([trainer.weights().numel() if trainer else 0])
        dist.broadcast(count, 0)
        self.old = trainer.weights().clone() if trainer else torch.empty(int(count), dtype=torch.bfloat16)
        dist.broadcast(self.old, 0)
        self.room = None if trainer else self.old.clone()
        self.rows = {way: {"seconds": [], "sent": [], "equal": True} for way in options.ways.split(",")}
        self.changed = []

    def step(self, sent_bytes, measured):
        if self.trainer:
            self.trainer.step()
            self.room = self.trainer.weights()
            self.changed.append(changed_share(self.room, self.old))
        for way, row in self.rows.items():
            if not self.trainer:
                self.room.copy_(self.old)
            dist.barrier()
            sent, start = sent_bytes(), time.perf_counter()
            WAYS[way](self.room, self.old, self.options.threads)
            dist.barrier()
            if measured:
                row["seconds"].append(round(time.perf_counter() - start, 4))
                row["sent"].append(sent_bytes() - sent)
            row["equal"] &= equal_everywhere(self.room)
        self.old.copy_(self.room)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rate", type=float, default=1e-6, help="learning rate")
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--warm-up", type=int, default=40, help="steps at a rate of 1e-3 before")
    parser.add_argument("--megabytes", type=int, default=0, help="size of random weights; 0: a transformer")
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--threads", type=int, default=1, help="that code on each rank")
    parser.add_argument("--interface", default="lo", help="network interface that is used, and counted")
    options = parser.parse_args()
    join(options.interface)
    torch.set_num_threads(1)
    trainer = None
    if dist.get_rank() == 0:
        trainer = RandomWeights(options.megabytes, options.rate) if options.megabytes else Trainer(options.warm_up, options.rate)
    comparison = Comparison(options, trainer)
    for step in range(options.steps + 1):  # the first one is not measured: Taut sends all weights
        comparison.step(counter_of(options.interface), measured=step > 0)
    if trainer:
        plain = comparison.rows.get("plain")
        for way, row in comparison.rows.items():
            about = {"weights": "random" if options.megabytes else "transformer", "bytes": comparison.old.nbytes, "rate": options.rate}
            about |= {"changed": round(sum(comparison.changed[1:]) / options.steps, 5), "ranks": dist.get_world_size(), "way": way}
            median, sent = sorted(row["seconds"])[options.steps // 2], sorted(row["sent"])[options.steps // 2]
            gain = {"speed": sorted(plain["seconds"])[options.steps // 2] / median} if plain else {}
            if plain and sent:
                gain["fewer_bytes"] = sorted(plain["sent"])[options.steps // 2] / sent
            print(json.dumps(about | {"median_s": median, "median_sent": sent} | gain | row), flush=True)
    equal = all(row["equal"] for row in comparison.rows.values())
    dist.destroy_process_group()
    return 0 if equal else 1


if __name__ == "__main__":
    raise SystemExit(main())
