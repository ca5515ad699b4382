import sys
import unittest
from pathlib import Path
from xml.etree import ElementTree

sys.path.insert(0, str(Path(__file__).parents[2] / "bench/collective"))
from acceptance_picture import PICTURE, RESULTS, picture, report


class AcceptancePicture(unittest.TestCase):
    def setUp(self):
        self.results = report.only_run(RESULTS)

    def test_the_picture_shows_the_results(self):
        self.assertEqual(PICTURE.read_text(), picture(self.results), "run bench/collective/acceptance_picture.py")

    def test_bars_are_as_long_as_their_values(self):
        self.results["rows"][0]["plain_ms"][0] = 1000.0
        self.results["rows"][0]["taut_ms"][0] = 250.0
        bars = [r for r in ElementTree.fromstring(picture(self.results)).findall(".//{*}rect") if "x" in r.attrib]
        plain, taut = (float(bar.attrib["width"]) for bar in bars[2:4])
        self.assertAlmostEqual(taut / plain, 0.25, places=3)


if __name__ == "__main__":
    unittest.main()
