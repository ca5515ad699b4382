"""Tests `taut report`: it adds up the ranks, rejects files that are no reports, and writes a self-contained
page."""

import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import pytest
from taut import report
from taut.report import _page, _read, _rows, _timeline, _traces


def counts(**given):
    return {**dict.fromkeys(_read.COUNTS, 0), "plain_calls": {}, "nanoseconds": dict.fromkeys((*_read.PHASES, "call"), 0), **given}


def kind(rank, **given):
    row = counts(calls=2, compressed_calls=1, value_bytes=4000, frame_bytes=500, carried_bytes=8000, sent_bytes=1000,
                 plain_calls={"small": 1})  # fmt: skip
    row["nanoseconds"] = {**row["nanoseconds"], "encode": 1000 * (rank + 1), "plain": 500, "call": 1000 * (rank + 1) + 500}
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


def history(gain, period):
    bounds = ("rel:0.01", "rel:1e-04", "lossless")
    return {"samples": 1, "period": period, "bounds": [
        {"bound": bound, "value_bytes": 1000, "alone_bytes": 400, "referring_bytes": int(400 / g), "nanoseconds": 10}
        for bound, g in zip(bounds, gain)]}  # fmt: skip


def test_what_a_history_would_give(tmp_path):
    def how(**given):
        told = head_of(write(tmp_path, **given), rules=given.pop("rules", ""))
        return _rows.how_text(_read.read([told]).kinds[0], "")

    # The bound of the decision is abs:1e-4, of a range of 2: below the least sampled share.
    assert "history=auto would make frames 2 times smaller" in how(history_would_give=history((8, 2, 1), 2))
    assert "history=18 would make frames 2 times smaller" in how(history_would_give=history((8, 2, 1), 9))
    between = dict(kind(0)["decision"], bound="abs:2e-3")  # a share of 1e-3, between 8 and 2
    assert "make frames 5 times smaller" in how(history_would_give=history((8, 2, 1), 2), decision=between)
    exact = dict(kind(0)["decision"], bound="lossless")
    assert "make frames 4 times smaller" in how(history_would_give=history((8, 2, 4), 2), decision=exact)
    assert "history" not in how(history_would_give=history((1, 1, 1), 0))
    assert "history" not in how(history_would_give=None)
    gave = how(history_would_give=history((8, 2, 1), 2), referring_calls=7)
    assert "14 sent what had changed since earlier ones, in frames about 2 times smaller" in gave and "would" not in gave
    (one,) = [k for k in _read.read([str(tmp_path / "report.json")]).kinds if k.period]
    one.sums.referring_calls, one.communicator.policy = 0, "rules"
    assert "would" in _rows.how_text(one) and "would" not in _rows.how_text(one, "Send : abs:1 history=4")


def test_the_verdict_names_constant_values(tmp_path):
    told = "as in OSU's benchmarks"
    assert told not in _rows.verdict(_read.read([str(write(tmp_path))]))
    constant = {"samples": 2, "constant": 2, "bounds": []}
    assert told in _rows.verdict(_read.read([str(write(tmp_path, compressibility=constant))]))
    assert told not in _rows.verdict(_read.read([str(write(tmp_path, compressibility={**constant, "constant": 1}))]))


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


