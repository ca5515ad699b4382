"""The values that are sent: excerpts of real fields that are installed with the package, and noise. Pure functions."""

from pathlib import Path
from typing import Any

import numpy as np

FIELDS = {
    "temperature": "annual mean temperature of a coupled climate model, successive years",
    "ice": "concentration of sea ice, successive months, mostly zero",
    "noise": "synthetic: uniform noise, new at every step: only the bound makes it smaller",
}
STEPS = 4  # of each field

Array = Any  # of NumPy, float32


def steps(field: str, count: int, rank: int) -> list[Array]:
    """Returns the values of a rank at successive time steps: the field from a place of its own on, repeated to `count` values."""
    if field == "noise":
        made = np.random.default_rng(rank)
        return [made.random(count, np.float32) for _ in range(STEPS)]
    with np.load(Path(__file__).parent / "fields" / f"{field}.npz") as file:
        return [np.resize(np.roll(step.ravel(), -4097 * rank), count) for step in file["steps"]]


def at(all_steps: list[Array], call: int) -> Array:
    """Returns the values of a call: the steps forwards, then backwards, so that successive calls are one step apart."""
    turn = 2 * len(all_steps) - 2
    place = call % turn
    return all_steps[min(place, turn - place)]
