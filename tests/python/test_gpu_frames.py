"""Tests the calls by which taut.torch makes frames of tensors, with values and frames on the host and on a GPU: the same bytes
everywhere."""

import itertools

import gpu
import numpy as np
import pytest
from taut import _core

if gpu.DRIVER is None:
    pytest.skip("needs a GPU or simulated GPUs", allow_module_level=True)

FLOAT, COUNT = 1, 20_000  # number of float32 in frames
CODINGS = ["abs:1e-3,codec=planes,predictor=none", "lossless,codec=mpc", "lossless,codec=raw", "abs:1e-3,codec=szx"]
ADDS = CODINGS[:1]
PLACES = list(itertools.product([False, True], repeat=2))


class Room:
    """Memory on the host or on a GPU."""

    def __init__(self, values, there):
        self._array = gpu.DLPackArray(values) if there else values.copy()
        self.address = self._array.address if there else self._array.ctypes.data
        self._there, self._bytes = there, values.nbytes

    def span(self, size=None):
        return self.address, self._bytes if size is None else size

    def contents(self):
        return self._array.numpy() if self._there else self._array


def wave(shift=0.0):
    return np.sin(np.arange(COUNT, dtype=np.float32) / 300 + np.float32(shift))


def empty_frame(there, addends=1):
    return Room(np.zeros(_core.max_bytes(FLOAT, COUNT, addends), np.uint8), there)


def encoded(values, coding, values_there=False, frame_there=False):
    """Returns the bytes of a frame."""
    room, frame = Room(values, values_there), empty_frame(frame_there)
    size = _core.encode_into(room.address, COUNT, FLOAT, coding, frame.span())
    return frame.contents()[:size].copy()


@pytest.mark.parametrize("values_there, frame_there", PLACES)
@pytest.mark.parametrize("coding", CODINGS)
def test_frames(coding, values_there, frame_there):
    frame = encoded(wave(), coding)
    assert encoded(wave(), coding, values_there, frame_there).tobytes() == frame.tobytes()
    expected, result = np.zeros(COUNT, np.float32), Room(np.zeros(COUNT, np.float32), values_there)
    there = Room(frame, frame_there)
    _core.decode(frame.ctypes.data, frame.nbytes, expected.ctypes.data, COUNT, FLOAT)
    _core.decode(*there.span(), result.address, COUNT, FLOAT)
    assert result.contents().tobytes() == expected.tobytes()
    assert np.abs(expected - wave()).max() <= 1e-3


@pytest.mark.parametrize("parts_there, sum_there", PLACES)
@pytest.mark.parametrize("coding", ADDS)
def test_sums_of_frames(coding, parts_there, sum_there):
    frames = [encoded(wave(shift), coding) for shift in (0, 1)]
    sums = []
    for there, frame_there in ((False, False), (parts_there, sum_there)):
        total, parts = empty_frame(frame_there, 2), [Room(frame, there) for frame in frames]
        size = _core.add_into(*(part.span() for part in parts), total.span())
        sums.append(total.contents()[:size].tobytes())
    assert sums[0] == sums[1]


@pytest.mark.parametrize("policy", ["rel:1e-3", "psnr:60", "abs:1e-3", "lossless", "rel:1e-3,codec=planes"])
def test_codings_that_depend_on_the_values(policy):
    here, there = Room(wave(), False), Room(wave(), True)
    for choose in (_core.range_for, _core.move_coding):
        assert choose(policy, there.address, COUNT, FLOAT) == choose(policy, here.address, COUNT, FLOAT)


def test_a_part_of_the_memory():
    room = Room(wave(), True)
    frame = empty_frame(True)
    size = _core.encode_into(room.address + 4000, COUNT - 1000, FLOAT, CODINGS[0], frame.span())
    part = wave()[1000:].copy()
    expected = np.zeros(_core.max_bytes(FLOAT, part.size), np.uint8)
    same = _core.encode_into(part.ctypes.data, part.size, FLOAT, CODINGS[0], (expected.ctypes.data, expected.nbytes))
    assert frame.contents()[:size].tobytes() == expected[:same].tobytes()
