"""Tests `taut calibrate` between real ranks: it measures everything, and rank 0 alone prints."""

import json

from mpi4py import MPI
from taut.calibrate import CALLS, main

WORLD = MPI.COMM_WORLD


def test_all_calls_are_measured(tmp_path, capfd):
    file = tmp_path / "figures.json"
    code = main(["--from", "16K", "--to", "64K", "--seconds", "0.01", "--json", str(file)])
    told = capfd.readouterr()
    if WORLD.size == 1:
        assert code == 2 and "mpiexec" in told.err
        return
    assert code == 0
    if WORLD.rank != 0:
        assert not told.out and not file.exists()
        return
    result = json.loads(file.read_text())
    assert result["ranks"] == WORLD.size and "64 KiB" in told.out
    assert [(row["call"], round(row["bytes"] / 2**14)) for row in result["rows"]] == [(call, n) for call in CALLS for n in (1, 4)]
    for row in result["rows"]:
        low, *_, high = (one["ratio"] for one in row["coded"])
        assert 1.5 < low < 3 and high > 8
        assert min(row["plain"], *(one["seconds"] for one in row["coded"])) > 0


def test_a_file_that_cannot_be_written_is_an_error(tmp_path, capfd):
    arguments = ["--calls", "bcast", "--from", "1K", "--to", "1K", "--seconds", "0", "--json", str(tmp_path)]
    code = main(arguments)
    if WORLD.size > 1:
        assert code == (1 if WORLD.rank == 0 else 0)
        assert ("taut calibrate" in capfd.readouterr().err) == (WORLD.rank == 0)
