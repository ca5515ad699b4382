"""Quantum ESPRESSO (pw.x): electrons of a silicon crystal with one atom displaced. The parallel FFT transposes by
MPI_Alltoall."""

from application import Application, numbers

INPUT = """
&control
  calculation = 'scf', prefix = 'si', outdir = './scratch', disk_io = 'none', verbosity = 'low'
  pseudo_dir = '/usr/share/espresso/pseudo', tprnfor = .true., tstress = .true.
/
&system
  ibrav = 1, celldm(1) = 10.2, nat = 8, ntyp = 1, ecutwfc = {cutoff}, nosym = .true.
/
&electrons
  conv_thr = 1d-10, mixing_beta = 0.7, diagonalization = 'david', diago_full_acc = .true.
/
ATOMIC_SPECIES
Si 28.086 Si.pz-vbc.UPF
ATOMIC_POSITIONS crystal
Si 0.02 0.00 0.00
Si 0.00 0.50 0.50
Si 0.50 0.00 0.50
Si 0.50 0.50 0.00
Si 0.25 0.25 0.25
Si 0.25 0.75 0.75
Si 0.75 0.25 0.75
Si 0.75 0.75 0.25
K_POINTS gamma
"""


def arguments(folder, size):
    (folder / "si.in").write_text(INPUT.format(cutoff=size))
    return ["-in", "si.in"]


def observables(text):
    return {
        "total energy, Ry": numbers(r"^!\s+total energy\s+=\s+(\S+)", text),
        "greatest force, Ry/bohr": [max(map(abs, numbers(r"force =\s+(-?\d\S+)", text)), default=0.0)],
        "pressure, kbar": numbers(r"P=\s*(-?\d\S*)", text),
        "iterations": numbers(r"convergence has been achieved in\s+(\d+)", text),
    }


APPLICATION = Application(
    program="pw.x",
    package="quantum-espresso",
    calls="Alltoall c128 >=16KiB",
    bounds=("rel=1e-4", "rel=1e-6", "rel=1e-8", "rel=1e-10"),
    size=20,
    small_size=16,
    arguments=arguments,
    observables=observables,
    seconds=lambda text: numbers(r"^ +electrons +:.* +(\S+)s WALL", text)[-1],
    skipped_lines=r"starts on|CPU|WALL|terminated on|cpu time|wall|secs|RAM",
)
