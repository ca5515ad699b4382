"""HTML page of a report: pictures and tables, in one file."""

from html import escape

from .._page import document, table
from ._pictures import pictures
from ._read import Report
from ._rows import Table, tables

PLATE = "svg { background: #fff }"  # the pictures have dark texts


def page(report: Report) -> str:
    """Returns HTML that needs no other file."""
    parts = [f"<h1>Taut: {report.ranks} of {report.of_ranks} ranks</h1>"]
    for title, svg in pictures(report):
        parts.append(f"<h2>{escape(title)}</h2>\n{svg}")
    parts += [_table(one) for one in tables(report)]
    return document("Taut report", "\n".join(parts), PLATE)


def _table(one: Table) -> str:
    note = f'<p class="note">{escape(one.note)}</p>' if one.note else ""
    return f"<h2>{escape(one.title)}</h2>{note}\n{table(one.columns, one.rows)}"
