#!/usr/bin/env python3
"""Observes a program of messages, then runs it with the rules that `taut advise` prints, as a user pastes
them.

advice_test.py TAUT LAYERS MPICC MPIEXEC    TAUT: the program; LAYERS: the folder of libtaut_preload.so
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
TAUT, LAYERS, MPICC, MPIEXEC = sys.argv[1:5]


class Messages(unittest.TestCase):
    def setUp(self):
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.folder = Path(held.name)
        subprocess.run([MPICC, "-O1", "-o", self.folder / "ring", HERE / "probing.c"], check=True)

    def shell(self, script):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("TAUT_")}
        environment |= {"TAUT_PRELOAD": f"{LAYERS}/libtaut_preload.so", "PROGRAM": TAUT, "MPIEXEC": MPIEXEC}
        done = subprocess.run(
            ["sh", "-c", script], cwd=self.folder, env=environment, capture_output=True, text=True, check=False, timeout=120
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done

    def ring(self, report, before=""):
        """Returns the distance of the values from the exact ones, the output, and the kinds of calls that
        rank 0 reports."""
        done = self.shell(f'{before}\n"$PROGRAM" run --report {report} -- "$MPIEXEC" -n 2 ./ring')
        communicators = json.loads((self.folder / f"{report}.0").read_text())["communicators"]
        kinds = {kind["collective"]: kind for communicator in communicators for kind in communicator["kinds"]}
        return float(re.search(r"worst: (\S+)", done.stdout)[1]), done.stderr, kinds

    def advice(self, *arguments):
        return self.shell(" ".join(['"$PROGRAM" advise seen.json', *arguments])).stdout

    def test_what_is_advised_does_what_was_said(self):
        worst, said, kinds = self.ring("seen.json")
        self.assertEqual((worst, said, kinds.keys()), (0, "", {"send"}))
        self.assertEqual((kinds["send"]["calls"], kinds["send"]["plain_calls"]), (2, {"off": 2}))
        self.assertIn("Give it: --link", self.advice())
        printed = self.advice("--link 1gbit", "--bound rel:1e-3")
        pasted = "\n".join(line for line in printed.splitlines() if line.startswith("export "))
        self.assertIn("Send f32 >=256KiB", pasted)

        worst, said, kinds = self.ring("with.json", pasted)
        self.assertEqual((said, kinds["send"]["compressed_calls"], kinds["recv"]["compressed_calls"]), ("", 1, 1))
        self.assertEqual(kinds["send"]["plain_calls"], {"credit": 1})
        self.assertTrue(0 < worst <= 1e-3 * 996 * 0.37, worst)
        ratio = float(re.search(r"send f32 256KiB +2 +2 +(\S+)", printed)[1])
        self.assertAlmostEqual(kinds["send"]["ratio"] / ratio, 1, delta=0.3)

    def test_a_rule_for_messages_alone_is_not_enough(self):
        worst, said, kinds = self.ring("plain.json", 'export TAUT_RULES="Send : rel:1e-3"')
        self.assertEqual((worst, kinds["send"]["plain_calls"]), (0, {"off": 2}))
        self.assertIn("a rule for Send needs TAUT_MESSAGES=1", said)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
