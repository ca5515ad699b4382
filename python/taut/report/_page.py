"""HTML page of a report: pictures and tables, in one file."""

from html import escape

from ._pictures import pictures
from ._read import Report
from ._rows import Table, tables

STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 1100px; padding: 0 1rem; color: #222 }
h1, h2 { font-weight: 600 } h2 { font-size: 1.15rem; margin-top: 2.2rem }
table { border-collapse: collapse; font-size: 13px; display: block; overflow-x: auto }
th, td { padding: .3rem .6rem; border-bottom: 1px solid #ddd; text-align: right; vertical-align: top }
th:first-child, td:first-child, td:last-child { text-align: left }
svg { max-width: 100%; height: auto } p.note { color: #555 }
"""


def page(report: Report) -> str:
    """Returns HTML that needs no other file."""
    parts = [f"<h1>Taut: {report.ranks} of {report.of_ranks} ranks</h1>"]
    for title, svg in pictures(report):
        parts.append(f"<h2>{escape(title)}</h2>\n{svg}")
    parts += [_table(table) for table in tables(report)]
    body = "\n".join(parts)
    return f'<!doctype html>\n<html lang="en"><meta charset="utf-8"><title>Taut report</title><style>{STYLE}</style>\n{body}\n</html>\n'


def _table(table: Table) -> str:
    head = "".join(f"<th>{escape(column)}</th>" for column in table.columns)
    rows = "\n".join("<tr>" + "".join(f"<td>{escape(text)}</td>" for text in row) + "</tr>" for row in table.rows)
    note = f'<p class="note">{escape(table.note)}</p>' if table.note else ""
    return f"<h2>{escape(table.title)}</h2>{note}\n<table><tr>{head}</tr>\n{rows}</table>"
