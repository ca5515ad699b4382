#!/usr/bin/env python3
"""Prints the relative errors of one averaged gradient by parameter, under bounds relative to the bucket and to each parameter.

A small transformer has trained for 40 steps; two ranks are played in one process. Error: norm of the error by norm of the gradient.
"""

import tasks
import torch
from torch.nn.functional import cross_entropy

from taut.torch import _frames
from taut.torch._scales import scales_of

HOST, RANKS, STEPS = torch.device("cpu"), 2, 40


def gradient(model, task, random):
    inputs, wanted = task.samples(random)
    parts = torch.autograd.grad(cross_entropy(model(inputs), wanted), list(model.parameters()))
    return torch.cat([part.view(-1) for part in parts])


def coded(rows, scales):
    """Returns the mean of rows that are coded, and the bytes of a frame."""
    frames, mean = [], torch.empty_like(rows[0])
    for row in rows:
        values = row.clone()
        scales.apply(values)
        frames.append(_frames.encode(values, scales.coding, HOST))
    _frames.decode(_frames.add(frames, mean), mean)
    scales.remove(mean, len(rows))
    return mean, frames[0].numel()


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    task = tasks.Text(True)
    task.batch = 4
    model, random = tasks.Transformer(task.characters, 128, 2), torch.Generator().manual_seed(1)
    optimizer, sizes = torch.optim.Adam(model.parameters(), lr=task.rate), [part.numel() for part in model.parameters()]
    for _ in range(STEPS):
        before = sum(gradient(model, task, random) for _ in range(RANKS)) / RANKS
        for parameter, part in zip(model.parameters(), before.split(sizes)):
            parameter.grad = part.view_as(parameter).clone()
        optimizer.step()
    rows = [gradient(model, task, random) for _ in range(RANKS)]
    exact = sum(rows) / RANKS
    squares = [float(part.double().square().mean()) for part in before.split(sizes)]
    of_bucket = [float(before.double().square().mean())] * len(sizes)
    for bound in (0.05, 0.25, 1.0):
        for name, known in (("bucket", of_bucket), ("parameter", squares)):
            mean, sent = coded(rows, scales_of(sizes, known, bound))
            errors = sorted(float((a - b).norm() / b.norm()) for a, b in zip(mean.split(sizes), exact.split(sizes)))
            figures = f"{100 * errors[0]:.1f} % to {100 * errors[-1]:.1f} %, median {100 * errors[len(errors) // 2]:.1f} %"
            print(f"bound {bound:g} of {name}: {8 * sent / len(exact):.2f} bits a value, errors {figures}")


if __name__ == "__main__":
    main()
