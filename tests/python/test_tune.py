"""taut tune: the search, the distances of outputs, and the command with a stand-in for `taut run`."""

import json
import math
import re
import shlex
import stat
import sys

import numpy as np
import pytest
from taut._errors import Error
from taut._tune._command import main
from taut._tune._outputs import distance, numbers_of
from taut._tune._search import LOOSEST, Outcome, RunsSpent, Search

# ---- The search


def searched(limits, runs=40, shares=False):
    """Searches the factors of sites that the check accepts up to these limits. Returns the factors and the number of runs."""
    known = {}

    def measure(factors):
        key = tuple(sorted(factors.items()))
        if key not in known:
            if len(known) == runs:
                raise RunsSpent
            worst = max(factor / limits[site] if limits[site] else math.inf for site, factor in factors.items())
            known[key] = Outcome(worst <= 1, worst if shares else None)
        return known[key]

    search = Search(list(limits), measure, lambda: runs - len(known))
    return search.run(), len(known), search.notes


def test_one_site_by_a_yes_and_no():
    found, runs, _ = searched({"a": 9e-5})
    assert 9e-5 / 1.19 <= found["a"] <= 9e-5
    assert runs <= 9


def test_one_site_by_a_number():
    found, runs, _ = searched({"a": 9e-5}, shares=True)
    assert 0.85 * 9e-5 <= found["a"] <= 9e-5
    assert runs <= 3


def test_what_accepts_everything_is_not_made_coarser_than_a_tenth():
    found, runs, _ = searched({"a": 1e9})
    assert (found["a"], runs) == (LOOSEST, 3)


def test_what_accepts_nothing():
    found, _, _ = searched({"a": 0})
    assert found == {}


def test_each_site_gets_a_bound_of_its_own():
    limits = {"a": 1e-5, "b": 3e-2, "c": 2e-2, "d": 1e-5}
    found, _, _ = searched(limits)
    for site, limit in limits.items():
        assert limit / 11 <= found[site] <= limit, site
    assert found["b"] > 100 * found["a"]


def test_a_site_that_bears_no_error_stays_plain():
    found, _, notes = searched({"a": 1e-3, "b": 0, "c": 1e-3, "d": 1e-3})
    assert sorted(found) == ["a", "c", "d"]
    assert notes == ["b: no bound was accepted"]


def test_a_search_that_is_cut_keeps_what_was_accepted():
    found, runs, notes = searched({"a": 9e-5, "b": 1e-2}, runs=4)
    assert runs == 4 and 0 < found["a"] <= 9e-5
    assert "--runs" in notes[-1]


# ---- Outputs


def test_distances():
    plain = np.array([3.0, 4.0, np.nan])
    assert distance(plain, plain) == 0
    assert distance(plain, np.array([3.0, 4.5, np.nan])) == pytest.approx(0.1)
    assert distance(plain, np.array([3.0, np.inf, np.nan])) == math.inf
    assert distance(plain, plain[:2]) == math.inf
    assert distance(np.zeros(2), np.ones(2)) == math.inf


def test_numbers_of_files(tmp_path):
    (tmp_path / "log.txt").write_text("step 12 energy -1.5e+3, 0.25D0; nan\n")
    np.testing.assert_equal(numbers_of(tmp_path / "log.txt"), [12, -1500, 0.25, np.nan])
    values = np.linspace(0, 1, 6, dtype=np.float32)
    values.tofile(tmp_path / "raw.f32")
    np.save(tmp_path / "one.npy", values.reshape(2, 3))
    np.savez(tmp_path / "two.npz", b=values, a=values[:2])
    for name, count in (("raw.f32", 6), ("one.npy", 6), ("two.npz", 8)):
        assert numbers_of(tmp_path / name).size == count
    (tmp_path / "empty.txt").write_text("nothing")
    for name in ("empty.txt", "missing.npy"):
        with pytest.raises(Error, match=name):
            numbers_of(tmp_path / name)


# ---- The command. The stand-in runs the program and writes the report of a run with two call sites.

