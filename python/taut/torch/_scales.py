"""Scales of parameters: powers of two that bring the gradients in a bucket to one size, which one absolute bound serves."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Optional

import torch

_GREATEST = 60  # exponent


@dataclass(frozen=True)
class Scales:
    """Factors of the parameters in a row of values, and the bound of the products. Powers of two round no value.

    `apply` multiplies each row of a tensor, `remove` divides it.
    """

    sizes: Sequence[int]  # number of values of each parameter
    factors: Sequence[float]
    bound: float

    @property
    def coding(self) -> str:
        return f"abs:{self.bound!r},codec=planes,predictor=none"

    def apply(self, values: torch.Tensor) -> None:
        for part, factor in zip(values.split(list(self.sizes), -1), self.factors):
            if factor != 1:
                part *= factor

    def remove(self, values: torch.Tensor, also: float = 1.0) -> None:
        """`also`: another number by which the values are divided."""
        for part, factor in zip(values.split(list(self.sizes), -1), self.factors):
            if factor * also != 1:
                part /= factor * also


def scales_of(sizes: Sequence[int], mean_squares: Sequence[float], bound: float) -> Optional[Scales]:
    """Returns the scales by which each parameter's error is at most `bound` times its RMS; nothing if no RMS is known.

    An RMS below 2^-60 of the greatest counts as this one; so does 0: that of a parameter that had no gradients yet.
    """
    sizes_of_values = [math.sqrt(square) for square in mean_squares]
    greatest = max(sizes_of_values, default=0.0)
    if not 0 < bound * greatest < math.inf:
        return None
    least = math.ldexp(greatest, -_GREATEST)
    factors = [_power_of_two_from(greatest / max(size, least)) for size in sizes_of_values]
    return Scales(sizes, factors, bound * greatest)


def _power_of_two_from(number: float) -> float:
    """Returns the least power of two that is not below a positive number."""
    fraction, exponent = math.frexp(number)
    return math.ldexp(1.0, exponent - 1 if fraction == 0.5 else exponent)
