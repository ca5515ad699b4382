#!/usr/bin/env python3
"""Observes programs, then runs them with the rules that `taut advise` prints, as a user pastes them.

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


class Observed(unittest.TestCase):
    def setUp(self):
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.folder = Path(held.name)

    def compile(self, source, name):
        subprocess.run([MPICC, "-O1", "-o", self.folder / name, HERE / source, "-lm"], check=True)

    def shell(self, script):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("TAUT_")}
        environment |= {"TAUT_PRELOAD": f"{LAYERS}/libtaut_preload.so", "PROGRAM": TAUT, "MPIEXEC": MPIEXEC}
        done = subprocess.run(
            ["sh", "-c", script], cwd=self.folder, env=environment, capture_output=True, text=True, check=False, timeout=120
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done

    def advice(self, *arguments):
        return self.shell(" ".join(['"$PROGRAM" advise seen.json', *arguments])).stdout


def exports(printed):
    return "\n".join(line for line in printed.splitlines() if line.startswith("export "))


class Messages(Observed):
    def setUp(self):
        super().setUp()
        self.compile("probing.c", "ring")

    def ring(self, report, before=""):
        """Returns the distance of the values from the exact ones, the output, and the kinds of calls that
        rank 0 reports."""
        done = self.shell(f'{before}\n"$PROGRAM" run --report {report} -- "$MPIEXEC" -n 2 ./ring')
        communicators = json.loads((self.folder / f"{report}.0").read_text())["communicators"]
        kinds = {kind["collective"]: kind for communicator in communicators for kind in communicator["kinds"]}
        return float(re.search(r"worst: (\S+)", done.stdout)[1]), done.stderr, kinds

    def test_what_is_advised_does_what_was_said(self):
        worst, said, kinds = self.ring("seen.json")
        self.assertEqual((worst, said, kinds.keys()), (0, "", {"send"}))
        self.assertEqual((kinds["send"]["calls"], kinds["send"]["plain_calls"]), (2, {"off": 2}))
        self.assertIn("Give it: --link", self.advice())
        printed = self.advice("--link 1gbit", "--bound rel:1e-3")
        pasted = exports(printed)
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


class Sites(Observed):
    def run_sites(self, report, before=""):
        """Returns the kinds of large calls that rank 0 reports."""
        self.shell(f'{before}\n"$PROGRAM" run --report {report} -- "$MPIEXEC" -n 2 ./two_sites')
        communicators = json.loads((self.folder / f"{report}.0").read_text())["communicators"]
        return [kind for communicator in communicators for kind in communicator["kinds"] if kind["least_bytes"] >= 4096]

    def test_rules_name_the_call_sites_that_gain(self):
        self.compile("two_sites.c", "two_sites")
        easy, hard = sorted(self.run_sites("seen.json"), key=lambda kind: kind["compressibility"]["bounds"][-1]["frame_bytes"])
        gaps = easy["plain_times"]["gaps"], hard["plain_times"]["gaps"]
        self.assertEqual([gap is None for gap in sum(gaps, [])], [True] + 5 * [False])  # before all but the first call
        pasted = exports(self.advice("--link 10mbit", "--bound lossless"))
        self.assertIn(f"callsite={easy['site']} ", pasted)
        self.assertNotIn(hard["site"], pasted)
        compressed = {kind["site"]: kind["compressed_calls"] for kind in self.run_sites("with.json", pasted)}
        self.assertGreater(compressed[easy["site"]], 0)
        self.assertEqual(compressed[hard["site"]], 0)


class Repeated(Observed):
    def setUp(self):
        super().setUp()
        self.compile("repeated.c", "repeated")

    def run_repeated(self, report, before="", words=""):
        """Returns the kinds of messages that both ranks send."""
        self.shell(f'{before}\n"$PROGRAM" run --summary --report {report} -- "$MPIEXEC" -n 2 ./repeated {words} 2>{report}.text')
        reports = [json.loads((self.folder / f"{report}.{rank}").read_text()) for rank in range(2)]
        return [kind for one in reports for comm in one["communicators"] for kind in comm["kinds"] if kind["collective"] == "send"]

    def test_a_history_gives_what_was_said(self):
        seen = self.run_repeated("seen.json")
        told = [kind["history_would_give"] for kind in seen]
        self.assertEqual(len(told), 2 * 6)  # call sites of both ranks
        self.assertTrue(all(told), told)
        self.assertEqual(max(one["period"] for one in told), 3)  # three fields in turn, in one stream
        gains = re.findall(r"history=auto would make frames (\S+) times smaller", (self.folder / "seen.json.text").read_text())
        self.assertTrue(gains)
        gains = [sum(map(float, gains)) / len(gains)]
        samples = [kind["compressibility"] for kind in seen]
        extent = max(one["greatest"] for one in samples) - min(one["least"] for one in samples)
        pasted = exports(self.advice("--link 1gbit", f"--bound abs:{1e-4 * extent:.3g}"))  # the bound of what was said
        self.assertNotIn("history", pasted)  # of messages the gain is not forecast
        alone = self.run_repeated("without.json", pasted)
        with_it = self.run_repeated("with.json", pasted.replace(" ; * : off", " history=auto ; * : off"))
        one_alone = sum(kind["frame_bytes"] for kind in alone) / sum(kind["compressed_calls"] for kind in alone)
        calls, referring, frames = (sum(kind[name] for kind in with_it) for name in ("compressed_calls", "referring_calls", "frame_bytes"))
        self.assertGreater(referring, calls / 2)
        gave = one_alone * referring / (frames - one_alone * (calls - referring))  # of the messages that refer to earlier ones
        self.assertTrue(0.75 < gains[0] / gave < 1.25, (gains, gave))
        self.assertNotIn("would make", (self.folder / "with.json.text").read_text())

    def test_noise_gets_no_history(self):
        seen = self.run_repeated("seen.json", words="changing")
        self.assertTrue(any(kind["history_would_give"] for kind in seen))
        for kind in seen:
            for bound in (kind["history_would_give"] or {"bounds": []})["bounds"]:
                self.assertEqual(bound["alone_bytes"], bound["referring_bytes"])
        self.assertNotIn("history", self.advice("--link 1gbit", "--bound abs:1e-3"))
        self.assertNotIn("history", (self.folder / "seen.json.text").read_text())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
