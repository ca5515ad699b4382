import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
from check_markdown import faults, words

LONG = "word " * 21 + "end"


class CheckMarkdown(unittest.TestCase):
    def found(self, text):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "a.md"
            path.write_text(text)
            return [number for number, _ in faults(path)]

    def test_long_lines_of_text_are_faults(self):
        self.assertEqual(self.found(f"short\n{LONG}\n- {LONG}\n\n   {LONG}\n"), [2, 3, 5])

    def test_tables_headings_and_code_may_be_long(self):
        self.assertEqual(self.found(f"# {LONG}\n| {LONG} |\n```\n{LONG}\n```\n  ```c\n{LONG}\n  ```\n`{LONG}`\n"), [])

    def test_a_block_ends_where_it_ends(self):
        self.assertEqual(self.found(f"```\n{LONG}\n```\n{LONG}\n"), [4])

    def test_targets_of_links_do_not_count(self):
        target = "x" * 90
        self.assertEqual(self.found(f"see [this page]({target}.md) for more\n"), [])
        self.assertEqual(self.found(f"see [{LONG}]({target}.md)\n"), [1])

    def test_exactly_100_columns_are_right(self):
        self.assertEqual(self.found("ab " * 33 + "c\n" + "ab " * 33 + "cd\n"), [2])

    def test_words_of_the_pages_are_counted_and_those_of_formats_and_results_are_not(self):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder).resolve()
            for name in ("README.md", "docs/a.md", "docs/adr/b.md", "bench/results/c/README.md", "src/d/spec.md"):
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text("one two\n")
            self.assertEqual(words(root), 6)


if __name__ == "__main__":
    unittest.main()
