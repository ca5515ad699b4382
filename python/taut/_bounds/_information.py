"""Bitwise real information content (Kloewer et al., Nature Computational Science 1, 713-724, 2021)."""

from dataclasses import dataclass
from typing import Any

import numpy as np

CONFIDENCE = 2.5758293035489004  # standard normal quantile: 99 % of the bits of noise are within
PRESERVED = 0.99
MANTISSA = {"float16": 10, "bfloat16": 7, "float32": 23, "float64": 52}


@dataclass(frozen=True)
class Information:
    """Information of each bit of the values, in bits, the sign first; and the kept bits of the mantissa."""

    bits: list[float]
    mantissa: int
    kept: int

    @property
    def bound(self) -> str:
        """The bound of rounding to the kept bits."""
        return "lossless" if self.kept >= self.mantissa else f"pwrel:{2.0 ** -(self.kept + 1):.3g}"


def entropy(p: Any) -> Any:
    """Returns the entropy of probabilities, over the last axis, in bits."""
    p = np.asarray(p, np.float64)
    return -np.sum(np.where(p > 0, p * np.log2(np.where(p > 0, p, 1)), 0), axis=-1)


def insignificant(pairs: int) -> float:
    """Returns the information that a bit of noise may seem to have."""
    p = min(1.0, 0.5 + CONFIDENCE / (2 * pairs**0.5))
    return 1.0 - float(entropy([p, 1 - p]))


def mutual_information(a: Any, b: Any) -> list[float]:
    """Returns the mutual information of each bit of neighbours, the highest bit first; 0 where it is not significant."""
    total, found = a.size, []
    for bit in range(8 * a.dtype.itemsize - 1, -1, -1):
        mask = a.dtype.type(1 << bit)
        of_a, of_b = a & mask, b & mask
        ones_a, ones_b = int(np.count_nonzero(of_a)), int(np.count_nonzero(of_b))
        both = int(np.count_nonzero(of_a & of_b))
        joint = np.array([both, ones_a - both, ones_b - both, total - ones_a - ones_b + both]) / total
        pa, pb = ones_a / total, ones_b / total
        information = float(entropy([pa, 1 - pa]) + entropy([pb, 1 - pb]) - entropy(joint))
        found.append(information if information > insignificant(total) else 0.0)
    return found


def information_of(boxes: list[Any], fills: Any) -> "Information | None":
    """Returns the information of neighbours along the last axis of the boxes; None for types without a mantissa."""
    parts = [box.view(box.real.dtype) if box.dtype.kind == "c" else box for box in boxes]
    name = parts[0].dtype.name
    if name not in MANTISSA or parts[0].ndim == 0:
        return None
    before, after = [], []
    for part in parts:
        rows = part.reshape(-1, part.shape[-1])
        step = 2 if boxes[0].dtype.kind == "c" else 1
        a, b = rows[:, :-step].reshape(-1), rows[:, step:].reshape(-1)
        whole = np.isfinite(a) & np.isfinite(b)
        for fill in fills:
            whole &= (a != a.dtype.type(fill)) & (b != b.dtype.type(fill))
        before.append(a[whole])
        after.append(b[whole])
    a, b = (np.concatenate(some).view(f"u{parts[0].dtype.itemsize}") for some in (before, after))
    if a.size < 100:
        return None
    bits = mutual_information(a, b)
    mantissa, total = MANTISSA[name], sum(bits)
    if total == 0:
        return Information(bits, mantissa, mantissa)
    preserved = np.cumsum(bits) / total
    first = int(np.argmax(preserved >= PRESERVED - 1e-12)) + 1  # bits from the sign on
    return Information(bits, mantissa, max(0, first - (len(bits) - mantissa)))
