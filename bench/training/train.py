#!/usr/bin/env python3
"""Trains the same network with each variant of DDP's communication, in alternation, on emulated hosts.

  train.py [--tasks transformer,cnn] [--steps 400] [--small] [--variants plain,fp16,taut:0.25]
  [--interface eth0] [--fsdp] [--masters] [--resume 200] [--width 288] [--seeds 3]

--fsdp shards the models by FSDP2 instead of DDP, --masters trains bfloat16 weights with float32 masters, and --resume ends each
variant after that step and continues it from its checkpoint in new objects. --width gives the networks of seeds.py, and with
--seeds a row has the losses of several seeds for weights and batches, as there.

Every variant has a model of its own with the same initial weights, and sees the same batches. The variants take
turns: CHUNK steps each. Rank 0 prints a row of JSON for each variant: the seconds of each step, the bytes that host 0 has sent by the interface,
the training losses, and the loss on held-out data at the end.
"""

import argparse
import json
import shutil
import tempfile
import time

import models
import spread_of_seeds as spread
import tasks
import torch
import torch.distributed as dist
import variants
from group import counter_of, join
from torch.nn.functional import cross_entropy

import taut

CHUNK = 10


class Run:
    """One variant's model, and what was measured of it."""

    def __init__(self, name, task, options, seed):
        self.name, self.task, self.options, self.seed = name, task, options, seed
        self.trained = self._new()
        self.random = torch.Generator().manual_seed(1000 * seed + dist.get_rank())
        self.seconds, self.losses, self.sent = [], [], 0

    def _new(self):
        torch.manual_seed(self.seed)
        kind = models.Shards if self.options.fsdp else models.Replicas
        return kind(self.name, self.task.model(), self.task.rate, self.options.masters)

    def resume(self):
        """Continues from a checkpoint, in new objects."""
        files = [tempfile.mkdtemp() if dist.get_rank() == 0 else None]
        dist.broadcast_object_list(files)
        folder = models.folder_of(files[0], self.name)
        self.trained.save(folder)
        dist.barrier()
        self.trained = self._new()
        self.trained.load(folder)
        dist.barrier()
        if dist.get_rank() == 0:
            shutil.rmtree(files[0])

    def chunk(self, steps, sent_bytes):
        dist.barrier()
        before = sent_bytes()
        for _ in range(steps):
            start = time.perf_counter()
            inputs, wanted = self.task.samples(self.random)
            self.trained.optimizer.zero_grad()
            loss = cross_entropy(self.trained.model(inputs), wanted)
            loss.backward()
            self.trained.optimizer.step()
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
            test_loss = cross_entropy(self.trained.network(inputs).float(), wanted).item()
        compressed = sorted(self.seconds[variants.WARM_UP :])
        return {
            "variant": self.name,
            "median_step_ms": 1e3 * compressed[len(compressed) // 2],
            "seconds": [round(step, 4) for step in self.seconds],
            "sent_bytes_per_step": self.sent / max(len(compressed), 1),
            "losses": [round(loss, 4) for loss in (losses / dist.get_world_size()).tolist()],
            "test_loss": round(test_loss, 5),
            "replicas_equal": models.replicas_equal(self.trained),
        }


def trained(name, options, names, sent_bytes, seed):
    """Returns a row for each of the variants, trained in alternation."""
    task = tasks.TASKS[name](options.small, options.width)
    runs = [Run(variant, task, options, seed) for variant in names]
    for first in range(0, options.steps, CHUNK):
        for run in runs:
            if first > 0 and first == options.resume:
                run.resume()
            run.chunk(min(CHUNK, options.steps - first), sent_bytes)
    parameters = sum(parameter.numel() for parameter in task.model().parameters())
    of_task = {"task": name, "parameters": parameters, "batch": task.batch, "steps": options.steps, "ranks": dist.get_world_size()}
    of_task |= {"fsdp": options.fsdp, "masters": options.masters, "resume": options.resume}
    rows = [run.result() for run in runs]
    return [of_task | row | {"speed": rows[0]["median_step_ms"] / row["median_step_ms"]} for row in rows]


def over_seeds(rows):
    """Returns one row of those of a variant with several seeds."""
    same = {key: value for key, value in rows[0].items() if key not in ("seconds", "speed", "median_step_ms")}
    columns = spread.over_seeds(*zip(*((row["test_loss"], row["sent_bytes_per_step"], row["losses"]) for row in rows)))
    columns |= spread.over_times([row["seconds"] for row in rows])
    return same | columns | {"replicas_equal": all(row["replicas_equal"] for row in rows)}


def measure(name, options, sent_bytes):
    """Yields a row for each variant."""
    names = options.variants.split(",")
    if not options.seeds:
        yield from trained(name, options, names, sent_bytes, 1)
    else:
        for rows in zip(*(trained(name, options, names, sent_bytes, seed) for seed in range(options.seeds))):
            yield over_seeds(rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tasks", default=",".join(tasks.TASKS))
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--small", action="store_true", help="small networks, for a trial")
    parser.add_argument("--variants", default=variants.USUAL)
    parser.add_argument("--interface", default="eth0")
    parser.add_argument("--fsdp", action="store_true", help="shards by FSDP2 instead of replicas by DDP")
    parser.add_argument("--masters", action="store_true", help="bfloat16 weights with float32 masters")
    parser.add_argument("--resume", type=int, default=0, help="step from which a checkpoint is continued")
    parser.add_argument("--width", type=int, default=0, help="width of the networks (0: that of the task)")
    parser.add_argument("--seeds", type=int, default=0, help="number of seeds (0: one, and the time of each step)")
    options = parser.parse_args()
    if options.resume % CHUNK:
        parser.error(f"--resume: give a multiple of {CHUNK}")
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
