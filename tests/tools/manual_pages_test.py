"""Tests the manual pages of the C calls: every call has one, its comments are on it, and formatters find no fault."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import manual_pages  # noqa: E402

HEADERS = [ROOT / "include/taut" / name for name in ("taut.h", "taut_cuda.h", "taut_nccl.h")]
HEADER = """/* mine.h -- what it is for. More of it. */
#ifndef MINE_H
#define MINE_H

/* ---- Sums ---- */

/* Adds the values 0 .. n; see TAUT_Mean. A policy's `text`:
 *
 *   on=      result (default)    a
 *            | input             b, and
 *                                more of b
 *   codec=   auto
 *
 * - one -1
 *   of two
 * - .so */
TAUT_API int /* a status */
TAUT_Sum(const void* values, size_t count, /* at least 1 */
         double* sum, double* the_greatest_of_the_values_that_were_added);
TAUT_API int TAUT_Mean(const void* values, size_t count, double* mean);
#endif
"""
PAGE = r""".TH TAUT_Sum 3 "" "Taut 1.2.3" "Calls of Taut"
.ad l
.nh
.SH NAME
TAUT_Sum, TAUT_Mean \- adds the values 0 .. n; see \fBTAUT_Mean\fR
.SH SYNOPSIS
.nf
.B #include <taut/mine.h>
.PP
\fBint TAUT_Sum(const void* values, size_t count, double* sum,\fR
\fB    double* the_greatest_of_the_values_that_were_added);\fR
.PP
\fBint TAUT_Mean(const void* values, size_t count, double* mean);\fR
.fi
.SH DESCRIPTION
Adds the values 0 .. n; see \fBTAUT_Mean\fR. A policy\(aqs \fItext\fR:
.TP
\fBon=\fR
\&
.RS
.TP
result (default)
a
.TP
input
b, and more of b
.RE
.TP
\fBcodec=\fR
auto
.IP \(bu 2
one \-1 of two
.IP \(bu 2
\&.so
.SH ARGUMENTS
.SS TAUT_Sum
.TP
\fIcount\fR
at least 1
.SH RETURN VALUE
.SS TAUT_Sum
a status
.SH SEE ALSO
.BR mine.h (3)
(\(lqSums\(rq)
"""


class Pages(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def made(self, text):
        header = self.folder / "mine.h"
        header.write_text(text)
        manual = manual_pages.Manual(header)
        return manual.write("1.2.3", manual.names())

    def test_a_comment_becomes_a_page(self):
        pages = self.made(HEADER)
        self.assertEqual(pages["TAUT_Sum"], PAGE)
        self.assertEqual(pages["TAUT_Mean"], ".so man3/TAUT_Sum.3\n")
        self.assertIn("mine.h \\- what it is for\n", pages["mine.h"])
        self.assertIn(".SH DESCRIPTION\nMore of it.\n", pages["mine.h"])
        self.assertIn(".BR TAUT_Sum (3),\n.BR TAUT_Mean (3)\n", pages["mine.h"])

    def test_a_call_without_a_comment_is_an_error(self):
        with self.assertRaisesRegex(ValueError, "TAUT_Sum has no comment"):
            self.made("/* mine.h -- it. */\n\nTAUT_API int TAUT_Sum(int count);\n")

    def test_every_call_has_a_page(self):
        manual_pages.main(self.folder, HEADERS)
        for header in HEADERS:
            code = re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.S)
            names = re.findall(r"^TAUT_(?:CUDA_|NCCL_)?API[^;(]*?(\w+)\(", code, flags=re.M)
            self.assertTrue(names)
            for name in names:
                page = (self.folder / f"{name}.3").read_text()
                link = re.fullmatch(r"\.so man3/(\w+\.3)\n", page)
                page = (self.folder / link[1]).read_text() if link else page
                said = re.search(r"^\.SH NAME\n(.*?)\\-", page, re.S | re.M)[1]
                self.assertIn(name, re.split(r"[,\s]+", said))
                self.assertRegex(page, rf"\\fB[^\n]*\b{name}\(")

    def formatted(self, program, *options):
        """Returns what a formatter prints about all pages that are no links, and its complaints."""
        if not shutil.which(program):
            self.skipTest(f"{program} is not installed")
        manual_pages.main(self.folder, HEADERS)
        pages = [path for path in sorted(self.folder.glob("*.3")) if not path.read_text().startswith(".so")]
        colourless = {**os.environ, "GROFF_NO_SGR": "1"}
        done = subprocess.run([program, *options, *pages], capture_output=True, text=True, env=colourless)
        return re.sub(".\x08", "", done.stdout), done.stderr

    def test_groff_finds_no_fault_and_lines_fit_a_terminal(self):
        out, complaints = self.formatted("groff", "-man", "-wall", "-Tutf8", "-rLL=78n")
        self.assertEqual(complaints, "")
        self.assertIn("TAUT_Allreduce - computes the sum", out)
        self.assertEqual([line for line in out.splitlines() if len(line) > 80], [])

    def test_mandoc_finds_no_fault(self):
        out, complaints = self.formatted("mandoc", "-Tlint", "-Wwarning")
        self.assertEqual([line for line in [*out.splitlines(), *complaints.splitlines()] if "missing date" not in line], [])


if __name__ == "__main__":
    unittest.main()
