"""A report on the terminal, in lines of at most 80 characters."""

import textwrap
from typing import Optional

from ._read import Report
from ._rows import Table, before_and_after, head, tables, verdict

WIDTH = 80


def lines(report: Report, before: Optional[Report] = None) -> list[str]:
    """Returns the head, the verdict and all tables."""
    told = [f"{report.ranks} of {report.of_ranks} ranks"]
    for name, text in head(report):
        told += textwrap.wrap(f"{name}: {text}", WIDTH, subsequent_indent=" " * 4)
    told += textwrap.wrap(verdict(report, before), WIDTH)
    shown = ([before_and_after(before, report)] if before is not None else []) + tables(report)
    for table in shown:
        told += ["", *_lines_of(table)]
    return told


def _lines_of(table: Table) -> list[str]:
    """Returns a table: side by side where that fits, else a paragraph for each row."""
    widths = [max(map(len, column)) for column in zip(table.columns, *table.rows)]
    told = [table.title]
    if sum(widths) + 2 * len(widths) <= WIDTH:
        for row in (table.columns, *table.rows):
            cells = [text.ljust(width) if k == 0 else text.rjust(width) for k, (text, width) in enumerate(zip(row, widths))]
            told.append("  " + "  ".join(cells).rstrip())
    else:
        for row in table.rows:
            told += textwrap.wrap(row[0], WIDTH - 2, initial_indent="  ", subsequent_indent="    ")
            rest = ", ".join(f"{name} {text}" for name, text in zip(table.columns[1:], row[1:]) if text not in ("", "-"))
            told += textwrap.wrap(rest, WIDTH - 2, initial_indent="    ", subsequent_indent="    ")
    return told + textwrap.wrap(table.note, WIDTH - 2, initial_indent="  ", subsequent_indent="  ")
