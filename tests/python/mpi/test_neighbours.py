"""Tests the neighbourhood collectives on a grid and on a graph: the calls are counted, and results are within the
bound of those of MPI."""

import numpy as np
import pytest
import taut
from conftest import wave
from mpi4py import MPI

N = 3000
BOUND = 1e-3
NAMES = ["Neighbor_allgather", "Neighbor_allgatherv", "Neighbor_alltoall", "Neighbor_alltoallv", "Neighbor_alltoallw"]


def topology(kind):
    ranks, rank = MPI.COMM_WORLD.Get_size(), MPI.COMM_WORLD.Get_rank()
    if kind == "grid":
        return MPI.COMM_WORLD.Create_cart([ranks], periods=[False])
    sources, targets = [rank, (rank - 1) % ranks], [rank, (rank + 1) % ranks]
    return MPI.COMM_WORLD.Create_dist_graph_adjacent(sources, targets)


def arguments(name, comm):
    """Returns the messages of a call, and the array that receives."""
    sources, targets = comm.indegree, comm.outdegree
    blocks = 1 if "allgather" in name else targets
    sent, received = wave(N * blocks, comm.Get_rank(), np.float64), np.full(N * sources, -1.0)
    if name.endswith("l") or name.endswith("r"):
        return [sent, received], received
    counts = [N - 5] * sources, [N * i for i in range(sources)]
    if name == "Neighbor_allgatherv":
        return [[sent, N - 5, MPI.DOUBLE], [received, counts, MPI.DOUBLE]], received
    if name == "Neighbor_alltoallw":
        apart = MPI.DOUBLE.Create_vector(N // 3, 1, 3).Commit()
        numbers = [([1] * degree, [8 * N * i for i in range(degree)]) for degree in (targets, sources)]
        return [[sent, numbers[0], [apart] * targets], [received, numbers[1], [apart] * sources]], received
    return [[sent, ([N - 5] * targets, [N * i for i in range(targets)]), MPI.DOUBLE], [received, counts, MPI.DOUBLE]], received


@pytest.mark.parametrize("how", ["blocking", "nonblocking", "persistent"])
@pytest.mark.parametrize("kind", ["grid", "graph"])
@pytest.mark.parametrize("name", NAMES)
def test_within_the_bound_of_what_mpi_makes(name, kind, how):
    bare = topology(kind)
    comm = taut.Comm(bare, f"abs:{BOUND}", min_bytes=0, when="always")
    messages, result = arguments(name, comm)
    if how == "blocking":
        getattr(comm, name)(*messages)
    elif how == "nonblocking":
        getattr(comm, "I" + name.lower())(*messages).Wait()
    else:
        request = getattr(comm, name + "_init")(*messages)
        request.Start()
        request.Wait()
        request.Free()
    expected_messages, expected = arguments(name, comm)
    getattr(bare, name)(*expected_messages)
    assert np.abs(result - expected).max(initial=0) <= BOUND
    if comm.size > 1:
        assert comm.stats()["compressed_calls"] == 1
    bare.Free()


def test_without_a_topology_the_error_says_so(comm):
    with pytest.raises(taut.ArgumentError, match="no topology"):
        comm.Neighbor_alltoall(np.zeros(2), np.zeros(2))
