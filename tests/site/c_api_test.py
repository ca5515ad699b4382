"""Tests the page of the C calls: it has every declaration of a header, and comments are in the right place."""

import re
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/site"))

import c_api  # noqa: E402

HEADER = """/* mine.h -- what it is for.
 *
 * More of it. */
#ifndef MINE_H
#define MINE_H

/* ---- Sums ---- */

/* Text of the section: TAUT_Sum and its kin, of x < y.
 *
 *   as it     stands
 */

enum TAUT_Kind {
  TAUT_ONE = 1, /* the first; (1) */
  TAUT_TWO
};

/* Adds values;
 * with TAUT_Mean it divides. */
TAUT_API int /* TAUT_SUCCESS or _TWO */
TAUT_Sum(const void* values, size_t count, /* at least 1, (or none) */
         double* sum /* out */
);
TAUT_API int TAUT_Mean(const void* values, size_t count, double* mean);

TAUT_API void TAUT_Done(void);
#endif
"""


class Page(unittest.TestCase):
    def test_every_declaration_of_the_headers(self):
        for header in (ROOT / "include/taut").glob("*.h"):
            text = header.read_text()
            page = c_api.page(text)
            code = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
            for name in re.findall(r"^TAUT_(?:CUDA_|NCCL_)?API[^;(]*?(\w+)\(", code, flags=re.M):
                self.assertRegex(page, rf"\{{c:function\}} [^\n]*\b{name}\(", header.name)
            for name in re.findall(r"^typedef (?:enum|struct) (\w+) \{", code, flags=re.M):
                self.assertRegex(page, rf"\{{c:(enum|struct)\}} {name}\n", header.name)
            for name in re.findall(r"^ +(TAUT_\w+) = \d", code, flags=re.M):
                self.assertRegex(page, rf"\{{c:enumerator\}} {name} =", header.name)

    def test_comments_stand_where_they_belong(self):
        page = c_api.page(HEADER)
        self.assertTrue(page.startswith("# mine.h\n\nWhat it is for.\n\nMore of it.\n"), page)
        self.assertIn("## Sums\n", page)
        self.assertIn("Text of the section: {c:func}`TAUT_Sum` and its kin, of x \\< y.\n", page)
        self.assertIn("```text\nas it     stands\n```", page)
        self.assertIn("{c:enumerator} TAUT_ONE = 1\n\nthe first; (1)\n", page)
        self.assertIn("{c:function} int TAUT_Sum(const void* values, size_t count, double* sum)\n", page)
        self.assertIn(":param count: at least 1, (or none)\n:param sum: out\n", page)
        self.assertIn(":returns: `TAUT_SUCCESS` or `_TWO`\n", page)

    def test_a_prototype_without_comment_belongs_to_the_one_before(self):
        page = c_api.page(HEADER)
        words, first, second = (page.index(text) for text in ("Adds values;\nwith", "} int TAUT_Sum(", "} int TAUT_Mean("))
        self.assertTrue(words < first < second)

    def test_what_is_not_understood_is_an_error(self):
        with self.assertRaises(ValueError):
            c_api.page(HEADER.replace("size_t count, double* mean);", "size_t count {"))


if __name__ == "__main__":
    unittest.main()
