"""Rounds values by block-scaled number formats: formats.py [COUNT]. Prints a row of JSON for each format, with the errors in percent."""

import json
import sys

import numpy as np
from sklearn.datasets import load_digits

COUNT = int(sys.argv[1]) if len(sys.argv) > 1 else 1 << 20


def gradient(random):
    """Returns the gradient of the second layer of a network after 20 steps on digits."""
    images, labels = load_digits(return_X_y=True)
    images, one_hot = images / 16.0, np.eye(10)[labels]
    layers = [random.standard_normal((64, 2048)) * 0.12, random.standard_normal((2048, 512)) * 0.03,
              random.standard_normal((512, 10)) * 0.06]
    for _ in range(20):
        batch = random.integers(0, len(images), 64)
        inputs = [images[batch]]
        for weights in layers[:2]:
            inputs.append(np.maximum(inputs[-1] @ weights, 0))
        logits = inputs[2] @ layers[2]
        odds = np.exp(logits - logits.max(1, keepdims=True))
        error = (odds / odds.sum(1, keepdims=True) - one_hot[batch]) / 64
        gradients = []
        for i in (2, 1, 0):
            gradients.insert(0, inputs[i].T @ error)
            error = (error @ layers[i].T) * (inputs[i] > 0)
        layers = [weights - 0.1 * g for weights, g in zip(layers, gradients)]
    return gradients[1].ravel()


def data():
    random = np.random.default_rng(1)
    yield "g", random.standard_normal(COUNT)
    yield "l", random.laplace(size=COUNT)
    yield "t", random.standard_t(3, COUNT)
    yield "r", gradient(random)
    z, y, x = np.meshgrid(*[np.linspace(0, 1, 101)] * 3, indexing="ij")
    waves = np.sin(9 * x + 3 * y) * np.cos(7 * z) + 0.3 * np.sin(31 * y * z)
    yield "f", (waves + 0.02 * random.standard_normal(x.shape)).ravel()


def integers(bits):
    return lambda x: np.round(x), (1 << (bits - 1)) - 1


def minifloats(exponent_bits, mantissa_bits, most):
    def rounded(x):
        least = 2 - (1 << (exponent_bits - 1))
        exponent = np.maximum(np.floor(np.log2(np.maximum(np.abs(x), 1e-300))), least)
        unit = 2.0 ** (exponent - mantissa_bits)
        return np.round(x / unit) * unit

    return rounded, most


def bfloat16(greatest, most):
    bits = (greatest / most).astype(np.float32).view(np.uint32) + np.uint32(0xFFFF)
    return (bits & np.uint32(0xFFFF0000)).view(np.float32).astype(float)


def power_of_two(greatest, most):
    """Returns the least power of two that reaches the greatest value, or misses it by less than half an integer."""
    return 2.0 ** np.ceil(np.log2(greatest / (most + 0.4999)))


def mx(greatest, most):
    """Returns the power of two of the OCP's MX formats, by which the greatest values are cut."""
    return 2.0 ** (np.floor(np.log2(greatest)) - np.floor(np.log2(most)))


def real(greatest, most):
    return greatest / most


FORMATS = [(f"{n} {name}, {scale.__name__} scale", bits, n, extra, scale, of) for bits, n, extra, scale, name, of in [
    (8, 64, 16, bfloat16, "integers", integers(8)), (8, 32, 16, bfloat16, "integers", integers(8)),
    (8, 32, 8, power_of_two, "integers", integers(8)), (8, 32, 8, mx, "e4m3", minifloats(4, 3, 448)),
    (8, 256, 32, real, "integers", integers(8)), (8, None, 0, real, "e4m3", minifloats(4, 3, 448)),
    (6, 64, 16, bfloat16, "integers", integers(6)), (6, 32, 8, mx, "e2m3", minifloats(2, 3, 7.5)),
    (6, 64, 16, bfloat16, "e2m3", minifloats(2, 3, 7.5)),
    (4, 64, 16, bfloat16, "integers", integers(4)), (4, 32, 8, mx, "e2m1", minifloats(2, 1, 6)),
    (4, 64, 16, bfloat16, "e2m1", minifloats(2, 1, 6))]]


def error(x, n, scale, rounded, most):
    """Returns the rms of the errors by the rms of the values."""
    x = x[: len(x) // n * n].reshape(-1, n)
    by = scale(np.maximum(np.abs(x).max(1, keepdims=True), 1e-30), most)
    return np.sqrt(np.mean((x - np.clip(rounded(x / by), -most, most) * by) ** 2) / np.mean(x**2))


def main():
    fields = dict(data())
    for name, bits, n, extra, scale, (rounded, most) in FORMATS:
        errors = {field: round(100 * float(error(x, n or len(x), scale, rounded, most)), 3) for field, x in fields.items()}
        print(json.dumps({"bits": round(bits + extra / n, 3) if n else bits, "format": name} | errors), flush=True)


if __name__ == "__main__":
    main()
