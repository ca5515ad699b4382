"""Measures collectives, plain MPI and Taut in alternation (`make bench-collectives`), in shared memory or over a link.

Further words are arguments of taut_bench_collectives (--help: all); over a link sizes are 4M:64M unless they say otherwise, and
the bytes on the wire are counted. A link passes its first 0.25 ms (32 KiB at 1 Gbit/s) at once: a call that sends less than
1 MB looks faster than the link is.
"""

from suite import RELEASE, Suite, launcher, lines_of, on_ranks

BUILDS = {"release": f"taut_bench_collectives {RELEASE}"}
COLUMNS = {
    "operation": "{operation}", "bytes": "{bytes}", "variant": "{variant}", "median, us": "{median_us:.1f}", "least": "{min_us:.1f}",
    "most": "{max_us:.1f}", "coding, us": "{coding_us:.1f}", "compressed": "{compressed}", "ratio": "{ratio:.2f}",
    "sent, B": "{sent_bytes:.0f}", "on the wire, B": "{wire_bytes:.0f}", "error": "{max_error:.3g}", "bound": "{bound:.2g}",
    "identical": "{identical}",
}  # fmt: skip


def job(build, words, ranks=2, link="", hosts=0, seconds=900, gate=(), **more):
    """Runs taut_bench_collectives. Returns its settings and its rows."""
    on_link = ["--link", f"{link} links", "--interface", "eth0"] if link else []
    start = on_ranks(launcher(build), ranks, link, hosts, seconds, gate)
    settings, *rows = lines_of([*start, build / "bench/collective/taut_bench_collectives", *on_link, *words], **more)
    return settings, rows


def measured(options):
    words = options.rest or (["-m", "4M:64M"] if options.link else [])
    words = ["-i", "3", "-m", "1M:1M", *options.rest] if options.quick else words
    settings, rows = job(options.builds[0], words, options.ranks, options.link, options.ranks // options.per_host)
    options.settings |= settings
    return rows


SUITE = Suite(
    about=__doc__, rows=measured, columns=COLUMNS, needs="bench", builds=BUILDS,
    options={"link": ("", "rate of the links between emulated hosts, as 1gbit (needs root); none: shared memory"),
             "ranks": (2, "ranks"), "per_host": (1, "of them on each emulated host")},
)  # fmt: skip
