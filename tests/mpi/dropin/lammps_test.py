#!/usr/bin/env python3
"""Runs LAMMPS under rules: its messages hold tags and types bit by bit beside coordinates.

lammps_test.py TAUT LAYERS    TAUT: the program; LAYERS: the folder of libtaut_preload.so

Skipped (exit status 77) where Debian's `lammps` (which runs on its Open MPI) is not installed.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TAUT, LAYERS = sys.argv[1:3]
MPIEXEC = "mpiexec.openmpi"
STEPS = 20
MELT = f"""
units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 20 0 20 0 20
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 1.44 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify delay 0 every 10 check no
fix 1 all nve
thermo 5
thermo_style custom step temp epair etotal press
thermo_modify format float %.15g
run {STEPS}
"""


class Lammps(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        held = tempfile.TemporaryDirectory()
        cls.addClassCleanup(held.cleanup)
        cls.folder = Path(held.name)
        (cls.folder / "in.melt").write_text(MELT)
        cls.plain, _ = cls.thermo(report="plain.json")

    @classmethod
    def thermo(cls, before="", report="r.json"):
        """Returns temperature and energies of some steps as LAMMPS prints them, and rank 0's kinds of calls."""
        environment = {k: v for k, v in os.environ.items() if not k.startswith("TAUT_")}
        environment |= {"TAUT_PRELOAD": f"{LAYERS}/libtaut_preload.so", "PROGRAM": TAUT, "OMP_NUM_THREADS": "1"}
        lammps = "lmp -in in.melt -log none"
        script = f'{before}\n"$PROGRAM" run --report {report} -- {MPIEXEC} --oversubscribe -n 2 {lammps}'
        done = subprocess.run(["sh", "-c", script], cwd=cls.folder, env=environment, capture_output=True, text=True,
                              check=False, timeout=200)  # fmt: skip
        if done.returncode:
            raise AssertionError(done.stdout + done.stderr)
        lines = re.findall(r"^ *(\d+) +(-?\d\S*) +(-?\d\S*) +(-?\d\S*) +(-?\d\S*) *$", done.stdout, re.M)
        seen = json.loads((cls.folder / f"{report}.0").read_text())
        return lines, [kind for c in seen["communicators"] for kind in c["kinds"]]

    def test_what_is_advised_gives_the_same_digits(self):
        self.assertEqual(len(self.plain), STEPS // 5 + 1)
        for bound in ("rel:1e-4", "lossless"):
            command = [TAUT, "advise", "plain.json.0", "plain.json.1", "--bound", bound, "--link", "100mbit"]
            printed = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=True).stdout
            self.assertRegex(printed, r"send f64 \S+ .*packed integers")
            pasted = "\n".join(line for line in printed.splitlines() if line.startswith("export "))
            self.assertNotIn("rel", pasted)
            with self.subTest(bound=bound, rules=pasted):
                self.assertEqual(self.thermo(pasted)[0], self.plain)

    def sent(self, rule):
        """Returns the row of the report on rank 0's sends under a rule for messages, and the printed lines."""
        lines, kinds = self.thermo(f'export TAUT_MESSAGES=1 TAUT_RULES="Send f64 >=128KiB : {rule}"')
        [sent] = [kind for kind in kinds if kind["collective"] == "send"]
        self.assertGreater(sent["packed_calls"], 0)
        return sent, lines

    def test_a_bound_has_to_do_with_coordinates_alone(self):
        sent, lines = self.sent("rel=1e-4")  # without gain, as integers are kept
        self.assertEqual((sent["compressed_calls"], lines), (0, self.plain))
        sent, lines = self.sent("rel=1e-6 when=always")
        self.assertEqual(sent["compressed_calls"], sent["calls"])
        self.assertEqual(len(lines), len(self.plain))
        for ours, theirs in zip(lines, self.plain):
            for a, b in zip(ours, theirs):
                self.assertAlmostEqual(float(a), float(b), delta=1e-4 * max(1, abs(float(b))))


if __name__ == "__main__":
    if not (shutil.which("lmp") and shutil.which(MPIEXEC)):
        print("skipped: Debian's lammps (apt-get install lammps) is not installed, or its Open MPI")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
