"""Measures programs that repeat themselves, with and without `history=`: how many times fewer bytes their coded messages take.

Small programs also by plain MPI, in alternation, with times: weights, halos, k-means, zeros, and two controls that gain nothing;
in shared memory or over a link, for which emulated hosts are made (needs root); reports of the plain calls foretell the ratios. Then whole runs in shared memory, whose reports
give the ratios: examples/wave3d; the Debian program lmp; turbulence by PYTHON with mpi4py-fft. What is missing is left out.
"""

import contextlib
import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "applications"))
from job import Job, kinds_of, launch, what_is_missing
from lammps import APPLICATION, INPUT
from suite import RELEASE, ROOT, Suite, launcher, lines_of, on_ranks

PROGRAM = {"steps": (40, "of each small program"), "scale": (1.0, "of their sizes"), "when": ("always", "or profitable"),
           "history": ("auto", "or a number")}  # fmt: skip
TARGETS = {  # ratio that a history has to give
    "weights, lr 3e-4": 4.5, "weights, lr 1e-5": 14, "weights, lr 1e-6": 60, "heat": 37, "heat, messages": 37, "Jacobi": 24, "k-means": 50,
    "96 % zeros": 15, "wave3d abs:1e-4": 14, "wave3d abs:1e-5": 10, "LAMMPS abs:1e-4": 21, "LAMMPS abs:1e-5": 17, "LAMMPS lossless": 1.5,
    "turbulence": 85,
}  # fmt: skip


def small_programs(options):
    build, asked = options.builds[0], {name: getattr(options, name) for name in PROGRAM}
    words = [word for name, value in asked.items() for word in (f"--{name}", value)]
    with tempfile.TemporaryDirectory() as folder:
        program = ["env", f"TAUT_REPORT={folder}/report.json", build / "bench/history/taut_bench_history", *words]
        rows = list(lines_of([*on_ranks(launcher(build), options.ranks, options.link), *program]))
        reports = [json.loads(path.read_text()) for path in Path(folder).iterdir()]
    for row in rows:
        yield row | {"foretold_ratio": foretold(reports, row["program"], row["policy"])}


def foretold(reports, program, policy):
    """Returns the ratio that samples of the program's plain calls foretell for a history; None where there are none, as for messages."""
    kinds = [
        kind
        for report in reports
        for one in report["communicators"]
        if (one["name"], one["policy"]) == (program, "off")
        for kind in one["kinds"]
        if kind["history_would_give"]
    ]
    if not kinds:
        return None
    samples = [kind["compressibility"] for kind in kinds]
    share = 0.0
    if not policy.startswith("lossless"):
        extent = max(one["greatest"] for one in samples) - min(one["least"] for one in samples)
        share = float(policy.partition(":")[2].partition(",")[0]) / extent / (len(reports) if kinds[0]["collective"] == "allreduce" else 1)
    plain = under([bound for one in samples for bound in one["bounds"]], share, "value_bytes", "frame_bytes")
    bounds = [bound for kind in kinds for bound in kind["history_would_give"]["bounds"]]
    return plain * under(bounds, share, "alone_bytes", "referring_bytes")


def under(bounds, share, more, less):
    """Returns a ratio of sums under a bound, interpolated between those of samples. `share`: of the range; 0: without loss."""

    def ratio(name):
        found = [bound for bound in bounds if bound["bound"] == name]
        return sum(bound[more] for bound in found) / sum(bound[less] for bound in found)

    if share == 0:
        return ratio("lossless")
    known = sorted((float(name[4:]), ratio(name)) for name in {bound["bound"] for bound in bounds} if name.startswith("rel:"))
    share = min(max(share, known[0][0]), known[-1][0])
    k = next(k for k in range(1, len(known)) if share <= known[k][0])
    (low, at_low), (high, at_high) = known[k - 1 : k + 1]
    return at_low + (at_high - at_low) * math.log(share / low) / math.log(high / low)


def wave3d(options):
    """Yields a row for each bound: a whole run from rest on 2 ranks."""
    bounds = ("abs:1e-4", "abs:1e-5")
    variants = [
        f"{bound},when=always{more}"
        for bound in bounds
        for more in ("", f",history={options.history}")
    ]
    with tempfile.TemporaryDirectory() as folder:
        words = [
            "--cells",
            "64x64x40",
            "--ranks",
            "0x0x2",
            "--steps",
            options.wave_steps,
            "--out",
            folder,
            "--variants",
            ";".join(variants),
        ]
        command = [
            *on_ranks(launcher(options.builds[0]), 2),
            options.builds[0] / "examples/wave3d/wave3d",
            *words,
        ]
        subprocess.run(
            list(map(str, command)), check=False, stdout=subprocess.DEVNULL
        )  # 1: no wave has come to a station yet
        rows = {
            row["name"]: row
            for row in json.loads((Path(folder) / "report.json").read_text())["rows"]
        }
    for bound, off, on in zip(bounds, variants[::2], variants[1::2], strict=True):
        yield compared(
            f"wave3d {bound}",
            bound,
            rows[off]["ratio"],
            rows[on]["ratio"],
            rows[off]["misfit"] == rows[on]["misfit"],
        )


