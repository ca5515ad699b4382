"""Other predictions and encodings for planes, by the bytes that they would take for real fields (`make bench-study`). A table for
each group of variants has their ratios and the geometric means; planes_study.py says what they are.
"""

import os
from pathlib import Path

import fields
import tables
from codec_peers import mean
from suite import ROOT, Suite, lines_of

GROUPS = "predictions,tables,blocks,stages,links,interpolation"


def measured(options):
    options.settings |= {"bound": options.bound}
    words = [options.taut_fields, options.fields, options.bound, options.groups]
    environment = os.environ | {"PYTHONPATH": str(options.builds[0] / "python")}
    return lines_of([ROOT / ".venv-peers/bin/python", Path(__file__).with_name("planes_study.py"), *words], env=environment)


def print_tables(run, options):
    for group in options.groups.split(","):
        every = {row["field"]: row[group] for row in run["rows"]}
        names = list(run["rows"][0][group])
        every[f"geometric mean of {len(every)}"] = {name: mean([row[name] for row in every.values()]) for name in names}
        lines = ([field, *(f"{row[name]:.2f}" for name in names)] for field, row in every.items())
        print("\n".join(tables.table([group, *names], lines)))


SUITE = Suite(
    about=__doc__, rows=measured, finish=print_tables, needs="bench_peers python",
    builds={"python-release": "taut_python -DTAUT_PYTHON=ON -DTAUT_WITH_MPI=OFF"},
    options=fields.OPTIONS | {"bound": (1e-2, "of the range"), "groups": (GROUPS, "of variants")},
    columns={"field": "{field}", "prediction": "{prediction}"},
)  # fmt: skip
