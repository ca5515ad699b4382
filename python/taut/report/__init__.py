"""`taut report`: shows the reports that TAUT_REPORT wrote, as tables and as a page with pictures (docs/observe.md)."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from ._read import ReportError, read


def main(arguments: Sequence[str]) -> int:
    """Runs the command and returns its exit code."""
    parser = argparse.ArgumentParser(prog="taut report", description="tables and pictures of what TAUT_REPORT wrote")
    parser.add_argument("files", nargs="+", metavar="REPORT", help="report.json, for report.json.0, .1, ... too")
    parser.add_argument("-o", "--html", metavar="PAGE", help="write a page with pictures to this file")
    options = parser.parse_args(list(arguments))
    try:
        report = read(options.files)
        from ._tables import show

        show(report)
        if options.html:
            from ._page import page

            Path(options.html).write_text(page(report), encoding="utf-8")
            print(f"{options.html}: tables and pictures")
    except (ReportError, OSError) as error:
        print(f"taut report: {error}", file=sys.stderr)
        return 1
    except ImportError as error:
        print(f"taut report: {error}; pip install 'taut[report]'", file=sys.stderr)
        return 1
    return 0
