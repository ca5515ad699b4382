#!/usr/bin/env python3
"""Tests rules from the environment under mpiexec: the calls that they apply to, and that ranks with different
rules neither hang nor fail.

Usage: rules_test.py MPIEXEC PROGRAM [AcrossRanks|Words]
"""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

MPIEXEC, PROGRAM = sys.argv[1:3]
del sys.argv[1:3]
RANKS = 3
NAMES = ["sum", "halo", "max", "small", "types", "place", "places", "blocks", "first", "afterwards", "several", "policy", "messages", "children", "masks"]
UNSERVED = {name: "0" for name in NAMES}


def run(*ranks_rules, extra=None):
    """Runs the program with these rules, one text for each rank or one text for all. Returns ({case:
    compressed}, stderr)."""
    environment = {k: v for k, v in os.environ.items() if k not in ("TAUT_RULES", "TAUT_CONFIG")} | (extra or {})
    command = [MPIEXEC]
    if len(ranks_rules) == 1:
        environment |= {"TAUT_RULES": ranks_rules[0]} if ranks_rules[0] else {}
        command += ["-n", str(RANKS), PROGRAM]
    else:
        for i, rules in enumerate(ranks_rules):
            command += ([":"] if i else []) + ["-n", "1", "env", f"TAUT_RULES={rules}", PROGRAM]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=100)
    if done.returncode != 0:
        raise AssertionError(f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}")
    cases = dict(line.split(" ", 1) for line in done.stdout.splitlines())
    wrong = {name: text for name, text in cases.items() if " " in text}
    if wrong or list(cases) != NAMES:
        raise AssertionError(f"{cases}")
    return {name: text.split("/")[0] for name, text in cases.items()}, [x for x in done.stderr.splitlines() if x.startswith("taut:")]


class RulesTest(unittest.TestCase):
    maxDiff = None

    def check(self, expected, *rules, **more):
        compressed, lines = run(*rules, **more)
        self.assertEqual(compressed, UNSERVED | expected)
        return lines


class AcrossRanks(RulesTest):
    """Tests of rules whose outcome the ranks agree on by messages of MPI."""

    def test_without_rules_all_is_plain(self):
        self.assertEqual(self.check({}, ""), [])

    def test_one_rule_for_all(self):
        self.assertEqual(self.check({"sum": "3", "halo": "1", "place": "1", "places": "1", "blocks": "1", "afterwards": "2",
                                     "several": "5", "policy": "1", "messages": "1", "children": "1", "types": "1", "masks": "1"}, "* : abs=1e-3 when=always"), [])

    def test_types_are_agreed_on(self):
        self.check({"place": "1", "places": "1", "several": "3", "types": "1"}, "Bcast f32 : abs=1e-3 when=always")
        self.check({"place": "1", "places": "1", "several": "3", "types": "1"}, "Bcast f32 : rel=1e-4 when=always ; Bcast i32 : off")

    def test_integers_are_coded_without_loss_under_every_bound(self):
        for bound in ("abs=100", "rel=0.5", "pwrel=0.5", "abs=100 codec=planes"):
            self.check({"masks": "1"}, f"Bcast i32 : {bound}")

    def test_sizes_are_agreed_on(self):
        self.check({"blocks": "1"}, "Gather >=700KiB : abs=1e-3 when=always")
        self.check({}, "Gather >=2MiB : abs=1e-3 when=always")

    def test_call_sites_have_to_be_those_of_all_ranks(self):
        self.check({"place": "1"}, "* callsite=here : abs=1e-3 when=always")

    def test_nodes(self):
        self.check({"max": "1"}, "* scope=inter : abs=1e-3 ; * scope=intra max comm=world comm=size:3 : abs=1e-3 when=always")

    def test_ranks_with_different_rules_go_without(self):
        for other in ("", "* : abs=1e-4", "* : nonsense"):
            lines = self.check({}, "* : abs=1e-3", other, "* : abs=1e-3")
            self.assertEqual(len(lines), 1, lines)
        self.assertIn("different rules", self.check({}, "", "* : abs=1e-3", "* : abs=1e-3")[0])

    def test_switched_off_on_one_rank(self):
        environment = {k: v for k, v in os.environ.items()} | {"TAUT_RULES": "* : abs=1e-3 when=always"}
        done = subprocess.run([MPIEXEC, "-n", "1", "env", "TAUT=0", PROGRAM, ":", "-n", "2", PROGRAM], env=environment,
                              capture_output=True, text=True, timeout=100, check=True)
        self.assertEqual({line.split(" ")[1].split("/")[0] for line in done.stdout.splitlines()}, {"0"})


class Words(RulesTest):
    """Tests of the meaning of each word of a rule; the MPI library makes no difference."""

    def test_a_rule_for_messages_of_unchanged_programs_is_for_nothing_else(self):
        self.assertEqual(self.check({}, "Send : abs=1e-3 when=always"), [])

    def test_observing_changes_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            self.check({"halo": "1"}, "* comm=name:halo : abs=1e-3 when=always", extra={"TAUT_REPORT": folder + "/r"})
            self.assertEqual(len(list(Path(folder).iterdir())), RANKS)

    def test_names_and_operators(self):
        self.check({"halo": "1"}, "Allreduce comm=name:halo : abs=1e-3 when=always")
        self.check({"max": "1"}, "Allreduce max : abs=1e-3 when=always")

    def test_reductions_at_a_rate_need_the_name_of_the_codec(self):
        if "zfp" in "".join(run("Allreduce sum : rate=24 codec=zfp")[1]):
            self.skipTest("the codec zfp is left out")
        self.check({"halo": "1"}, "Allreduce sum comm=name:halo : rate=24 codec=zfp when=always")
        self.check({}, "Allreduce sum comm=name:halo : rate=24 when=always")

    def test_a_file_comes_after_the_line(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "run.toml")
            file.write_text('[[rule]]\ncomm = "name:halo"\nbound = "abs:1e-3"\nwhen = "always"\n')
            self.check({"halo": "1"}, "", extra={"TAUT_CONFIG": str(file)})
            self.check({}, "* : off", extra={"TAUT_CONFIG": str(file)})
            self.assertIn("No such file", self.check({}, "", extra={"TAUT_CONFIG": str(file) + "x"})[0])

    def test_faulty_rules_are_told_once_and_nothing_is_served(self):
        lines = self.check({}, "Allreduce f33 : abs=1e-3")
        self.assertEqual(len(lines), 1, lines)
        self.assertIn("column 11", lines[0])

    def test_unknown_names_are_told(self):
        lines = self.check({}, "", extra={"TAUT_RULE": "* : off"})
        self.assertEqual(lines, ["taut: TAUT_RULE is not an option of this version; did you mean TAUT_RULES?"])


if __name__ == "__main__":
    unittest.main()
