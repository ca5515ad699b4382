"""The pictures of the documents show the committed results, in colours for light and dark pages."""

import sys
import unittest
from pathlib import Path
from xml.etree import ElementTree

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))
sys.path.insert(0, str(Path(__file__).parents[2] / "bench/collective"))
sys.path.insert(0, str(Path(__file__).parents[2] / "bench/papers"))
import acceptance_picture
import break_even_map
import papers
import report
from chart import Panel, Series, bars, chart, ticks
from report import ROOT


def module(path):
    """Returns a script as a module: several have the same name."""
    import importlib.util

    spec = importlib.util.spec_from_file_location(path.replace("/", "_"), ROOT / path)
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def texts(picture):
    return [one.text for one in ElementTree.fromstring(picture).findall(".//{*}text")]


class Committed(unittest.TestCase):
    def same(self, place, made, script):
        self.assertEqual((ROOT / "docs" / place).read_text(), made, f"draw it again: {script}")

    def runs(self, name):
        return report.runs(ROOT / "bench/results" / name)

    def test_acceptance(self):
        self.same("pictures/acceptance.svg", acceptance_picture.picture(report.only_run(acceptance_picture.RESULTS)), "bench/collective/acceptance_picture.py")

    def test_fft(self):
        made = module("bench/fft/plot.py").picture(self.runs("emerald-rapids-2-core/fft_libraries_1gbit.json"))
        self.same("pictures/fft.svg", made, "bench/fft/plot.py")

    def test_dask(self):
        made = module("bench/dask/picture.py").picture(self.runs("emerald-rapids-2-core/dask.json"))
        self.same("pictures/dask.svg", made, "bench/dask/picture.py")

    def test_losses(self):
        made = module("bench/training/losses.py").picture(self.runs("training/losses.json")[0])
        self.same("pictures/training.svg", made, "bench/training/losses.py")

    def test_training(self):
        made = module("bench/training/picture.py").picture(self.runs("emerald-rapids-2-core/training.json"))
        self.same("pictures/training_ddp.svg", made, "bench/training/picture.py")
        made = module("bench/training/picture.py").picture(self.runs("training/time.json"))
        self.same("pictures/training_time.svg", made, "bench/training/picture.py")

    def test_waves(self):
        try:
            plot = module("examples/wave3d/plot.py")
        except ImportError:
            self.skipTest("needs numpy")
        self.same("pictures/wave3d_variants.svg", plot.variants(self.runs("emerald-rapids-2-core/wave3d.json")[0]), "examples/wave3d/plot.py")

    def test_weights(self):
        weights = module("bench/weights/weights.py")
        self.same("pictures/weights.svg", weights.picture(self.runs("weights/weights.json")[0]), "make bench-weights")

    def test_papers(self):
        simulated = papers.simulated(ROOT / "docs/results/simulation.json")
        self.same("results/break_even.svg", break_even_map.picture(simulated["break_even"]), "make papers")
        full = [row for row in report.rows(break_even_map.NODES) if row["set"] == "full_nodes"]
        self.assertIn(break_even_map.full_nodes(full), (ROOT / "docs/results/break_even.md").read_text())
        for words, name, picture in papers.charts(simulated["sets"]):
            self.same(f"results/{name}", picture, "make papers")
            self.assertIn(f"![{words}]({name})", (ROOT / "docs/results/papers.md").read_text())


class Charts(unittest.TestCase):
    def test_bars_are_as_long_as_their_values(self):
        made = ElementTree.fromstring(bars("t", [("g", [("a", 1000.0, "1000 ms", 5), ("b", 250.0, "250 ms", 0)])]))
        long, short = (float(one.attrib["width"]) for one in made.findall(".//{*}rect"))
        self.assertAlmostEqual(short / long, 0.25, places=3)

    def test_pictures_follow_the_theme_and_have_no_plate(self):
        for place in (*(ROOT / "docs/pictures").glob("*.svg"), *(ROOT / "docs/results").glob("*.svg")):
            self.assertIn("prefers-color-scheme: dark", place.read_text(), place)
            self.assertNotIn('height="100%"', place.read_text(), place)

    def test_axes_have_names_and_lines_are_named_at_their_ends(self):
        lines = [Series("upper", [(1, 2), (10, 4.0)], 0), Series("lower", [(1, 2), (10, 3.99)], 1)]
        made = chart("t", [Panel("t", "nodes", "gain", lines)])
        self.assertLessEqual({"t", "nodes", "gain", "upper", "lower"}, set(texts(made)))
        heights = [float(one.attrib["y"]) for one in ElementTree.fromstring(made).findall(".//{*}text") if one.text in ("upper", "lower")]
        self.assertGreaterEqual(abs(heights[0] - heights[1]), 16.9)  # a line of text

    def test_words_of_near_points_do_not_lie_on_each_other(self):
        dots = [Series("", [(5.0 + k / 100, 5.0)], 0, (f"variant {k}",), joined=False) for k in range(3)]
        dots += [Series("", [(9.0 * k, 9.0 * k)], 1, ("far",), joined=False) for k in range(2)]
        made = ElementTree.fromstring(chart("t", [Panel("t", "x", "y", dots, log=(False, False))]))
        places = [(float(one.attrib["x"]), float(one.attrib["y"])) for one in made.findall(".//{*}text") if one.text.startswith("variant")]
        self.assertEqual(len(set(places)), 3)
        self.assertTrue(all(abs(a[1] - b[1]) >= 14 or abs(a[0] - b[0]) > 9 for n, a in enumerate(places) for b in places[:n]), places)

    def test_ticks_are_round(self):
        self.assertEqual(ticks(0.9, 11, True), [1, 2, 5, 10])
        self.assertEqual(ticks(-0.5, 2.1, False), [-0.5, 0, 0.5, 1, 1.5, 2])
        self.assertEqual(ticks(1e-7, 1e-2, True), [1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2])


if __name__ == "__main__":
    unittest.main()