def compared(name, policy, off, on, same=True):
    return {
        "program": name,
        "policy": policy,
        "off_ratio": off,
        "on_ratio": on,
        "same_bits": same,
    }


def ratio_of(kinds, site=""):
    """Returns the ratio of values to frames, as their senders count them, of sites whose name has this text. Messages of unchanged
    programs are filled up to a least length, which does not count."""
    sending = [kind for kind in kinds if kind["collective"] != "recv" and kind["compressed_calls"] > 0 and site in (kind["site"] or "")]
    return sum(kind["value_bytes"] for kind in sending) / max(1, sum(kind["frame_bytes"] for kind in sending))


def lammps(options):
    """Yields a row for each bound of positions in a melt, whose lists of neighbours are made anew each 20 steps."""
    if reason := what_is_missing(APPLICATION):
        print(f"# LAMMPS: {reason}")
        return
    taut, preload = (
        options.builds[0] / name for name in ("bin/taut", "lib/taut/libtaut_preload.so")
    )
    with tempfile.TemporaryDirectory() as folder:
        job = Job(APPLICATION, options.atoms, folder, taut, preload)
        melt = INPUT.format(size=options.atoms, steps=60).replace(
            "every 10 check no", "every 20 check no"
        )
        (job.folder / "in.melt").write_text(melt)
        box = options.atoms * (4 / 0.8442) ** (1 / 3)
        for bound, value in (
            ("abs:1e-4", f"abs:{1e-4 * box:.4g}"),
            ("abs:1e-5", f"abs:{1e-5 * box:.4g}"),
            ("lossless", "lossless"),
        ):
            ratios, texts = [], []
            for more in ("", f" history={options.history}"):
                rules = f"Send f64 >=64KiB : {value} when=always{more} ; * : off"
                texts.append(
                    APPLICATION.printed(
                        job.observed("report.json", rules, messages=True)
                    )
                )
                ratios.append(ratio_of(job.kinds("report.json"), "forward_comm"))
            yield compared(f"LAMMPS {bound}", value, *ratios, texts[0] == texts[1])


def turbulence(options):
    """Yields a row: transforms of which nine come in turn, four times a step."""
    if subprocess.run(
        [options.python, "-c", "import mpi4py_fft"], capture_output=True, check=False
    ).returncode:
        print(f"# turbulence: {options.python} has no mpi4py-fft")
        return
    taut, ratios, texts = options.builds[0] / "bin/taut", [], []
    with tempfile.TemporaryDirectory() as folder:
        program = [
            options.python,
            str(Path(__file__).with_name("turbulence.py")),
            "--cells",
            str(options.cells),
        ]
        for more in ("", " history=36 history_bytes=2GiB"):
            rules = f"Alltoall >=4KiB : abs:1e-4 codec=planes{more} ; * : off"
            preload = [
                f"TAUT_PRELOAD={options.builds[0] / 'lib/taut/libtaut_preload.so'}",
            ]
            texts.append(
                launch(
                    [
                        "env",
                        *preload,
                        str(taut),
                        "run",
                        "--rules",
                        rules,
                        "--report",
                        "report.json",
                        "--",
                        *program,
                    ],
                    folder,
                )
            )
            ratios.append(ratio_of(kinds_of(Path(folder) / "report.json", 2)))
    yield compared("turbulence", "abs:1e-4", *ratios, texts[0] == texts[1])


def measured(options):
    options.settings |= {
        name: getattr(options, name) for name in ("link", "ranks", *PROGRAM)
    }
    wanted = set(filter(None, options.programs.split(",")))
    for program in (small_programs, wave3d, lammps, turbulence):
        if wanted and program.__name__ not in wanted:
            continue
        for row in program(options):
            target = TARGETS.get(row["program"])
            with contextlib.suppress(TypeError):
                row |= {"target": target, "reached": row["on_ratio"] >= target}
            yield row


SUITE = Suite(
    about=__doc__, rows=measured, needs="bench openmpi", builds={"release": f"all {RELEASE.replace('-DTAUT_DROPIN=OFF', '')}"},
    quick={"steps": 8, "scale": 0.1, "wave_steps": 60, "atoms": 20, "cells": 32}, within="same_bits",
    options=PROGRAM | {"link": ("", "rate of the link of the small programs; none: shared memory"), "ranks": (4, "of each small program"),
             "programs": ("", "small_programs,wave3d,lammps,turbulence; none: all"), "wave_steps": (300, "of wave3d"),
             "atoms": (32, "cells of 4 atoms along each axis of LAMMPS' box"), "cells": (64, "along each axis of the turbulence"),
             "python": (str(ROOT / ".venv-fft/bin/python"), "with mpi4py-fft")},
    columns={"program": "{program}", "bytes": "{bytes}", "MPI, ms": "{mpi_ms:.2f}", "off, ms": "{off_ms:.2f}", "on, ms": "{on_ms:.2f}",
             "on / off": "{on_over_off:.3f}", "ratio off": "{off_ratio:.2f}", "ratio on": "{on_ratio:.2f}", "foretold": "{foretold_ratio:.2f}", "target": "{target}",
             "same bits": "{same_bits}"},
)  # fmt: skip