STAND_IN = """#!{python} -IS
import json, os, subprocess, sys
words = sys.argv[2:]
at = words.index("--")
options = dict(zip(words[:at:2], words[1:at:2]))
text = open(options["--config"]).read() if "--config" in options else ""
done = subprocess.run(words[at + 1:], env=os.environ | {{"BOUNDS": text}})
times = {{"call": 1000}}
def kind(site, size):
    return {{"collective": "allreduce", "type": "f64", "operator": "sum", "least_bytes": size, "site": site,
             "message_bytes": 10 * size, "calls": 10, "compressibility": {{"least": -2.0, "greatest": 1.0}},
             "nanoseconds": times, "value_bytes": 8000, "frame_bytes": 1000}}
kinds = [kind("solve+0x1", 1 << 20), kind("energy+0x2", 1 << 17), kind("tiny+0x3", 8)]
for rank in range(2):
    report = {{"rank": rank, "ranks": 2, "program": "model", "unserved_calls": {{"MPI_Put": 3}}, "communicators": [{{"needs": None, "kinds": kinds}}]}}
    json.dump(report, open(options["--report"] + f".{{rank}}", "w"))
sys.exit(done.returncode)
"""
PROGRAM = """
import os, re, sys
bounds = dict(zip(re.findall(r'callsite = "(\\w+)', os.environ["BOUNDS"]), map(float, re.findall(r'bound = "abs:(.*)"', os.environ["BOUNDS"]))))
error = 10 * bounds.get("solve", 0) + WEIGHT * bounds.get("energy", 0)
print(1.0 + error, 0.0, file=open("out.txt", "w"))
open("runs", "a").write("x")
sys.exit(error > FATAL)
"""


class Tuning:
    def __init__(self, folder, monkeypatch, capsys):
        monkeypatch.chdir(folder)
        self.folder, self.capsys = folder, capsys
        self.taut = folder / "stand-in"
        self.taut.write_text(STAND_IN.format(python=sys.executable))
        self.taut.chmod(stat.S_IRWXU)
        self.program(1000)

    def program(self, weight, fatal=1e9):
        (self.folder / "model.py").write_text(PROGRAM.replace("WEIGHT", str(weight)).replace("FATAL", str(fatal)))

    def run(self, *arguments):
        code = main([*arguments, "--", sys.executable, "-IS", "model.py"], self.taut)
        self.printed = self.capsys.readouterr()
        return code

    @property
    def runs(self):
        return len((self.folder / "runs").read_text())

    def bounds(self):
        text = (self.folder / "tuned.toml").read_text()
        return dict(zip(re.findall(r'callsite = "(\w+)', text), map(float, re.findall(r'bound = "abs:(.*)"', text))))


def checks(condition):
    """Returns a check of the program's error, which prints it."""
    code = f"error = float(open('out.txt').read().split()[0]) - 1; print('misfit', error); raise SystemExit(not {condition})"
    return f'{shlex.quote(sys.executable)} -ISc "{code}"'


@pytest.fixture
def tuning(tmp_path, monkeypatch, capsys):
    return Tuning(tmp_path, monkeypatch, capsys)


def test_output_and_tolerance(tuning):
    assert tuning.run("--output", "out.txt", "--tolerance", "1e-3", "--runs", "20") == 0
    bounds = tuning.bounds()
    assert 5e-4 < 10 * bounds["solve"] + 1000 * bounds["energy"] <= 1e-3
    assert bounds["solve"] > 2 * bounds["energy"]  # it bears more
    assert tuning.runs <= 20
    page = (tuning.folder / "tuned.html").read_text()
    for told in ("model", "Not explored", "MPI_Put", "messages below 64KiB", "abs:", "--confirm", "Quantity of interest"):
        assert told in page
    assert "src=" not in page and "http" not in page  # offline
    text = (tuning.folder / "tuned.toml").read_text()
    assert "when" not in text.replace("when that", "") and "confirmed" in text


def test_rules_that_save_next_to_nothing_are_named_so(tuning):
    tuning.taut.write_text(tuning.taut.read_text().replace('"frame_bytes": 1000', '"frame_bytes": 7900'))
    assert tuning.run("--output", "out.txt", "--tolerance", "1e-3", "--runs", "20") == 0
    assert "1.01 times smaller, too little to gain anything" in tuning.printed.out