def test_files_of_several_libraries_are_one_job(tmp_path):
    name = write(tmp_path)
    functions = {"ncclAllReduce": {"served_calls": 3, "served_bytes": 4096, "left_calls": 1, "left_bytes": 8}}
    for rank in range(2):
        one = {"format": "taut-report", "version": 2, "rank": rank, "ranks": 2, "communicators": [], "mpi": "no", "began": 1}
        (tmp_path / f"report.json.nccl.{rank}").write_text(json.dumps(one | {"nccl_calls": functions}))
        row = counts(calls=2, compressed_calls=2, value_bytes=4000, frame_bytes=1000)
        row["nanoseconds"]["call"] = 2000
        of_torch = {**row, "collective": "allreduce", "type": None, "operator": None, "least_bytes": None, "site": None}
        of_torch |= {"decision": {"codec": None, "predictor": None, "algorithm": None, "bound": "abs:0.01"}}
        group = {**row, "name": "default_pg", "policy": "", "ranks": 2, "kinds": [of_torch]}
        (tmp_path / f"report.json.torch.{rank}").write_text(json.dumps(one | {"library": "torch", "communicators": [group]}))
    job = _read.read([str(name)])
    assert (job.ranks, job.of_ranks, job.finished, job.began) == (2, 2, 2, 1)
    (kind_of_torch,) = [one for one in job.kinds if one.communicator.name == "default_pg"]
    assert (kind_of_torch.name, _rows.how_text(kind_of_torch), kind_of_torch.sums.nanoseconds["call"]) == ("allreduce", "abs:0.01", 4000)
    (table,) = [one for one in _rows.tables(job) if one.title == "Calls of NCCL"]
    assert table.rows == [["ncclAllReduce", "6", "8KiB", "2", "16B"]]


def test_a_job_of_torch_alone(tmp_path, capsys):
    row = counts(calls=2, compressed_calls=2, value_bytes=4_000_000, frame_bytes=1_000_000)
    one = {"format": "taut-report", "version": 2, "rank": 0, "ranks": 1, "library": "torch",
           "communicators": [{**row, "name": "dp", "policy": "", "ranks": 1, "kinds": []}]}  # fmt: skip
    (tmp_path / "r.json.torch.0").write_text(json.dumps(one))
    assert report.main([str(tmp_path / "r.json"), "--html", str(tmp_path / "page.html")]) == 0
    assert "4 MB of values became frames of 1 MB" in capsys.readouterr().out


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
    assert "solve&lt;1&gt;+0x1f" in html and "http" not in html and "src=" not in html
    for title in ("Where the time went", "What was sent", "would compress to", "Time of each rank"):
        assert title in html
    for svg in re.findall(r"<svg.*?</svg>", html, flags=re.S):
        ElementTree.fromstring(svg)
    assert max(map(len, shown.splitlines())) <= 80


HEAD = {"command": "mpi/solve --steps 10", "mpi": "MPICH Version: 5.0", "rules": "Allreduce f32 : abs:1e-4", "began": 1.7e9,
        "seconds": 2.0, "finished": True}  # fmt: skip
CHECK = {"calls": 1, "calls_over_bound": 0, "nanoseconds": 9, "error": 4e-5, "bound": 1e-4, "share": 0.4, "element": 77}


def head_of(name, **told):
    """Adds members to the reports of both ranks."""
    for rank in range(2):
        path = name.parent / f"{name.name}.{rank}"
        path.write_text(json.dumps(json.loads(path.read_text()) | told))
    return str(name)


def test_the_page_begins_with_the_run_and_a_verdict(tmp_path):
    name = head_of(write(tmp_path, check=CHECK), **HEAD)
    html = _page.page(_read.read([name]))
    for told in ("Taut in solve", "mpi/solve --steps 10", "MPICH Version: 5.0", "Allreduce f32 : abs:1e-4", "2023-11-1", "<td>2</td>",
                 "16 kB became 2 kB", "greatest error 0.4 of the bound", "values to frames", "below min_bytes"):  # fmt: skip
        assert told in html, told
    assert "were not checked" in _rows.verdict(_read.read([str(write(tmp_path))]))


@pytest.mark.parametrize(("command", "told"), [("/opt/python3 -u a/model.py --x y.py", "model.py"), ("python -m model run", "model"), ("", "a program")])
def test_a_python_program_is_named_by_its_file(tmp_path, command, told):
    name = head_of(write(tmp_path), **HEAD | {"command": command})
    assert f"<h1>Taut in {told}</h1>" in _page.page(_read.read([name]))


