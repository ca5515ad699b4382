"""Counts the ways that chunks of sums of frames take, on real fields.

Each field is added to itself, shifted by half of its slowest extent. The counts depend on the values alone, so that they are
the same on any machine; `make papers` publishes those of bench/results/sum_pipelines.json.
"""

import fields
from suite import Suite


def counted(options):
    """Yields the rows of each field, one for each bound."""
    for row in fields.measured(options, "--rows", "pipelines", "--range-bounds", "1e-1,1e-2,1e-3,1e-4"):
        yield {"name": row["field"]} | row


SUITE = Suite(
    about=__doc__, rows=counted, options=fields.OPTIONS, needs=fields.SUITE.needs, builds=fields.SUITE.builds,
    columns={one: f"{{{one}}}" for one in ("name", "of_range", "chunks", "constant", "copied", "added", "general")},
)  # fmt: skip
