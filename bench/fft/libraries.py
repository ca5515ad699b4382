"""Compares FFT libraries under `taut run` with the compression that dtFFT has itself: bytes, times, errors of transforms.

PYTHON, by default .venv-fft/bin/python, has mpi4py and the libraries (docs/applications/fft.md). dtfft-zfp needs a dtFFT that
was built with zfp, as its wheels are not. With a link, emulated hosts are joined by it, a rank on each (needs root); without it
the ranks share memory. --data: turbulence, noise or NAME.f64.

Each row is a job of its own, as dtFFT ends the job when a message does not shrink. In a job, transforms by the same library
without compression alternate with those of the row.
"""

import json
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from suite import ROOT, Suite, emulated_hosts

from job import BUILDS, kinds_of, launch, traffic

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


def measured(options):
    python = (ROOT / options.python).absolute()
    with emulated_hosts(options.link, options.hosts) as hosts:
        for data in options.data.split(","):
            words = ["--data", data, "--shape", options.shape, "--repeats", str(options.repeats)]
            case = Case(options.builds[0], python, hosts, options.hosts, words)
            for row in [row for library in options.libraries.split(",") for row in rows_of(library, options.bounds.split(","))]:
                try:
                    yield case.run(*row) | {"shape": options.shape, "link": options.link}
                except RuntimeError as failure:
                    print(f"{' '.join(row)} ended: {str(failure)[-400:]!r}", flush=True)


SUITE = Suite(
    about=__doc__, rows=measured, needs="fft", builds=BUILDS, quick={"shape": "64x64x64", "repeats": 1},
    options={"link": ("", "rate of the links; none: shared memory"), "hosts": (2, "emulated hosts"), "shape": ("192x192x192", "doubles"),
             "data": ("turbulence,noise", "arrays"), "libraries": ("mpi4py-fft,dtfft,dtfft-zfp", "names"),
             "bounds": ("1e-2,1e-4,1e-6", "bounds"), "repeats": (5, "transforms"), "python": (".venv-fft/bin/python", "with the libraries")},
    columns={"library": "{library}", "data": "{data}", "variant": "{variant}", "policy": "{policy}", "plain sent, B": "{plain_sent:.0f}",
             "sent, B": "{sent:.0f}", "plain, s": "{plain_s:.3f}", "time, s": "{seconds:.3f}", "gain": "{gain:.2f}", "error": "{error:.1e}"},
)  # fmt: skip
