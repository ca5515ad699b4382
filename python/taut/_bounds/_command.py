"""`taut bounds`: compares error bounds on the values of files, as a table, a page or JSON."""

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Optional

from .._errors import Error
from ._compare import compare
from ._files import open_file
from ._page import page
from ._quantities import KNOWN, quantities_of
from ._result import text_of


def shape(text: str) -> tuple[int, ...]:
    """Parses AxBxC."""
    words = text.split("x")
    if not all(word.isdigit() and int(word) > 0 for word in words):
        raise argparse.ArgumentTypeError(f"{text!r} is no shape; give extents, slowest first: 120x225x225")
    return tuple(map(int, words))


def read(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="taut bounds",
        allow_abbrev=False,
        description="compares error bounds on the values of files (HDF5, NetCDF, Zarr, .npy, raw), and proposes one",
    )
    parser.add_argument("files", nargs="+", metavar="FILE[::VARIABLE]")
    parser.add_argument("-o", "--output", metavar="PAGE", default="bounds.html", help="page to write; default: bounds.html")
    parser.add_argument("-b", "--bound", action="append", default=[], help="a bound to compare, several times; default: rel:1e-1 to 1e-6")
    parser.add_argument("--ratio", type=float, metavar="R", help="find the tightest bound with this compression ratio")
    parser.add_argument("--psnr", type=float, metavar="D", help="find the loosest bound with this PSNR in dB")
    parser.add_argument("--bits-of-information", action="store_true", help="find the bound that keeps 99 %% of the real information")
    parser.add_argument("--quantity", action="append", default=[], metavar="NAME[=EXPR]",
                        help=f"also compare {', '.join(KNOWN)}, or an expression of Python with x for the values and np")  # fmt: skip
    parser.add_argument("--dtype", help="type of raw values: f32, f64, ...; default: by the file's extension")
    parser.add_argument("--shape", type=shape, metavar="AxBxC", help="shape of raw values, slowest extent first")
    parser.add_argument("-q", "--quiet", action="store_true", help="print nothing but errors")
    parser.add_argument("--json", action="store_true", help="print all figures as JSON, one line for each FILE")
    return parser.parse_args(list(arguments))


class Bar:
    """Progress on a terminal, erased at the end."""

    def __init__(self, shown: bool) -> None:
        self.shown, self.begin, self.last = shown, time.monotonic(), 0.0

    def __call__(self, done: int, total: int) -> None:
        """Shows that `done` of `total` bytes are compared."""
        now = time.monotonic()
        if self.shown and now - self.last > 0.2:
            self.last = now
            sys.stderr.write(f"\rbounds: {100 * done // total} %, {done / 1e9 / max(now - self.begin, 1e-3):.2f} GB/s ")
            sys.stderr.flush()

    def erase(self) -> None:
        if self.last:
            sys.stderr.write("\r" + " " * 40 + "\r")


def main(arguments: Sequence[str]) -> int:
    """Runs the command and returns its exit code."""
    options = read(arguments)
    asked: dict[str, Optional[float]] = {"ratio": options.ratio, "psnr": options.psnr,
                                         "information": 1.0 if options.bits_of_information else None}  # fmt: skip
    bar = Bar(sys.stderr.isatty() and not options.quiet)
    try:
        quantities = quantities_of(options.quantity)
        results = []
        for name in options.files:
            source = open_file(name, options.dtype, options.shape)
            results.append(compare(source, options.bound, quantities, asked, bar))
            bar.erase()
            if options.json:
                print(json.dumps(results[-1].to_dict(), allow_nan=False))
            elif not options.quiet:
                print(*text_of(results[-1]), sep="\n")
        Path(options.output).write_text(page(results), encoding="utf-8")
    except (Error, OSError, ValueError) as error:
        bar.erase()
        named = isinstance(error, OSError) and error.filename and error.strerror
        print(f"taut bounds: {f'{error.filename}: {error.strerror}' if named else error}", file=sys.stderr)
        return 1
    if not options.json and not options.quiet:
        print(f"{options.output}: the page with pictures")
    return 0
