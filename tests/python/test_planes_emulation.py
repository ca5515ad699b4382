"""Compares the sizes of planes frames with those of the emulation in bench/codec, from which its study computes."""

import sys
from pathlib import Path

import numpy as np
import pytest
import taut
from taut import _file

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench/codec"))
planes_emulation = pytest.importorskip("planes_emulation")


def field(dtype, dims, noise):
    places = np.meshgrid(*(np.linspace(0, 3, n) for n in dims), indexing="ij")
    smooth = sum(np.sin(place * (3 + i)) for i, place in enumerate(places))
    return (smooth + noise * np.random.default_rng(3).standard_normal(dims)).astype(dtype)


@pytest.mark.parametrize("noise", [0, 1e-3])
@pytest.mark.parametrize("dims", [(131072,), (4096,), (6, 64, 64), (256, 512), (32, 64, 64), (4, 16, 32, 64)])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("bound", [0.06, 1e-3])
def test_frames_have_the_emulated_sizes(dtype, dims, noise, bound):
    x = field(dtype, dims, noise)
    emulated = planes_emulation.CodedField(planes_emulation.quantise(x.reshape(-1), bound), dims)
    (entry,) = _file.read(taut.compress(x, f"abs:{bound!r},codec=planes")).entries
    assert emulated.bytes(planes_emulation.tables_now) == entry.bytes, emulated.prediction
