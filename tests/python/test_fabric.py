"""Tests what `taut bench-fabric` makes of known times, its files and its arguments. tests/python/mpi tests the measurement."""

import json
import re

import numpy as np
import pytest
from taut._fabric import _page, _results, _values
from taut._fabric._command import main, options_of


def row(call="bcast", count=1 << 20, taut=(1, 1, 1), **given):
    made = {"call": call, "bytes": count, "field": "noise", "rounds": 9, "plain_ms": [2, 2, 2], "taut_ms": list(taut), "history_ms": [4, 4, 4]}
    for name in ("taut", "history"):
        made |= {f"{name}_ratio": 8.0, f"{name}_compressed": 1.0}
    return {**made, "error_by_bound": 0.5, **given}


def run(rows, **given):
    made = {"command": "taut bench-fabric --json <a>", "machine": {"processor": "P", "cores": 8, "os": "Linux"}, "date": "2026-01-02T03:04:05Z",
            "commit": "abc", "load": 0.1, "taut": "0.2.0", "mpi": "MPICH", "ranks": 4, "nodes": 2, "ranks_per_node": [2], "cores_of_rank": 4,
            "fabric": ["mlx5_0 port 1: 100 Gb/sec"], "environment": {"UCX_TLS": "rc"}, "bound": "rel:1e-3", "left_out": []}  # fmt: skip
    loop = {"loop": "core", "alone_per_second": 10.0, "beside_plain_per_second": 9.0, "beside_taut_per_second": 5.0, "plain_ms": 2.0, "taut_ms": 1.0}
    return {**made, "beside": [loop], **given, "rows": rows}


def test_the_page_comes_of_the_file_alone(tmp_path, capsys):
    rows = [row(call, count) for call in ("bcast", "halo", "gather", "scatter", "allgather", "alltoall") for count in (1 << 10, 1 << 20)]
    for name in "ab":
        (tmp_path / f"{name}.json").write_text(_results.text([run(rows)]))
    assert main(["--page", str(tmp_path / "a.json"), str(tmp_path / "b.json")]) == 0
    assert "2 runs" in capsys.readouterr().out
    html = (tmp_path / "a.html").read_text()
    assert not re.search(r"(?:src|href)=[\"']?(?!data:)", html) and "<script" not in html
    for told in ("mlx5_0 port 1: 100 Gb/sec", "UCX_TLS=rc", "--json &lt;a&gt;", "2 runs together", "50%", "2.00 to 2.00"):
        assert told in html, told
    assert html.count("<svg") == 2 * 2 * 2  # runs, variants, charts of at most five calls


def test_the_file_has_a_line_a_row():
    text = _results.text([run([row(), row("halo")])])
    assert json.loads(text)["version"] == 1 and len(text.splitlines()) == 4 + 3 + 3
    assert _results.text([run([])]).count('"rows": []') == 1


@pytest.mark.parametrize("damage", ["", "{", "[]", "{}", '{"format": "taut-report"}', "\udcff", "version", "rows", "machine", "time", "quartiles"])
def test_what_holds_no_results(tmp_path, capsys, damage):
    whole = json.loads(_results.text([run([row()])]))
    one = whole["runs"][0]
    edits = {"version": lambda: whole.update(version=2), "rows": lambda: one.pop("rows"), "machine": lambda: one.update(machine=None),
             "time": lambda: one["rows"][0].update(taut_ms=[1, 0, 1]), "quartiles": lambda: one["rows"][0].update(plain_ms=[1, 1])}  # fmt: skip
    if damage in edits:
        edits[damage]()
        damage = json.dumps(whole)
    file = tmp_path / "a.json"
    file.write_bytes(damage.encode(errors="surrogateescape"))
    assert main(["--page", str(file)]) == 1
    told = capsys.readouterr().err
    assert told.startswith("taut bench-fabric: ") and "a.json" in told and "Traceback" not in told
    assert main(["--page", str(tmp_path / "none.json")]) == 1


def test_the_verdict_counts_what_exceeds_the_spread():
    one = run([row(taut=(1, 1, 1)), row(taut=(1, 1.5, 2)), row("halo", taut=(3, 3, 3))])
    assert _page.verdict(one).startswith("Of 3 rows Taut is faster in 1 and slower in 1")
    assert "2.00 times as fast (bcast, 1 MiB, noise)" in _page.verdict(one)
    assert "raise --seconds" in _page.verdict(run([]))


def test_what_a_call_costs_the_computation():
    (loop,) = run([])["beside"]
    assert [round(_page.lost_milliseconds(loop, way), 3) for way in ("plain", "taut")] == [0.2, 0.5]
    assert "delays it by 0.2 ms with plain MPI, 0.5 with Taut" in " ".join(_page.printed(run([])))


def test_doubtful_figures_are_named():
    assert _page.warnings(run([row()])) == []
    doubtful = run([row(error_by_bound=1.5)], nodes=1, ranks_per_node=[16], left_out=["halo 1024 ice"])
    told = " ".join(_page.warnings(doubtful))
    for part in ("no network", "16 ranks share 8 cores", "exceeds the bound", "halo 1024 ice"):
        assert part in told
    assert "load was 5" in " ".join(_page.warnings(run([], load=5)))
    assert _page.warnings(run([row(error_by_bound=None)])) == []


def test_fields_are_installed_and_differ_from_step_to_step():
    for field in _values.FIELDS:
        for count in (1, 30011):
            made = _values.steps(field, count, 3)
            assert [(one.dtype, one.shape, bool(np.isfinite(one).all())) for one in made] == [(np.float32, (count,), True)] * _values.STEPS
        assert not np.array_equal(made[0], made[1]) and np.ptp(made[0]) > 0
    assert [_values.at([0, 1, 2, 3], k) for k in range(8)] == [0, 1, 2, 3, 2, 1, 0, 1]


def test_arguments():
    given = options_of(["--quick", "--sizes", "1M", "--json", "x.json"])
    assert (given.sizes, given.collectives, given.html) == ([1 << 20], ["allreduce", "alltoall", "halo"], "x.html")
    assert len(options_of([]).collectives) == 9 and options_of([]).sizes == [1 << 16, 1 << 20, 1 << 24]


@pytest.mark.parametrize(
    ("words", "told"),
    [("--sizes 3", "64K or 16M"), ("--collectives barrier", "allreduce,"), ("--fields x", "temperature"), ("--bound x", "rel:1e-3"),
     ("--seconds -1", "86400"), ("--seconds nan", "86400"), ("--page", "argument")],
)  # fmt: skip
def test_command_lines_that_cannot_be_followed(words, told, capsys):
    with pytest.raises(SystemExit) as stopped:
        options_of(words.split())
    assert stopped.value.code == 2 and told in capsys.readouterr().err
