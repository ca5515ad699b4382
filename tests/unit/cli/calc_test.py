"""taut advise --calc: forecasts of one call at speeds that are measured here."""

import math
import re
import struct
import unittest

from program import ProgramTest


class Calc(ProgramTest):
    def calc(self, *arguments):
        return self.succeed("advise", "--calc", *arguments)

    def gains(self, *arguments):
        """Returns {threads: gain}."""
        printed = self.calc(*arguments)
        return {int(n): float(gain) for n, gain in re.findall(r"^ +(\d+) .* (\S+)x  ", printed, re.MULTILINE)}

    def test_on_a_slow_link_the_gain_is_the_ratio(self):
        gains = self.gains("--link", "1mbit", "--ratio", "8", "--threads", "1,2", "--nodes", "4")
        self.assertEqual(list(gains), [1, 2])
        for gain in gains.values():
            self.assertAlmostEqual(gain, 8, delta=0.3)

    def test_on_a_fast_link_nothing_pays(self):
        printed = self.calc("--link", "1000000GB", "--threads", "1")
        self.assertIn("no ratio pays at these speeds", printed)
        self.assertRegex(printed, r" \S+e-\d+x ")

    def test_the_break_even_separates_gain_from_loss(self):
        printed = self.calc("--link", "1gbit", "--ratio", "8", "--threads", "1")
        rate = float(re.search(r"links of up to (\S+) Gbit/s", printed)[1])
        # Speeds are measured anew, on a machine that has other work: far from the break-even.
        self.assertGreater(self.gains("--link", f"{rate / 50:f}gbit", "--ratio", "8", "--threads", "1")[1], 1)
        self.assertLess(self.gains("--link", f"{rate * 50:f}gbit", "--ratio", "8", "--threads", "1")[1], 1)

    def test_full_nodes_share_link_and_memory(self):
        asked = ("--call", "alltoall", "--link", "1gbit", "--ratio", "8", "--threads", "1", "--nodes", "4")
        printed = self.calc(*asked, "--ranks-per-node", "8")
        self.assertIn("on 4 nodes of 8 ranks", printed)
        plain = [float(re.search(r" (\S+) +\S+ +\S+x", text)[1]) for text in (self.calc(*asked), printed)]
        self.assertAlmostEqual(plain[1] / plain[0], 8, delta=0.2)
        slow = self.gains(*asked, "--ranks-per-node", "8", "--memory", "1GB")
        self.assertLess(slow[1], 3)

    def test_values_of_a_file(self):
        waves = [math.sin(i / 200) for i in range(100_000)]
        self.file("wave.f64", struct.pack(f"<{len(waves)}d", *waves))
        printed = self.calc("wave.f64", "--link", "1gbit", "--call", "allgather", "--size", "4MiB", "--nodes", "8", "--bound", "abs:1e-3")
        self.assertIn("allgather f64 of 4MiB on 8 nodes, link 0.125 GB/s of each; abs:0.001 on the result\nvalues: wave.f64", printed)
        self.assertRegex(printed, r"x  (planes|szx), ring by values, \d+ segments")

    def test_a_coding_that_is_asked_for(self):
        self.assertIn("szx, two_shot by values", self.calc("--link", "1gbit", "--threads", "1", "--bound", "abs:1e-3,codec=szx,algorithm=two_shot"))

    def test_what_cannot_be_calculated(self):
        for arguments, message in (
            (["--calc"], "--link"),
            (["--ratio", "8", "r.json"], "--ratio: is for --calc only"),
            (["--calc", "--link", "1gbit", "--call", "send"], "--call: 'send' is none of allreduce"),
            (["--calc", "--link", "1gbit", "--size", "much"], "--size"),
            (["--calc", "--link", "1gbit", "--threads", "0"], "--threads"),
            (["--calc", "--link", "1gbit", "--ratio", "0.5"], "--ratio"),
        ):
            with self.subTest(arguments=arguments):
                self.refuse(2, message, "advise", *arguments)
        self.refuse(1, "plain MPI: below min_bytes", "advise", "--calc", "--link", "1gbit", "--size", "1KiB")
        self.refuse(1, "plain MPI", "advise", "--calc", "--link", "1gbit", "--bound", "lossless")


if __name__ == "__main__":
    unittest.main()
