import contextlib
import io
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
from check_links import faults, main


class CheckLinks(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        (self.root / "b.md").write_text("# What a bound *promises*, in `E`\n```\n# no heading\n```\n")

    def found(self, text):
        (self.root / "a.md").write_text(text)
        return [message for _, message in faults(self.root / "a.md")]

    def test_good_links(self):
        good = "[x](b.md) [x](b.md#what-a-bound-promises-in-e) [x](https://example.org/y) [x](#here)\n## Here\n"
        self.assertEqual(self.found(good), [])

    def test_broken_links(self):
        self.assertEqual(self.found("[x](c.md)"), ["c.md: no such file"])
        self.assertEqual(self.found("[x](b.md#no-heading)"), ["b.md#no-heading: no such heading"])
        self.assertEqual(self.found("[x](#nowhere)"), ["#nowhere: no such heading"])

    def test_code_is_no_link(self):
        self.assertEqual(self.found("`run[](int)` and\n```\ntasks[i](c.md)\n```\n"), [])

    def test_exit_status(self):
        for text, status in (("[x](b.md)", 0), ("[x](c.md)", 1)):
            (self.root / "a.md").write_text(text)
            with contextlib.redirect_stdout(io.StringIO()):
                self.assertEqual(main(self.root), status)


if __name__ == "__main__":
    unittest.main()
