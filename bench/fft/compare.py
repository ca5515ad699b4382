#!/usr/bin/env python3
"""Compares FFT libraries under `taut run` with the compression that dtFFT has itself: bytes, times, errors of transforms.

  compare.py BUILD [--link 1gbit] [--hosts 2] [--shape 192x192x192] [--data turbulence,noise,NAME.f64] [--repeats 5]
             [--libraries mpi4py-fft,dtfft,dtfft-zfp] [--bounds 1e-2,1e-4,1e-6] [--json FILE]

BUILD: a folder of tools/build.sh with the drop-in. PYTHON, by default .venv-fft/bin/python, has mpi4py and the libraries
(docs/applications/fft.md). dtfft-zfp needs a dtFFT that was built with zfp, as its wheels are not. --link: emulated hosts
joined by such links, a rank on each (needs root); without it the ranks share memory.

Each row is a job of its own, as dtFFT ends the job when a message does not shrink. In a job, transforms by the same library
without compression alternate with those of the row.
"""

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench" / "applications"), str(ROOT / "bench")]
import machine  # noqa: E402
from job import emulated_hosts, kinds_of, launch, mbit_of, traffic  # noqa: E402

TRANSFORM = Path(__file__).resolve().with_name("transform.py")
LIBRARY = "/usr/lib/x86_64-linux-gnu/libmpi.so.40"  # Debian's Open MPI, which dtFFT's wheel for Open MPI fits too


class Case:
    """Jobs on one array. `build`: the folder with taut and the drop-in. `hosts`: name of emulated hosts; "": none."""

    def __init__(self, build, python, hosts="", ranks=2, options=()):
        self.build, self.python, self.hosts, self.ranks, self.options = Path(build).resolve(), str(python), hosts, ranks, options

    def run(self, library, variant, policy=""):
        """Returns the figures of a job. `policy`: Taut's for all transpositions; "" without Taut."""
        with tempfile.TemporaryDirectory() as folder:
            out, report = Path(folder) / "figures.json", Path(folder) / "report.json"
            program = [self.python, str(TRANSFORM), library, variant, "--out", str(out), *self.options]
            settings = ["OMP_NUM_THREADS=1", f"MPI4PY_LIBMPI={LIBRARY}"]
            if policy:
                settings += [f"TAUT_PRELOAD={self.build}/lib/taut/libtaut_preload.so", "TAUT_NONBLOCKING=1", "TAUT_MESSAGES=1"]
                rules = ["--rules", f"Alltoall,Send : {policy} ; * : off"]
                observing = [] if self.hosts else ["--report", str(report)]  # takes time
                program = [str(self.build / "bin" / "taut"), "run", *rules, *observing, "--", *program]
            command = ["env", *settings, *program]
            printed = launch(command, folder, self.ranks, self.hosts, timeout=200)
            if not out.exists():  # a library has ended the job with exit status 0
                raise RuntimeError(printed)
            figures = json.loads(out.read_text()) | {"policy": policy}
            if policy and not self.hosts:
                figures["compressed_calls"], figures["values"], figures["frames"] = traffic(kinds_of(report, self.ranks))
            return figures


def rows_of(library, bounds):
    """Returns the rows of a library, as arguments of Case.run."""
    if library == "dtfft-zfp":
        # zfp keeps errors well below its tolerance: with these, transforms err about as much as within Taut's bounds
        accuracies = [f"accuracy:{float(bound) * 4:g}" for bound in bounds]
        return [("dtfft", mode, "") for mode in ("lossless", *accuracies, "rate:16")]
    policies = ["lossless", *(f"abs={bound} when=always" for bound in bounds), f"abs={bounds[len(bounds) // 2]}"]
    return [(library, "taut", policy) for policy in policies]


def printed_row(figures):
    name = f"`{figures['policy']}`" if figures["policy"] else f"own zfp, {figures['variant']}"
    sent = f"{figures['sent'] / 1e6:.2f}" if figures["sent"] else "-"
    ratio = f"{figures['plain_sent'] / figures['sent']:.2f}" if figures["sent"] else "-"
    return (
        f"| {figures['library']} | {name} | {sent} | {ratio} | {figures['plain_s'] * 1e3:.0f} | {figures['seconds'] * 1e3:.0f} |"
        f" {figures['gain']:.2f} | {figures['error']:.1e} |"
    )


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("--link", default="")
    parser.add_argument("--hosts", type=int, default=2)
    parser.add_argument("--shape", default="192x192x192")
    parser.add_argument("--data", default="turbulence,noise")
    parser.add_argument("--libraries", default="mpi4py-fft,dtfft,dtfft-zfp")
    parser.add_argument("--bounds", default="1e-2,1e-4,1e-6")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


def print_rows(case, libraries, bounds):
    """Runs and prints the rows of an array. Returns their figures."""
    everything = []
    for row in [row for library in libraries for row in rows_of(library, bounds)]:
        try:
            everything.append(case.run(*row))
            print(printed_row(everything[-1]), flush=True)
        except RuntimeError as failure:
            name = f"`{row[2]}`" if row[2] else f"own zfp, {row[1]}"
            print(f"| {row[0]} | {name} | ended: {str(failure)[-400:]!r} |", flush=True)
    return everything


def main():
    asked = parse()
    python = Path(os.environ.get("PYTHON", ROOT / ".venv-fft" / "bin" / "python")).absolute()
    before, everything = machine.record(), []
    print(machine.sentence(before))
    with emulated_hosts(mbit_of(asked.link), asked.hosts) as hosts:
        for data in asked.data.split(","):
            print(f"\n{data}, {asked.shape} doubles, {asked.hosts} ranks, {asked.link or 'shared memory'}\n")
            print("| library | compression | sent, MB | ratio | plain, ms | ms | gain | error |")
            print("|---|---|---:|---:|---:|---:|---:|---:|", flush=True)
            options = ["--data", data, "--shape", asked.shape, "--repeats", str(asked.repeats)]
            case = Case(asked.build, python, hosts, asked.hosts, options)
            rows = print_rows(case, asked.libraries.split(","), asked.bounds.split(","))
            everything += [row | {"shape": asked.shape, "link": asked.link} for row in rows]
    if asked.json:
        asked.json.write_text(json.dumps({**before, "rows": everything}, indent=1) + "\n")


if __name__ == "__main__":
    main()
