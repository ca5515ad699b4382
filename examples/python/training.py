"""Trains a small network with compressed gradients: plain MPI and Taut with and without error feedback.

    mpiexec -n 4 python training.py [--steps 400] [--bound 4e-2] [--out training-out]

Each rank has its own data; one Allreduce a step gives all ranks the mean of the gradients. A rank adds the
error of coding its gradient to its next gradient (error feedback: Seide et al., "1-bit stochastic gradient
descent", Interspeech 2014; Karimireddy et al., "Error feedback fixes SignSGD", ICML 2019). Rank 0 writes
the losses to training.json; the program fails if Taut with feedback learns less than plain MPI.
"""

import argparse
import json
from pathlib import Path

import numpy as np
from mpi4py import MPI

import taut

INPUTS, HIDDEN, CLASSES, BATCH = 32, 256, 10, 64
SHAPES = [(INPUTS, HIDDEN), (HIDDEN,), (HIDDEN, HIDDEN), (HIDDEN,), (HIDDEN, CLASSES), (CLASSES,)]


def split(flat):
    """Returns the weights of the layers, as views of one array."""
    parts, at = [], 0
    for shape in SHAPES:
        size = int(np.prod(shape))
        parts.append(flat[at : at + size].reshape(shape))
        at += size
    return parts


def first_weights():
    """Returns the initial weights, the same on every rank."""
    random = np.random.default_rng(0)
    weights = np.zeros(sum(int(np.prod(shape)) for shape in SHAPES), np.float32)
    for part in split(weights)[::2]:
        part[...] = random.normal(scale=np.sqrt(2 / part.shape[0]), size=part.shape)
    return weights


def samples(random, count):
    """Returns random points and their classes under a fixed random network."""
    teacher = np.random.default_rng(1)
    a, b = teacher.normal(size=(INPUTS, 24)), teacher.normal(size=(24, CLASSES))
    x = random.normal(size=(count, INPUTS))
    return x.astype(np.float32), np.argmax(np.tanh(x @ a / 3) @ b, axis=1)


def loss_and_gradient(weights, x, labels):
    """Returns the cross entropy of a network of two hidden layers, and its derivative by all weights."""
    w1, b1, w2, b2, w3, b3 = split(weights)
    h1 = np.maximum(x @ w1 + b1, 0)
    h2 = np.maximum(h1 @ w2 + b2, 0)
    scores = h2 @ w3 + b3
    scores -= scores.max(axis=1, keepdims=True)
    probabilities = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    rows = np.arange(len(labels))
    loss = -np.log(probabilities[rows, labels] + 1e-12).mean()

    gradient = np.empty_like(weights)
    g1, c1, g2, c2, g3, c3 = split(gradient)
    delta = probabilities
    delta[rows, labels] -= 1
    delta /= len(labels)
    g3[...], c3[...] = h2.T @ delta, delta.sum(axis=0)
    delta = (delta @ w3.T) * (h2 > 0)
    g2[...], c2[...] = h1.T @ delta, delta.sum(axis=0)
    delta = (delta @ w2.T) * (h1 > 0)
    g1[...], c1[...] = x.T @ delta, delta.sum(axis=0)
    return float(loss), gradient


def train(mean_of, steps):
    """Trains and returns the losses over all ranks' batches, step by step; `mean_of` computes the mean of the
    ranks' gradients."""
    random = np.random.default_rng(100 + MPI.COMM_WORLD.rank)
    weights, momentum, losses = first_weights(), 0.0, []
    for _ in range(steps):
        loss, gradient = loss_and_gradient(weights, *samples(random, BATCH))
        losses.append(MPI.COMM_WORLD.allreduce(loss) / MPI.COMM_WORLD.size)
        momentum = 0.9 * momentum + mean_of(gradient)
        weights -= 0.02 * momentum
    return losses


def plain_mean(gradient):
    total = np.empty_like(gradient)
    MPI.COMM_WORLD.Allreduce(gradient, total)
    return total / MPI.COMM_WORLD.size


class CompressedMean:
    """Computes the mean over the ranks, with each rank's gradient coded within the bound."""

    def __init__(self, bound, feedback):
        self.coding = f"abs:{bound},codec=planes"
        self.comm = taut.Comm(MPI.COMM_WORLD.Dup(), self.coding, min_bytes=0, when="always")
        self.lost = 0.0
        self.feedback = feedback

    def __call__(self, gradient):
        wanted = gradient + self.lost
        mean = np.empty_like(gradient)
        self.comm.Allreduce(wanted, mean, op=taut.AVG)
        if self.feedback:  # encode and decode by the codec alone, to get the coding error of these values
            self.lost = wanted - taut.decompress(taut.compress(wanted, self.coding))
        return mean

    def ratio(self):
        stats = self.comm.stats()
        return stats["carried_bytes"] / stats["sent_bytes"] if stats["sent_bytes"] else 1.0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--bound", type=float, default=4e-2, help="of each value of a gradient")
    parser.add_argument("--out", type=Path, default=Path("training-out"))
    options = parser.parse_args()

    with_feedback, without = CompressedMean(options.bound, True), CompressedMean(options.bound, False)
    curves = {"plain MPI": train(plain_mean, options.steps)}
    curves["Taut, error feedback"] = train(with_feedback, options.steps)
    curves["Taut, no feedback"] = train(without, options.steps)
    last = {name: float(np.mean(losses[-20:])) for name, losses in curves.items()}
    if MPI.COMM_WORLD.rank == 0:
        ratio = with_feedback.ratio()
        for name, loss in last.items():
            print(f"{name:22} loss {curves[name][0]:.3f} -> {loss:.3f}")
        print(f"a rank sends 1/{ratio:.1f} of the bytes (with feedback, bound {options.bound:g})")
        options.out.mkdir(parents=True, exist_ok=True)
        rows = [{"name": name, "losses": [round(loss, 4) for loss in losses]} for name, losses in curves.items()]
        (options.out / "training.json").write_text(json.dumps({"ratio": ratio, "rows": rows}))
    return 0 if last["Taut, error feedback"] <= 1.1 * last["plain MPI"] + 0.02 else 1


if __name__ == "__main__":
    raise SystemExit(main())
