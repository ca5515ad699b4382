"""Compares block-scaled number formats at equal bytes: the rms of the errors by the rms of the values, in percent.

Data: g gaussian, l Laplace, t Student t with 3 degrees of freedom, r a gradient of a network on digits, f a field of sines with noise.
"""

from suite import ROOT, Suite, lines_of


def measured(options):
    yield from lines_of([ROOT / ".venv-torch/bin/python", ROOT / "bench/block_scaled/formats.py", options.count])


SUITE = Suite(
    about=__doc__, rows=measured, needs="torch", builds={}, options={"count": (1 << 20, "number of values")}, quick={"count": 1 << 14},
    columns={"bits": "{bits:.2f}", "format": "{format}"} | {name: f"{{{name}:.2f}}" for name in "gltrf"},
)  # fmt: skip
