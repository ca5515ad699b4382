"""Measures x + x.T of a Dask array, plain and with taut.dask in turn (`make bench-dask`), by transpose_sum.py on a cluster that
run.sh starts: emulated hosts joined by links, a worker on each (needs root), or workers of this host.

Further words are arguments of transpose_sum.py.
"""

from pathlib import Path

from suite import RIG, Suite, lines_of, mbit_of

RUN = Path(__file__).with_name("run.sh")


def measured(options):
    quick = ["--size", "2048", "--repeats", "1"] if options.quick else []
    rate = [options.link, mbit_of(options.link)]
    return lines_of([RUN, RIG, options.builds[0], *rate, options.workers, *quick, *options.rest])


SUITE = Suite(
    about=__doc__, rows=measured, needs="build link python",
    builds={"python-release": "taut_python -DTAUT_PYTHON=ON -DTAUT_WITH_MPI=OFF"},
    options={"link": ("1gbit", "rate of the links; none: workers of this host"), "workers": (4, "workers")},
    columns={"workers": "{workers}", "link": "{link}", "data": "{data}", "bound": "{bound}", "sent, plain, MB": "{plain_mb:.0f}",
             "sent, Taut": "{taut_mb:.0f}", "plain, s": "{plain_s:.2f}", "MB/s": "{plain_mb_s:.0f}", "busy": "{plain_busy:.0%}",
             "Taut, s": "{taut_s:.2f}", "MB/s with Taut": "{taut_mb_s:.0f}", "busy with Taut": "{taut_busy:.0%}", "gain": "{gain:.2f}",
             "error": "{error:.2g}"},
)  # fmt: skip
