"""The check of pages in a browser finds what it is there for, and nothing in a good page."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools/site"))
import browser
import check_pages

GOOD = "<!doctype html><meta name=viewport content='width=device-width'><title>t</title><p>words</p>"


@unittest.skipUnless(browser.program(), "there is no Chromium here")
class Pages(unittest.TestCase):
    def faults(self, text):
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "page.html"
            page.write_text(text)
            return list(check_pages.faults_of(self.one, page))

    def test_faults(self):
        with browser.browser() as self.one:
            self.assertEqual(self.faults(GOOD), [])
            (wide,) = self.faults(GOOD + "<div class=table style='width: 500px'>wide</div>")
            self.assertRegex(wide, "at 360 pixels: 5.. pixels wide: DIV.table wide")
            self.assertIn("boom", "".join(self.faults(GOOD + "<script>throw new Error('boom')</script>")))
            self.assertIn("no good", "".join(self.faults(GOOD + "<script>console.error('no good')</script>")))
            self.assertIn("missing.png", "".join(self.faults(GOOD + "<img src='missing.png'>")))
            self.assertEqual(self.faults(GOOD), [])


if __name__ == "__main__":
    unittest.main()
