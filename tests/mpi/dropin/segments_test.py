#!/usr/bin/env python3
"""Tests messages in segments between ranks that wait for each other, or of which one is killed.

segments_test.py LAYERS MPICC MPIEXEC    LAYERS: the folder of libtaut_preload.so
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
LAYERS, MPICC, MPIEXEC = sys.argv[1:4]
SEGMENTS = 2 * 7 * 4  # messages of MPI if both messages of all 8 rounds but the first are in 4 segments


class Segments(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        held = tempfile.TemporaryDirectory()
        cls.addClassCleanup(held.cleanup)
        cls.folder = Path(held.name)
        subprocess.run([MPICC, "-O1", "-o", cls.folder / "segments", HERE / "segments.c", "-lm"], check=True)

    def run_part(self, part):
        asked = {"LD_PRELOAD": f"{LAYERS}/libtaut_preload.so", "TAUT_MESSAGES": "1", "TAUT_REPORT": f"{part}.%r.json"}
        asked |= {"TAUT_RULES": "* : abs=1e-3,when=always"}
        command = [MPIEXEC, "-n", "2", "env", *(f"{k}={v}" for k, v in asked.items()), "./segments", part]
        environment = {k: v for k, v in os.environ.items() if not k.startswith("TAUT_")}
        return subprocess.run(
            command, cwd=self.folder, env=environment, capture_output=True, text=True, check=False, timeout=60
        )

    def test_a_call_that_waits_takes_the_segments_of_all_receives(self):
        # A sender whose receiver takes no segments sends the next messages in one piece: 5 of 8 then.
        for part in ("wait", "waitany", "waitsome", "waitall", "recv"):
            with self.subTest(part):
                done = self.run_part(part)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                kinds = json.loads((self.folder / f"{part}.0.json").read_text())["communicators"][0]["kinds"]
                sent = sum(kind["sent_messages"] for kind in kinds if kind["collective"] == "send")
                self.assertGreater(sent, SEGMENTS * 7 // 8)

    def test_a_receiver_ends_with_its_sender(self):
        done = self.run_part("killed")
        self.assertNotEqual(done.returncode, 0)
        self.assertNotIn("received", done.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
