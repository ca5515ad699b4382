"""Measures how weights reach three workers after an optimiser step (`make bench-weights`): by plain broadcast, as positions and
values, as exclusive-or by zstd, and by taut.torch.sync_weights, in alternation.

With a link, four emulated hosts are joined by such links (needs root); none: four processes of this host. examples/weights is the
program. For each rate of the optimiser the weights of a transformer, then random weights of the given sizes at 1e-6. weights.svg
shows how many times fewer bytes each way sends; docs/pictures has a copy.
"""

import os

from chart import Panel, Series, chart
from suite import ROOT, Suite, lines_of, mbit_of, on_ranks

PORT = "29531"
NAMES = {"positions+values": "positions, values", "xor+zstd": "XOR by zstd", "taut": "Taut"}


def words_of(options):
    """Yields the arguments of each run."""
    for rate in filter(None, options.rates.split(",")):
        yield ["--rate", rate, "--steps", options.steps]
    for size in filter(None, options.megabytes.split(",")):
        yield ["--megabytes", size, "--steps", options.steps, "--threads", options.threads]


def measured(options):
    python, interface = ROOT / ".venv-torch/bin/python", "eth0" if mbit_of(options.link) else "lo"
    environment = os.environ | {"PYTHONPATH": str(options.builds[0] / "python"), "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": interface}
    if mbit_of(options.link):
        environment |= {"MASTER_ADDR": "10.77.0.1", "MASTER_PORT": PORT}
        start = on_ranks(ROOT / ".venv-torch/bin/mpiexec", 4, options.link, seconds=1800, gate=["--gate", "warn"]) + [python]
    else:
        start = ["timeout", "1800", python, "-m", "torch.distributed.run", "--nproc-per-node=4", f"--master-port={PORT}"]
    options.settings |= {"link": options.link, "threads": options.threads}
    for words in words_of(options):
        yield from lines_of([*start, ROOT / "examples/weights/weights.py", "--interface", interface, *words, *options.rest], env=environment)


def picture(run):
    """Returns the chart of the ways, or None if the run has no transformer."""
    series = {}
    for row in run["rows"]:
        if row["weights"] == "transformer" and row["way"] != "plain":
            series.setdefault(row["way"], []).append((row["rate"], row["fewer_bytes"]))
    if not series:
        return None
    curves = [Series(NAMES.get(way, way), sorted(points), number) for number, (way, points) in enumerate(series.items())]
    return chart("Weights after an optimiser step", [
        Panel("Weights (bfloat16) after an optimiser step", "learning rate of AdamW", "times fewer bytes", curves, level=(1.0, "plain broadcast")),
    ])  # fmt: skip


def draw(run, options):
    made = picture(run)
    if made:
        (options.out / "weights.svg").write_text(made)


SUITE = Suite(
    about=__doc__, rows=measured, finish=draw, within="equal", needs="link python torch",
    builds={"training": "taut_python -DTAUT_PYTHON=ON -DTAUT_WITH_MPI=OFF"},
    quick={"megabytes": "16", "rates": "1e-6", "steps": 2},
    options={"link": ("1gbit", "rate of the links"), "rates": ("1e-3,3e-4,1e-4,1e-5,1e-6", "of the optimiser"), "steps": (5, "measured"),
             "megabytes": ("256,1024", "sizes of random weights"), "threads": (1, "that code on each rank")},
    columns={"weights": "{weights}", "bytes": "{bytes}", "rate": "{rate:g}", "changed": "{changed:.4f}", "way": "{way}",
             "median, s": "{median_s:.3f}", "sent, B": "{median_sent}", "fewer bytes": "{fewer_bytes:.1f}",
             "of plain's speed": "{speed:.2f}", "equal": "{equal}"},
)  # fmt: skip