def test_a_broken_bound_and_missing_ranks_are_in_the_verdict(tmp_path):
    name = head_of(write(tmp_path, check=CHECK | {"error": None, "share": None, "calls_over_bound": 1}), **HEAD | {"finished": False})
    said = _rows.verdict(_read.read([name]))
    assert "2 calls broke their bound" in said and "2 of 2 ranks wrote no last report" in said


def test_two_runs_side_by_side(tmp_path, capsys):
    (tmp_path / "old").mkdir()
    before = write(tmp_path / "old", nanoseconds={**dict.fromkeys((*_read.PHASES, "call"), 0), "plain": 6000, "call": 6000})
    assert report.main([str(write(tmp_path)), "--before", str(before), "-o", str(tmp_path / "page.html")]) == 0
    html = (tmp_path / "page.html").read_text()
    table = _rows.before_and_after(_read.read([str(before)]), _read.read([str(tmp_path / "report.json")]))
    assert table.rows[0][4:7] == ["6 us", "2 us", "3"]
    assert "Before and after" in html and "Before and after" in capsys.readouterr().out


def trace(folder):
    for rank in range(2):
        calls = [("allreduce f32 sum", 10, 100, {"site": "solve<1>+0x1f"}), ("encode", 15, 20, {}), ("plain", 200, 5, {})]
        events = [{"ph": "M", "name": "process_name", "pid": rank, "tid": 0, "args": {"name": "rank"}}]
        events += [{"ph": "X", "name": name, "cat": "bcast f64" if name == "plain" else "allreduce f32 sum", "pid": rank, "tid": 0, "ts": at,
                    "dur": length, "args": {"call": name == "plain", "bytes": 4000, **more}} for name, at, length, more in calls]  # fmt: skip
        one = {"otherData": {"rank": rank, "origin_unix_ns": 1000 * rank, "lost_events": 3}, "traceEvents": events}
        (folder / f"trace.json.{rank}").write_text(json.dumps(one))
    return str(folder / "trace.json")


def test_the_timeline_names_each_call(tmp_path):
    assert report.main([str(write(tmp_path)), "--trace", trace(tmp_path), "-o", str(tmp_path / "page.html")]) == 0
    html = (tmp_path / "page.html").read_text()
    assert html.count('class="bar"') == 2 and html.count('class="bar plain"') == 2
    assert "rank 1: allreduce f32 sum at solve&lt;1&gt;+0x1f, 4 kB, 100 us, compressed: encode 20 us" in html
    assert ">bcast f64<" in html and "6 earlier events are lost" in html
    first, second = [bar for bar in _timeline.bars(_traces.merged(map(_traces.read, sorted(tmp_path.glob("trace.json.*"))))) if not bar.plain]
    assert second.begin - first.begin == 1  # microsecond, by their clocks


def test_a_timeline_needs_a_page_and_traces(tmp_path, capsys):
    name = str(write(tmp_path))
    with pytest.raises(SystemExit):
        report.main([name, "--trace", trace(tmp_path)])
    assert "-o PAGE" in capsys.readouterr().err
    assert report.main([name, "--trace", name, "-o", str(tmp_path / "page.html")]) == 1
    assert "not a trace" in capsys.readouterr().err


def test_little_is_enough(tmp_path):
    one = {"format": "taut-report", "version": 1, "rank": 0, "ranks": 1, "communicators": []}
    (tmp_path / "report.json").write_text(json.dumps(one))
    assert report.main([str(tmp_path / "report.json"), "-o", str(tmp_path / "page.html")]) == 0
    assert "No call was seen" in (tmp_path / "page.html").read_text()


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


def test_without_rules_no_policy_is_told(tmp_path):
    name = write(tmp_path)
    for file in tmp_path.glob("report.json.*"):
        file.write_text(file.read_text().replace('"policy": "abs:1e-4"', '"policy": "rules"'))
    communicators = _rows.tables(_read.read([str(name)]))[0]
    assert communicators.title == "Communicators" and communicators.rows[0][1] == "none"
