"""Each rank runs all tests. A test that fails on one rank fails on all, so that they stay together."""

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
    if WORLD.rank != 0:  # what rank 0 says is enough, unless something fails here
        config.option.verbose = -2


@pytest.fixture
def comm():
    """All of what can be compressed is; no value is lost beyond 1e-3."""
    duplicate = WORLD.Dup()
    yield taut.Comm(duplicate, "abs:1e-3", min_bytes=0, when="always")
    duplicate.Free()


@pytest.fixture
def lossless():
    duplicate = WORLD.Dup()
    yield taut.Comm(duplicate, "lossless", min_bytes=0, when="always")
    duplicate.Free()


def wave(n, rank, dtype=np.float32):
    """Of each rank another one."""
    return (np.sin(1e-3 * np.arange(n)) + rank).astype(dtype)
