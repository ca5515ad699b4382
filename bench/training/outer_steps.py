#!/usr/bin/env python3
"""Trains a small transformer with rare communication (DiLoCo) and several seeds; the ranks are played in one process.

  outer_steps.py [--seeds 3] [--steps 300] [--ranks 2] [--width 128] [--every 20] [--variants diloco:1,diloco:4:block=4]

Each rank takes steps of Adam by itself. After every `every` of them the ranks average how far their weights have moved, and take an
outer step by Nesterov's momentum. A variant diloco:FRAGMENTS[:CODING[:feedback]] does so for one fragment of the weights after the
other, at steps that are evenly apart, in frames of a coding of Taut, with the error of a frame added to the next one of its fragment.
Prints a row of JSON for each variant, as seeds.py does.
"""

import argparse
import json

import spread_of_seeds as spread
import tasks
import torch
from torch.nn.functional import cross_entropy

from taut.torch import _frames

HOST, OUTER_RATE, MOMENTUM = torch.device("cpu"), 0.7, 0.9
USUAL = "diloco:1,diloco:4,diloco:4:block=4,diloco:4:block=4:feedback"


def row_of(parameters):
    return torch.cat([parameter.detach().reshape(-1) for parameter in parameters])


def write(parameters, row):
    for parameter, part in zip(parameters, row.split([parameter.numel() for parameter in parameters])):
        parameter.detach().copy_(part.view_as(parameter))


class Fragment:
    """Weights that have an outer step together, on all ranks."""

    def __init__(self, of_ranks, coding, feedback):
        self._of_ranks, self._coding, self._feedback = of_ranks, coding.replace("=", ":"), feedback
        self.shared = row_of(of_ranks[0])
        self._momentum, self.sent = torch.zeros_like(self.shared), 0
        self._residuals = [torch.zeros_like(self.shared) for _ in of_ranks]

    def outer_step(self):
        moved = [self._arrived(self.shared - row_of(own), residual) for own, residual in zip(self._of_ranks, self._residuals)]
        mean = torch.stack(moved).mean(0)
        self._momentum.mul_(MOMENTUM).add_(mean)
        self.shared.sub_(mean + MOMENTUM * self._momentum, alpha=OUTER_RATE)
        for own in self._of_ranks:
            write(own, self.shared)

    def _arrived(self, moved, residual):
        """Returns what the other ranks get."""
        if not self._coding:
            self.sent += moved.nbytes / len(self._of_ranks)
            return moved
        moved += residual
        frame, arrived = _frames.encode(moved, self._coding, HOST), torch.empty_like(moved)
        _frames.decode(frame, arrived)
        self.sent += frame.numel() / len(self._of_ranks)
        if self._feedback:
            residual.copy_(moved - arrived)
        return arrived


def fragments_of(models, number, coding, feedback):
    """Returns fragments of about the same size, each of consecutive parameters."""
    parameters = [list(model.parameters()) for model in models]
    total = sum(parameter.numel() for parameter in parameters[0])
    groups, before = [[] for _ in range(number)], 0
    for i, parameter in enumerate(parameters[0]):
        groups[min(number - 1, (before + parameter.numel() // 2) * number // total)].append(i)
        before += parameter.numel()
    return [Fragment([[own[i] for i in group] for own in parameters], coding, feedback) for group in groups if group]


def train(variant, seed, options):
    """Returns the held-out loss of the shared weights, the bytes that a rank sends in a step in the mean, and the training losses."""
    task = tasks.Text(True, options.width)
    models = []
    for _ in range(options.ranks):
        torch.manual_seed(seed)
        models.append(task.model())
    optimizers = [torch.optim.Adam(model.parameters(), lr=task.rate) for model in models]
    _, number, coding, *more = [*variant.split(":"), "", ""][: max(4, variant.count(":") + 1)]
    fragments = fragments_of(models, int(number), coding, "feedback" in more)
    random, losses = [torch.Generator().manual_seed(1000 * seed + rank) for rank in range(options.ranks)], []
    for step in range(1, options.steps + 1):
        losses.append(0.0)
        for model, optimizer, generator in zip(models, optimizers, random):
            inputs, wanted = task.samples(generator)
            optimizer.zero_grad()
            loss = cross_entropy(model(inputs), wanted)
            loss.backward()
            optimizer.step()
            losses[-1] += loss.item() / options.ranks
        for i, fragment in enumerate(fragments):
            if step == options.steps or (step + i * options.every // len(fragments)) % options.every == 0:
                fragment.outer_step()
    with torch.no_grad():
        inputs, wanted = task.test()
        sent = sum(fragment.sent for fragment in fragments) / options.steps
        return cross_entropy(models[0](inputs), wanted).item(), sent, losses


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, value in (("seeds", 3), ("steps", 300), ("ranks", 2), ("width", 128), ("every", 20)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--variants", default=USUAL)
    options = parser.parse_args()
    torch.set_num_threads(1)
    for variant in options.variants.split(","):
        runs = [train(variant, seed, options) for seed in range(options.seeds)]
        of_run = {"task": "transformer", "variant": variant, "ranks": options.ranks, "width": options.width}
        of_run |= {"steps": options.steps, "every": options.every}
        print(json.dumps(of_run | spread.over_seeds(*zip(*runs))), flush=True)


if __name__ == "__main__":
    main()