def test_a_check_that_prints_a_number(tuning):
    assert tuning.run("--check", checks("error <= 1e-3"), "--runs", "14") == 0
    assert "accepted" in tuning.printed.out


def test_an_interrupted_search_goes_on(tuning):
    assert tuning.run("--output", "out.txt", "--tolerance", "1e-3") == 0
    runs, rules = tuning.runs, (tuning.folder / "tuned.toml").read_text()
    state = json.loads((tuning.folder / "taut-tune/state.json").read_text())
    state["runs"] = state["runs"][:4]
    (tuning.folder / "taut-tune/state.json").write_text(json.dumps(state))
    assert tuning.run("--output", "out.txt", "--tolerance", "1e-3") == 0
    assert tuning.runs == 2 * runs - 4
    assert (tuning.folder / "tuned.toml").read_text() == rules
    assert tuning.run("--output", "out.txt", "--tolerance", "2e-3") == 1
    assert "--folder" in tuning.printed.err


def test_nothing_is_written_where_every_bound_is_refused(tuning):
    tuning.program(weight=1e12)
    assert tuning.run("--check", checks("error == 0"), "--runs", "14") == 1
    assert "leave these calls to plain MPI" in tuning.printed.out
    assert not (tuning.folder / "tuned.toml").exists()


def test_a_program_that_fails_under_a_bound_is_refused(tuning):
    tuning.program(weight=1000, fatal=1e-4)
    assert tuning.run("--check", "true") == 0
    assert "refused: the program ended with status 1" in tuning.printed.out
    bounds = tuning.bounds()
    assert 10 * bounds["solve"] + 1000 * bounds["energy"] <= 1e-4


def test_confirmed_by_another_command(tuning):
    assert tuning.run("--output", "out.txt", "--tolerance", "1e-3", "--confirm", f"{sys.executable} -IS model.py") == 0
    assert "other numbers of ranks" not in (tuning.folder / "tuned.html").read_text()


def test_noise_above_the_tolerance_is_an_error(tuning):
    (tuning.folder / "model.py").write_text("import time\nprint(time.time() % 1, file=open('out.txt', 'w'))\n")
    assert tuning.run("--output", "out.txt", "--tolerance", "1e-6") == 1
    assert "two plain runs differ" in tuning.printed.err


def test_calls_of_no_use_are_an_error_with_what_taut_said_of_the_run(tuning):
    stand_in = STAND_IN.replace("kinds = [kind(", "kinds = [] and [kind(").replace("sys.exit", "print('taut: 4 programs of 1 rank')\nsys.exit")
    tuning.taut.write_text(stand_in.format(python=sys.executable))
    assert tuning.run("--output", "out.txt", "--tolerance", "1e-3") == 1
    assert "no call of the program can be tuned" in tuning.printed.err
    assert "4 programs of 1 rank" in tuning.printed.err


def test_outputs_of_an_older_run_are_an_error(tuning):
    (tuning.folder / "out.txt").write_text("1.0\n")
    (tuning.folder / "model.py").write_text("pass\n")
    assert tuning.run("--output", "out.txt", "--tolerance", "1e-3") == 1
    assert "out.txt: the program did not write it in this run" in tuning.printed.err


def test_the_clock_of_the_file_system_may_be_behind(tuning):
    with (tuning.folder / "model.py").open("a") as program:
        program.write("os.utime('out.txt', ns=(0, os.stat('out.txt').st_mtime_ns - 10**11))\n")
    assert tuning.run("--output", "out.txt", "--tolerance", "1e-3") == 0


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "nothing judges"),
        (["--output", "x"], "--tolerance"),
        (["--tolerance", "1"], "nothing judges"),
        (["--check", "true", "--runs", "3"], "--runs"),
        (["--check", "true", "--min-bytes", "1kb"], "64KiB"),
    ],
)
def test_command_lines_that_cannot_be_followed(tuning, words, told):
    with pytest.raises(SystemExit) as stopped:
        tuning.run(*words)
    assert stopped.value.code == 2
    assert told in tuning.capsys.readouterr().err


def test_the_command_is_missing(tuning):
    with pytest.raises(SystemExit):
        main(["--check", "true"], tuning.taut)
    assert "put it behind --" in tuning.capsys.readouterr().err
