"""Tests TAUT_PROGRESS=1: calls progress while a rank blocks in MPI."""

import os

import numpy as np
import pytest
from conftest import WORLD, wave

needs_thread = pytest.mark.skipif(
    os.environ.get("TAUT_PROGRESS") != "1", reason="TAUT_PROGRESS is not 1"
)


@needs_thread
def test_a_rank_sits_in_a_barrier_meanwhile(comm):
    n = 200000
    results = [np.empty(n, np.float32) for _ in range(3)]
    requests = [comm.Iallreduce(wave(n, comm.rank), result) for result in results]
    if comm.rank == 0:
        WORLD.Barrier()  # without the progress thread this blocks for ever: the others wait for this rank's part
    for request in requests:
        request.Wait()
    if comm.rank != 0:
        WORLD.Barrier()
    exact = sum(wave(n, rank, np.float64) for rank in range(comm.size))
    assert all(np.abs(result - exact).max() <= 1.1e-3 for result in results)
