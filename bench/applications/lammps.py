"""LAMMPS: molecules of a melt. Its messages hold tags and types bit by bit beside coordinates."""

import re

from application import Application, numbers

INPUT = """
units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 {size} 0 {size} 0 {size}
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
run {steps}
"""
COLUMNS = ("temperature", "potential energy", "total energy", "pressure")


def arguments(folder, size):
    steps = 20 if size <= 20 else 100
    (folder / "in.melt").write_text(INPUT.format(size=size, steps=steps))
    return ["-in", "in.melt", "-log", "none"]


def observables(text):
    rows = re.findall(r"^ *\d+" + r" +(-?\d\S*)" * len(COLUMNS) + r" *$", text, re.MULTILINE)
    return {name: [float(row[i]) for row in rows] for i, name in enumerate(COLUMNS)}


APPLICATION = Application(
    program="lmp",
    package="lammps",
    calls="Send f64 >=128KiB",
    messages=True,
    size=21,
    small_size=20,
    arguments=arguments,
    observables=observables,
    seconds=lambda text: numbers(r"^Loop time of (\S+)", text)[-1],
    skipped_lines=r"time|Performance|CPU use|^(Pair|Neigh|Comm|Output|Modify|Other) |tau/day|timesteps/s|seconds",
)
