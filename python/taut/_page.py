"""Pages that need no other file: the frame of a page and its tables, for light and dark screens of any width."""

from collections.abc import Iterable, Sequence
from html import escape

STYLE = """
:root { color-scheme: light dark; --text: #222; --back: #fff; --faint: #5b5b5b; --line: #ddd; --plate: #f4f4f2;
  --c0: #0072b2; --c1: #d55e00; --c2: #009e73; --c3: #cc79a7; --c4: #8a6d00; --c5: #56b4e9 }
@media (prefers-color-scheme: dark) { :root { --text: #e4e4e4; --back: #17181a; --faint: #a8a8a8; --line: #3a3b3d; --plate: #222426;
  --c0: #56b4e9; --c1: #ff9252; --c2: #35c79a; --c3: #e79ac4; --c4: #e6c84b; --c5: #9fd4f5 } }
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 1100px; padding: 0 1rem; color: var(--text);
  background: var(--back); overflow-wrap: anywhere }
h1, h2, h3 { font-weight: 600 } h1 { font-size: 1.4rem } h2 { font-size: 1.15rem; margin-top: 2.2rem } h3 { font-size: 1rem; margin: 0 }
table { border-collapse: collapse; font-size: 13px; display: block; overflow-x: auto; overflow-wrap: normal }
th, td { padding: .3rem .6rem; border-bottom: 1px solid var(--line); text-align: right; vertical-align: top }
th:first-child, td:first-child, td:last-child { text-align: left }
svg { max-width: 100%; height: auto } p.note { color: var(--faint) }
"""


def document(title: str, body: str, style: str = "") -> str:
    """Returns a page."""
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{escape(title)}</title>'
    return f'<!doctype html>\n<html lang="en"><head>{head}<style>{STYLE}{style}</style></head><body>\n{body}\n</body></html>\n'


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Returns a table of texts."""
    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    lines = "\n".join("<tr>" + "".join(f"<td>{escape(text)}</td>" for text in row) + "</tr>" for row in rows)
    return f"<table><tr>{head}</tr>\n{lines}</table>"
