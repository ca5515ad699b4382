#!/usr/bin/env python3
"""Trains a small transformer with several seeds, by each way to average gradients; the ranks are played in one process.

  seeds.py [--seeds 3] [--steps 150] [--ranks 2] [--width 128] [--variants plain,bf16,taut:0.25]

A variant taut:BOUND[:bucket][:plain] codes one bucket as taut.torch's hook does, relative to each parameter or to the bucket,
with error feedback or, with `plain`, without. Prints a row of JSON for each variant: held-out losses and bytes by seed, and the
loss curve averaged over the seeds.
"""

import argparse
import json

import spread_of_seeds as spread
import tasks
import torch
from torch.nn.functional import cross_entropy

from taut.torch import _frames
from taut.torch._scales import scales_of

HOST, WARM_UP = torch.device("cpu"), 10
USUAL = "plain,bf16,powersgd:4,taut:0.1,taut:0.25,taut:1,taut:0.1:plain,taut:0.25:plain,taut:1:plain,taut:0.25:bucket,taut:1:bucket"


class Plain:
    """Exact average of the ranks' gradients."""

    def __init__(self, sizes, ranks, *_):
        self.sizes, self.sent = sizes, 0

    def average(self, rows, step):
        self.sent += 4 * rows.shape[1]
        return rows.mean(0)


class Bf16(Plain):
    """Average of gradients rounded to bfloat16, as PyTorch's hook makes it."""

    def average(self, rows, step):
        self.sent += 2 * rows.shape[1]
        return (rows / len(rows)).bfloat16().sum(0).float()


class PowerSGD(Plain):
    """Average by matrices of low rank with error feedback, as PyTorch's hook makes it."""

    def __init__(self, sizes, ranks, shapes, number="4"):
        super().__init__(sizes, ranks)
        self.shapes, self.errors, self.rank = shapes, torch.zeros(ranks, sum(sizes)), int(number)
        self.bases = [torch.randn(shape[-1], self.rank) for shape in shapes]

    def average(self, rows, step):
        if step < WARM_UP:
            return super().average(rows, step)
        rows = rows + self.errors
        mean = rows.mean(0)
        for i, (part, shape) in enumerate(zip(mean.split(self.sizes), self.shapes)):
            smaller = self.rank * sum(shape) if len(shape) == 2 else part.numel()
            if smaller < part.numel():
                matrix = part.view(shape)
                left, _ = torch.linalg.qr(matrix @ self.bases[i])
                self.bases[i] = matrix.T @ left
                matrix.copy_(left @ self.bases[i].T)
            self.sent += 4 * min(smaller, part.numel())
        self.errors = rows - mean
        return mean


class Taut(Plain):
    """Average within a bound, by frames, as taut.torch's hook makes it."""

    def __init__(self, sizes, ranks, _, number, *words):
        super().__init__(sizes, ranks)
        self.bound, self.by_bucket, self.feedback = float(number), "bucket" in words, "plain" not in words
        self.residuals, self.squares = torch.zeros(ranks, sum(sizes)), [0.0] * len(sizes)

    def average(self, rows, step):
        squares = self.squares
        if self.by_bucket:
            squares = [sum(square * size for square, size in zip(squares, self.sizes)) / sum(self.sizes)] * len(squares)
        scales = scales_of(self.sizes, squares, self.bound) if step >= WARM_UP else None
        mean = self.coded(rows + self.residuals, scales) if scales else super().average(rows, step)
        self.squares = [float(part.double().square().mean()) or old for part, old in zip(mean.split(self.sizes), self.squares)]
        return mean

    def coded(self, rows, scales):
        frames, back = [], torch.empty_like(rows[0])
        for row, residual in zip(rows, self.residuals):
            scales.apply(row)
            frames.append(_frames.encode(row, scales.coding, HOST))
            if self.feedback:
                _frames.decode(frames[-1], back)
                residual.copy_(row - back)
                scales.remove(residual)
        self.sent += frames[0].numel()
        _frames.decode(_frames.add(frames, back), back)
        scales.remove(back, len(rows))
        return back


KINDS = {"plain": Plain, "bf16": Bf16, "powersgd": PowerSGD, "taut": Taut}


def train(variant, seed, options):
    """Returns the held-out loss, the bytes of a rank's gradients in a step after the warm-up, and the training losses."""
    task = tasks.Text(True, options.width)
    task.batch = options.batch
    torch.manual_seed(seed)
    model = task.model()
    optimizer = torch.optim.Adam(model.parameters(), lr=task.rate)
    shapes = [parameter.shape for parameter in model.parameters()]
    kind, *words = variant.split(":")
    communication = KINDS[kind]([shape.numel() for shape in shapes], options.ranks, shapes, *words)
    random, losses = [torch.Generator().manual_seed(1000 * seed + rank) for rank in range(options.ranks)], []
    for step in range(options.steps):
        if step == WARM_UP:
            communication.sent = 0
        rows, loss_of_step = [], 0.0
        for rank in range(options.ranks):
            inputs, wanted = task.samples(random[rank])
            loss = cross_entropy(model(inputs), wanted)
            rows.append(torch.cat([part.view(-1) for part in torch.autograd.grad(loss, list(model.parameters()))]))
            loss_of_step += loss.item() / options.ranks
        mean = communication.average(torch.stack(rows), step)
        for parameter, part in zip(model.parameters(), mean.split(communication.sizes)):
            parameter.grad = part.view_as(parameter).clone()
        optimizer.step()
        losses.append(loss_of_step)
    with torch.no_grad():
        inputs, wanted = task.test()
        return cross_entropy(model(inputs), wanted).item(), communication.sent / max(options.steps - WARM_UP, 1), losses


def row_of(variant, options):
    runs = [train(variant, seed, options) for seed in range(options.seeds)]
    of_run = {"task": "transformer", "variant": variant, "ranks": options.ranks, "width": options.width, "steps": options.steps}
    return of_run | spread.over_seeds(*zip(*runs))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, value in (("seeds", 3), ("steps", 150), ("ranks", 2), ("width", 128), ("batch", 4)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--variants", default=USUAL)
    options = parser.parse_args()
    torch.set_num_threads(1)
    for variant in options.variants.split(","):
        print(json.dumps(row_of(variant, options)), flush=True)


if __name__ == "__main__":
    main()
