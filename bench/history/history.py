"""Measures programs that repeat themselves, with and without `history=`, and plain MPI, in alternation (`make bench-history`), in shared
memory or over a link, for which emulated hosts are made (needs root): a broadcast of bfloat16 weights, the halo of the heat equation,
the sums of k-means, and random gradients, which gain nothing.
"""

from suite import RELEASE, Suite, launcher, lines_of, on_ranks

OPTIONS = {"steps": (40, "of each program"), "scale": (1.0, "of the sizes"), "when": ("always", "or profitable"), "history": ("auto", "or a number")}  # fmt: skip


def measured(options):
    build, asked = options.builds[0], {name: getattr(options, name) for name in OPTIONS}
    options.settings |= asked | {"link": options.link, "ranks": options.ranks}
    words = [word for name, value in asked.items() for word in (f"--{name}", value)]
    return lines_of([*on_ranks(launcher(build), options.ranks, options.link), build / "bench/history/taut_bench_history", *words])


SUITE = Suite(
    about=__doc__, rows=measured, needs="bench", builds={"release": f"taut_bench_history {RELEASE}"}, quick={"steps": 8, "scale": 0.1},
    options=OPTIONS | {"link": ("", "rate of the link; none: shared memory"), "ranks": (4, "of each program")}, within="same_bits",
    columns={"program": "{program}", "bytes": "{bytes}", "MPI, ms": "{mpi_ms:.2f}", "off, ms": "{off_ms:.2f}", "on, ms": "{on_ms:.2f}",
             "on / off": "{on_over_off:.3f}", "ratio off": "{off_ratio:.2f}", "ratio on": "{on_ratio:.2f}", "same bits": "{same_bits}"},
)  # fmt: skip
