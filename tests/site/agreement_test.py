"""What the texts list is what the code has: options, codecs, algorithms, variables, sizes."""

import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CONFIGURATION = (ROOT / "docs/configuration.md").read_text()
HEADER = (ROOT / "include/taut/taut.h").read_text()


def source(name):
    return (ROOT / "src" / name).read_text()


def column(text, heading, number=0):
    """The `words` in a column of the table whose first heading this is."""
    rows = re.search(rf"^\| {heading} \|.*\n\|[-|: ]+\|\n((?:\|.*\n)+)", text, re.M)[1].splitlines()
    return {word for row in rows for word in re.findall(r"`([^`]+)`", row.replace("\\|", "").split("|")[1 + number])}


class Configuration(unittest.TestCase):
    def test_variables(self):
        table = re.search(r"OptionInfo table\[\] = \{(.*?)\n\};", source("policy/options.cpp"), re.S)[1]
        known = set(re.findall(r'\{"(TAUT\w*)"', table))
        self.assertEqual(column(CONFIGURATION, "name"), known)

    def test_bounds(self):
        table = re.search(r"bound_names\[\] = \{(.*?)\n\};", source("policy/coding.cpp"), re.S)[1]
        known = set(re.findall(r'\{"(\w+)"', table)) | {"off", "lossless"}
        self.assertEqual({word.split(":")[0] for word in column(CONFIGURATION, "bound")}, known)

    def test_options(self):
        reading = source("policy/policy.cpp") + source("policy/coding.cpp")
        known = set(re.findall(r'item\.name == "(\w+)"', reading))
        self.assertEqual(column(CONFIGURATION, "option"), known)

    def test_codecs(self):
        known = {path.parent.name for path in (ROOT / "src/codecs").glob("*/codec.cpp")}
        row = re.search(r"^\| `codec` \|([^|]*)\|", CONFIGURATION, re.M)[1]
        self.assertEqual(set(re.findall(r"`(\w+)`", row)), known | {"auto"})
        self.assertEqual(set(re.search(r"codec= +(.*)", HEADER)[1].replace(" (default)", "").split(" | ")), known | {"auto"})

    def test_algorithms(self):
        known = set()
        for path in (ROOT / "src/algorithms").glob("*.cpp"):
            known |= set(re.findall(r'\.name = "(\w+)"', path.read_text()))
        row = re.search(r"^\| `algorithm` \|([^|]*)\|", CONFIGURATION, re.M)[1]
        self.assertEqual(set(re.findall(r"`(\w+)`", row)), known | {"auto"})
        pages = (ROOT / "docs/algorithms.md").read_text()
        self.assertEqual(column(pages, "collective", 1), known)

    def test_status(self):
        known = dict(re.findall(r"\n  TAUT_ERR_(\w+) = (\d+)", HEADER))
        core = dict(re.findall(r"\n  (\w+) = (\d+)", source("core/status.hpp")))
        self.assertEqual(set(known.values()), set(core.values()) - {"0"})


class Sizes(unittest.TestCase):
    def test_of_the_agreement(self):
        size = re.search(r"sizeof\(Facts\) == (\d+)", source("comm/agree.cpp"))[1]
        for path in ("docs/algorithms.md", "docs/glossary.md", "docs/design.md", "include/taut/taut.h"):
            self.assertIn(f"{size} bytes", (ROOT / path).read_text(), path)


if __name__ == "__main__":
    unittest.main()
