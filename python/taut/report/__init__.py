"""`taut report`: shows the reports that TAUT_REPORT wrote, as tables and as a page with pictures (docs/observe.md)."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from ._page import page
from ._read import ReportError, files_of, read
from ._text import lines
from ._traces import read_all


def main(arguments: Sequence[str]) -> int:
    """Runs the command and returns its exit code."""
    parser = argparse.ArgumentParser(prog="taut report", description="tables and pictures of what TAUT_REPORT wrote")
    parser.add_argument("files", nargs="+", metavar="REPORT", help="report.json, for report.json.0, .1, ... too")
    parser.add_argument("-o", "--html", metavar="PAGE", help="write a page with pictures to this file")
    parser.add_argument("--before", action="append", default=[], metavar="REPORT", help="of an earlier run, to be laid beside this one")
    parser.add_argument("--trace", action="append", default=[], metavar="TRACE",
                        help="of this run (TAUT_TRACE), for a timeline in the page; trace.json stands for trace.json.0, .1, ...")  # fmt: skip
    options = parser.parse_args(list(arguments))
    if options.trace and not options.html:
        parser.error("--trace is drawn in a page: name it with -o PAGE")
    try:
        report = read(options.files)
        before = read(options.before) if options.before else None
        trace = read_all(files_of(options.trace)) if options.trace else None
        print(*lines(report, before), sep="\n")
        if options.html:
            Path(options.html).write_text(page(report, before, trace), encoding="utf-8")
            print(f"{options.html}: tables and pictures")
    except (ReportError, ValueError, OSError) as error:
        print(f"taut report: {error}", file=sys.stderr)
        return 1
    return 0
