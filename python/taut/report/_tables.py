"""Output of tables on the terminal."""

from rich.console import Console
from rich.table import Table as RichTable

from ._read import Report
from ._rows import tables


def show(report: Report) -> None:
    """Prints all tables; lines are 240 characters wide if stdout is not a terminal."""
    console = Console()
    if not console.is_terminal:
        console = Console(width=240)
    console.print(f"{report.ranks} of {report.of_ranks} ranks", highlight=False)
    for table in tables(report):
        rich = RichTable(title=table.title, caption=table.note or None, title_justify="left", caption_justify="left")
        for position, column in enumerate(table.columns):
            rich.add_column(column, overflow="fold", justify="left" if position == 0 else "right")
        for row in table.rows:
            rich.add_row(*(text.replace("[", "\\[") for text in row))
        console.print(rich)
