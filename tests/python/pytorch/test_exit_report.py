"""Tests the files that processes with taut.torch write at their end under TAUT_REPORT."""

import json
import os
import subprocess
import sys

import pytest
from taut.report import _read

PROGRAM = """
import sys
import torch, torch.distributed as dist
import taut.torch
rank, path = int(sys.argv[1]), sys.argv[2]
taut.torch.set_rules("* : abs=1e-2")
dist.init_process_group("cpu:taut,cuda:taut", init_method="file://" + path, rank=rank, world_size=2)
dist.all_reduce(torch.randn(50_000))
plain = dist.new_group(backend="gloo", group_desc="beside")
taut.torch.all_reduce(torch.randn(50_000), "abs:1e-3", group=plain)
taut.torch.all_gather(torch.empty(100_000), torch.randn(50_000), "abs:1e-3", group=plain)
dist.destroy_process_group()
"""


@pytest.mark.parametrize("name", ["report.json", "report-%r.json"])
def test_reports_name_what_was_coded_by_group_and_call(rank, tmp_path, name):
    if rank != 0:
        return
    environment = os.environ | {"TAUT_REPORT": str(tmp_path / name)}
    command = [sys.executable, "-c", PROGRAM]
    processes = [subprocess.Popen([*command, str(one), str(tmp_path / "store")], env=environment) for one in range(2)]
    assert [process.wait(120) for process in processes] == [0, 0]
    for one in range(2):
        written = tmp_path / (name.replace("%r", str(one)) + ".torch" if "%r" in name else f"{name}.torch.{one}")
        report = json.loads(written.read_text())
        assert (report["format"], report["rank"], report["ranks"]) == ("taut-report", one, 2)
        rows = {(group["name"], row["collective"]): row for group in report["communicators"] for row in group["kinds"]}
        assert set(rows) == {("default_pg", "allreduce"), ("beside", "allreduce"), ("beside", "allgather")}
        assert all(row["calls"] == 1 and row["ratio"] > 1 and row["nanoseconds"]["call"] > 0 for row in rows.values())
        assert rows["default_pg", "allreduce"]["decision"]["bound"] == "abs:0.01"
    if "%r" not in name:
        job = _read.read([str(tmp_path / name)])
        assert (job.ranks, job.finished, len(job.kinds), job.rules) == (2, 2, 3, "* : abs:1e-2")


def test_nothing_is_written_without_the_variable(rank, tmp_path):
    if rank == 0:
        environment = {key: value for key, value in os.environ.items() if key != "TAUT_REPORT"}
        command = [sys.executable, "-c", PROGRAM]
        processes = [
            subprocess.Popen([*command, str(one), str(tmp_path / "store")], env=environment, cwd=tmp_path) for one in range(2)
        ]
        assert [process.wait(120) for process in processes] == [0, 0]
        assert not list(tmp_path.glob("*torch*"))
