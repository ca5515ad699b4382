"""Tests `taut bench-fabric` between real ranks: it measures every call within the bound, and ends the job if a rank fails."""

import json

import pytest
from mpi4py import MPI
from taut._fabric import _surroundings
from taut._fabric._calls import CALLS
from taut._fabric._command import main
from taut._fabric._page import verdict

WORLD = MPI.COMM_WORLD


def test_all_calls_are_measured(tmp_path, capfd):
    file = tmp_path / "figures.json"
    code = main(["--sizes", "5K,200K", "--fields", "ice", "--seconds", "6", "--json", str(file)])
    told = capfd.readouterr()
    if WORLD.size == 1:
        assert code == 2 and "mpiexec -n 4" in told.err
        return
    assert code == 0
    if WORLD.rank != 0:
        assert not told.out and not file.exists()
        return
    (run,) = json.loads(file.read_text())["runs"]
    assert (run["ranks"], sum(run["ranks_per_node"])) == (WORLD.size, WORLD.size) and verdict(run) in told.out
    done = [row["call"] for row in run["rows"]] + [one.split()[0] for one in run["left_out"]]
    assert done == list(CALLS) * 2
    for row in run["rows"]:
        assert row["bytes"] % (8 * WORLD.size) == 0 and row["bytes"] <= 200 << 10
        assert row["error_by_bound"] <= 1.001 and 0 < row["plain_ms"][0] <= row["plain_ms"][2]
    assert [one["loop"] for one in run["beside"]] in (["core", "memory"], [])
    assert (tmp_path / "figures.html").read_text().startswith("<!doctype html>")


@pytest.mark.parametrize("bound", ["lossless", "abs:1e-3"])
def test_each_call_is_compressed_within_the_bound(bound):
    if WORLD.size > 1:
        from taut._fabric._measure import row

        for call in CALLS[2:] if bound == "lossless" else CALLS:  # sums without loss are plain MPI's
            one = row(WORLD, call, 70_000, "temperature", f"{bound},min_bytes=0,when=always", 0)
            assert one["taut_compressed"] > 0 and one["taut_ratio"] > 1, call
            assert one["error_by_bound"] is None if bound == "lossless" else one["error_by_bound"] <= 1.05, call


def test_a_file_that_cannot_be_written_is_an_error_before_the_measurement(tmp_path, capfd):
    if WORLD.size > 1:
        assert main(["--json", str(tmp_path), "--html", str(tmp_path / "p.html")]) == 1
        assert ("taut bench-fabric: " in capfd.readouterr().err) == (WORLD.rank == 0)


def test_a_rank_that_fails_ends_the_job(monkeypatch, capfd, tmp_path):
    class Broken:
        size, rank = 2, 1

        def bcast(self, value):
            raise MemoryError("no room")

        def Abort(self, code):
            raise SystemExit(code)

    monkeypatch.setattr(MPI, "COMM_WORLD", Broken())
    with pytest.raises(SystemExit) as stopped:
        main(["--json", str(tmp_path / "x.json")])
    assert stopped.value.code == 1 and "no room" in capfd.readouterr().err


def test_ports_are_those_the_kernel_tells(tmp_path):
    for name, content in (("infiniband/mlx5_0/ports/1/rate", "200 Gb/sec (4X HDR)\n"), ("net/eth0/speed", "25000\n"), ("net/down/speed", "-1\n")):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(content)
    assert _surroundings.fabric(tmp_path) == ["mlx5_0 port 1: 200 Gb/sec (4X HDR)", "eth0: 25000 Mbit/s"]


def test_paths_are_not_recorded(monkeypatch):
    monkeypatch.setenv("TAUT_REPORT", "/home/someone/report.json")
    monkeypatch.setenv("UCX_TLS", "rc,sm")
    monkeypatch.setenv("SECRET", "x")
    record = _surroundings.record(WORLD, "taut bench-fabric --json /home/someone/a.json")
    assert record["command"] == "taut bench-fabric --json (path)"
    told = record["environment"]
    assert told["TAUT_REPORT"] == "(path)" and told["UCX_TLS"] == "rc,sm" and "SECRET" not in told
