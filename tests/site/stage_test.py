"""Tests the place of each document on the site, and the targets of its links."""

import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/site"))

import stage  # noqa: E402

SITE = Path("/site")


class Links(unittest.TestCase):
    def linked(self, text, source="docs/howto/add_a_codec.md"):
        path = ROOT / source
        return stage.linked(text, path, stage.place_of(path), SITE)

    def test_pages_move(self):
        self.assertEqual(self.linked("[x](../error-model.md#sums)"), "[x](../error-model.md#sums)")
        self.assertEqual(self.linked("[x](../README.md)"), "[x](../index.md)")
        self.assertEqual(self.linked("[x](../../src/compressor/codecs/szx/spec.md)"), "[x](../spec/szx.md)")
        self.assertEqual(self.linked("[`a` b](../../include/taut/taut.h)"), "[`a` b](../reference/c_api.md)")
        self.assertEqual(self.linked("[`a`](../../include/taut/frame.hpp), `b`"), "[`a`](../reference/cxx_api.md), `b`")
        self.assertEqual(self.linked("[x](docs/adr/README.md)", "HACKING.md"), "[x](adr/index.md)")

    def test_others_stay(self):
        for text in ("[x](https://a.org/b)", "[x](#here)", "`[x](../README.md)`", "```\n[x](../README.md)\n```"):
            self.assertEqual(self.linked(text), text)
        self.assertEqual(self.linked("[x](../../bench/results)"), "x (`bench/results`)")

    def test_measurements_and_proofs_of_codecs_have_pages(self):
        self.assertEqual(self.linked("[x](../../bench/results/planes/README.md#lags)"), "[x](../measured/planes.md#lags)")
        self.assertEqual(self.linked("[x](../../src/compressor/codecs/szx/bound.md)"), "[x](../spec/szx_bound.md)")

    def test_tables_are_made_of_results_and_not_committed(self):
        made = stage.contents(SITE)
        for place in stage.measured.pages():
            self.assertFalse((ROOT / "docs" / place).exists(), place)
            self.assertIn(f"\n{Path(place).stem}\n", made["notes/codecs.md"])
            self.assertRegex(made[place], r"\| gradient(_mlp)?\b")

    def test_every_text_has_a_place_of_its_own(self):
        texts = {path for path in (ROOT / "docs").rglob("*.md")}
        self.assertLessEqual(texts, set(stage.pages().values()))

    def test_the_side_bar_has_every_application_and_how_to(self):
        listed = {entry for entries in stage.SIDE_BAR.values() for entry in entries}
        for folder in ("applications", "howto"):
            self.assertLessEqual({f"{folder}/{page.stem}" for page in (ROOT / "docs" / folder).glob("*.md")}, listed)


if __name__ == "__main__":
    unittest.main()
