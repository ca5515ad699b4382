"""Runs all tests on each rank. A test that fails on one rank fails on all, so that the ranks stay together."""

import numpy as np
import pytest
from mpi4py import MPI

import taut

WORLD = MPI.COMM_WORLD


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    if call.when == "call":
        outcome = WORLD.allreduce(report.failed)
        if outcome and report.passed:
            report.outcome, report.longrepr = "failed", "failed on another rank"


def pytest_configure(config):
    if WORLD.rank != 0:  # rank 0's output is enough, unless a test fails on this rank
        config.option.verbose = -2


@pytest.fixture
def comm():
    """Returns a communicator that compresses every call it can, within 1e-3."""
    duplicate = WORLD.Dup()
    yield taut.Comm(duplicate, "abs:1e-3", min_bytes=0, when="always")
    duplicate.Free()


@pytest.fixture
def lossless():
    duplicate = WORLD.Dup()
    yield taut.Comm(duplicate, "lossless", min_bytes=0, when="always")
    duplicate.Free()


@pytest.fixture
def on_gpu():
    """Returns a communicator whose calls kernels can serve."""
    duplicate = WORLD.Dup()
    yield taut.Comm(duplicate, "abs:1e-3", codec="planes", min_bytes=1, when="always")
    duplicate.Free()


def wave(n, rank, dtype=np.float32):
    """Returns a wave that differs between ranks."""
    return (np.sin(1e-3 * np.arange(n)) + rank).astype(dtype)
