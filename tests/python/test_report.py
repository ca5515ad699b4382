"""Tests `taut report`: it adds up the ranks, rejects files that are no reports, and writes a self-contained
page."""

import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import pytest
from taut import report
from taut.report import _read, _rows


def counts(**given):
    return {**dict.fromkeys(_read.COUNTS, 0), "plain_calls": {}, "nanoseconds": dict.fromkeys((*_read.PHASES, "call"), 0), **given}


def kind(rank, **given):
    row = counts(calls=2, compressed_calls=1, value_bytes=4000, frame_bytes=500, carried_bytes=8000, sent_bytes=1000,
                 plain_calls={"small": 1})  # fmt: skip
    row["nanoseconds"] = {**row["nanoseconds"], "encode": 1000 * (rank + 1), "plain": 500, "call": 1500}
    row |= {"collective": "allreduce", "type": "f32", "operator": "sum", "least_bytes": 4 << 20, "site": "solve<1>+0x1f"}
    row |= {"decision": {"codec": "planes", "predictor": "delta", "algorithm": "ring", "arithmetic": "frames",
                         "segments": 1, "bound": "abs:1e-04"}, "plain": "small", "expected_ratio": 7.5}  # fmt: skip
    bounds = [("lossless", 800), ("rel:0.01", 50), ("rel:1e-06", 400)]
    row["compressibility"] = {"samples": 1, "least": -1, "greatest": 1, "bounds": [
        {"bound": bound, "value_bytes": 1000, "frame_bytes": frame, "nanoseconds": 10} for bound, frame in bounds]}  # fmt: skip
    return row | given


def write(folder, ranks=2, **of_kind):
    for rank in range(ranks):
        communicator = kind(rank, policy="abs:1e-4", name="[bold]", ranks=ranks, communicators=1, freed=False)
        other = kind(rank, collective=None, compressibility=None, decision=None)
        del other["compressibility"]  # absent in reports of version 1
        communicator["kinds"] = [kind(rank, **of_kind), other]
        one = {"format": "taut-report", "version": 2, "rank": rank, "ranks": ranks, "communicators": [communicator]}
        (folder / f"report.json.{rank}").write_text(json.dumps(one))
    return folder / "report.json"


def test_constant_values_and_pickles_are_named():
    one = _read.Kind("gather u8 1MiB", "", _read.Communicator("", "none", 2), samples=2, constant=2)
    assert "all values equal" in _rows.how_text(one)
    one.constant, one.pickles = 1, 1
    assert _rows.how_text(one) == "pickled objects: use mpi4py's upper-case calls for arrays"


def test_files_of_two_runs_are_refused(tmp_path, capsys):
    for rank, run in enumerate("ab"):
        one = {"format": "taut-report", "version": 2, "rank": rank, "ranks": 2, "run": run, "communicators": []}
        (tmp_path / f"r.json.{rank}").write_text(json.dumps(one))
    assert report.main([str(tmp_path / "r.json")]) == 1
    assert "r.json.1: is not of the same run as the files before" in capsys.readouterr().err


def test_ranks_are_added_up(tmp_path):
    all_of_it = _read.read([str(write(tmp_path))])
    assert (all_of_it.ranks, all_of_it.of_ranks) == (2, 2)
    (communicator,) = all_of_it.communicators
    first, second = all_of_it.kinds
    assert {first.name, second.name} == {"allreduce f32 sum 4MiB", "all other kinds"}
    assert first.sums.counts["calls"] == 4 and first.sums.ratio == 8 and first.sums.plain_calls == {"small": 2}
    assert first.sums.nanoseconds["encode"] == 3000 and all_of_it.by_rank[1].nanoseconds["encode"] == 2000
    table = _rows.tables(all_of_it)[-1]
    assert table.columns[2:] == ["rel:0.01", "rel:1e-06", "lossless"] and table.rows[0][2:] == ["20", "2.5", "1.25"]


def test_ways_of_summed_chunks(tmp_path):
    chunks = {"constant": 6, "copied": 1, "added": 2, "general": 1}
    for rank in range(2):
        one = {"format": "taut-report", "version": 2, "rank": rank, "ranks": 2, "communicators": []}
        (tmp_path / f"report.json.{rank}").write_text(json.dumps(one | {"summed_chunks": chunks}))
    (table,) = _rows.tables(_read.read([str(tmp_path / "report.json")]))
    assert table.rows[0] == ["constant", "12", "60.00 %"] and len(table.rows) == 4


def test_calls_that_are_not_served(tmp_path):
    for rank in range(2):
        one = {"format": "taut-report", "version": 2, "rank": rank, "ranks": 2, "communicators": []}
        (tmp_path / f"report.json.{rank}").write_text(json.dumps(one | {"unserved_calls": {"MPI_Put": 1, "MPI_Scan": 2 + rank}}))
    (table,) = _rows.tables(_read.read([str(tmp_path / "report.json")]))
    assert table.rows == [["MPI_Scan", "5"], ["MPI_Put", "2"]]


def test_the_command(tmp_path, capsys):
    name, page = write(tmp_path), tmp_path / "page.html"
    assert report.main([str(name), "--html", str(page)]) == 0
    shown = capsys.readouterr().out
    for text in ("2 of 2 ranks", "[bold]", "allreduce f32 sum 4MiB", "solve<1>+0x1f", "planes/delta", "2 plain: small"):
        assert text in shown
    html = page.read_text()
    assert "solve&lt;1&gt;+0x1f" in html and "http" not in re.sub(r"http://www\.w3\.org|http://purl\.org|http://creativecommons\.org|https://matplotlib\.org", "", html)
    drawn = re.findall(r"<svg.*?</svg>", html, flags=re.S)
    assert len(drawn) == 4
    for svg in drawn:
        ElementTree.fromstring(svg)


def test_little_is_enough(tmp_path):
    one = {"format": "taut-report", "version": 1, "rank": 0, "ranks": 1, "communicators": []}
    (tmp_path / "report.json").write_text(json.dumps(one))
    assert report.main([str(tmp_path / "report.json"), "-o", str(tmp_path / "page.html")]) == 0
    assert "<svg" not in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"format": "taut-report"}', '{"format": "other"}', "\udcff"])
def test_what_is_no_report(tmp_path, capsys, text):
    (tmp_path / "report.json").write_bytes(text.encode(errors="surrogateescape"))
    assert report.main([str(tmp_path / "report.json")]) == 1
    assert "report.json" in capsys.readouterr().err


def test_files_of_several_runs_are_refused(tmp_path, capsys):
    name = write(tmp_path)
    assert report.main([str(name), str(name) + ".1"]) == 1
    assert "one run" in capsys.readouterr().err
    assert report.main([str(tmp_path / "none.json")]) == 1
    assert "TAUT_REPORT" in capsys.readouterr().err


def test_other_commands_are_the_programs():
    version = subprocess.run([sys.executable, "-m", "taut", "--version"], check=True, capture_output=True, text=True)
    assert version.stdout.startswith("taut ")
    assert subprocess.run([sys.executable, "-m", "taut", "nothing"], capture_output=True).returncode == 2
