"""Trains with rare communication (DiLoCo, Douillard et al., 2023), and compresses what is communicated.

    torchrun --nproc-per-node=4 diloco.py [--width 256] [--outer 8] [--inner 10] [--bound rel:1e-3]

Each rank takes `inner` steps by itself. Then all ranks average how far their weights have moved (an outer
gradient), within the bound, and take one outer step together. The program prints the time of each average,
plain and by Taut, and fails if the replicas differ or learn nothing. --width 9900 makes 100 million weights.
"""

import argparse
import os
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.functional import cross_entropy

import taut.torch

FEATURES, CLASSES, BATCH = 64, 10, 16


def network(width):
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(FEATURES, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, CLASSES))


def samples(random):
    """Returns random points and their classes under a fixed random network."""
    teacher = torch.randn(FEATURES, CLASSES, generator=torch.Generator().manual_seed(1))
    points = torch.randn(BATCH, FEATURES, generator=random)
    return points, (points @ teacher).argmax(1)


def inner_steps(model, optimizer, random, steps):
    """Takes steps without communication; returns their mean loss."""
    total = 0.0
    for _ in range(steps):
        points, classes = samples(random)
        optimizer.zero_grad()
        loss = cross_entropy(model(points), classes)
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total / steps


def seconds_of(action):
    dist.barrier()
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def seconds_of_plain_sum(values):
    return seconds_of(lambda: dist.all_reduce(values))


def train(options):
    model, random = network(options.width), torch.Generator().manual_seed(100 + dist.get_rank())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    shared = nn.utils.parameters_to_vector(model.parameters()).detach()  # the weights after the last outer step
    momentum, losses = torch.zeros_like(shared), []
    for outer in range(options.outer):
        losses.append(inner_steps(model, optimizer, random, options.inner))
        moved = shared - nn.utils.parameters_to_vector(model.parameters()).detach()
        plain = seconds_of_plain_sum(moved.clone())
        coded = seconds_of(lambda: taut.torch.all_reduce(moved, options.bound, op=dist.ReduceOp.AVG))  # noqa: B023
        momentum.mul_(0.9).add_(moved)
        shared.sub_(moved, alpha=0.7).sub_(momentum, alpha=0.63)  # Nesterov's momentum
        nn.utils.vector_to_parameters(shared.clone(), model.parameters())
        if dist.get_rank() == 0:
            print(f"outer step {outer}: loss {losses[-1]:.3f}, average of {len(shared) / 1e6:.1f} M weights: "
                  f"plain {plain:.3f} s, Taut {coded:.3f} s", flush=True)  # fmt: skip
    return shared, losses


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--outer", type=int, default=8)
    parser.add_argument("--inner", type=int, default=10)
    parser.add_argument("--bound", default="rel:1e-3")
    options = parser.parse_args()
    if "PMI_RANK" in os.environ:  # under mpiexec of MPICH
        os.environ.update(RANK=os.environ["PMI_RANK"], WORLD_SIZE=os.environ["PMI_SIZE"])
    dist.init_process_group("gloo")
    shared, losses = train(options)
    first = shared.clone()
    dist.broadcast(first, 0)
    equal, learnt = torch.equal(first, shared), losses[-1] < losses[0]
    dist.destroy_process_group()
    return 0 if equal and learnt else 1


if __name__ == "__main__":
    raise SystemExit(main())
