"""Checks that the packages state the version of CMakeLists.txt, and that their options exist."""

import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VERSION = re.search(r"^  VERSION ([0-9.]+)$", (ROOT / "CMakeLists.txt").read_text(), re.M)[1]
STATEMENTS = {
    "CITATION.cff": r"^version: (.+)$",
    "packaging/conda/recipe.yaml": r"^  version: ([0-9.]+)$",
    f"packaging/easybuild/Taut-{VERSION}-gompi-2024a.eb": r"^version = '(.+)'$",
    "packaging/debian/changelog": r"^taut \((.+?)\) ",
}


class Version(unittest.TestCase):
    def test_packages_state_it(self):
        for name, pattern in STATEMENTS.items():
            with self.subTest(name):
                self.assertEqual(re.search(pattern, (ROOT / name).read_text(), re.M)[1], VERSION)
        self.assertIn(f"## {VERSION} ", (ROOT / "CHANGELOG.md").read_text())

    def test_the_header_and_the_pages_state_it(self):
        header = (ROOT / "include/taut/taut.h").read_text()
        numbers = re.findall(r"^#define TAUT_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$", header, re.M)
        self.assertEqual(".".join(numbers), VERSION)
        minor = VERSION.rpartition(".")[0]
        for path in [*ROOT.glob("docs/*/*.md"), *ROOT.glob("tests/install/*/CMakeLists.txt")]:
            for found in re.findall(r"find_package\([Tt]aut (\S+) REQUIRED\)|-o dist/taut-(\S+)\.tar|^taut (\d\S+),", path.read_text(), re.M):
                self.assertIn("".join(found), (VERSION, minor), path)
        self.assertIn(f"Taut is at version {minor} ", (ROOT / "README.md").read_text())

    def test_recipes_use_options_that_exist(self):
        cmake = "".join(path.read_text() for path in [ROOT / "CMakeLists.txt", *ROOT.glob("cmake/*"), *ROOT.glob("src/compressor/codecs/*/needs.cmake")])
        for path in (ROOT / "packaging").rglob("*"):
            if path.is_file() and path.suffix not in (".abi", ".txt", ".pyc"):
                for option in re.findall(r"\bTAUT_(?!RULES|CONFIG)[A-Z_]+\b(?==)|(?<=define\(\")TAUT_\w+", path.read_text()):
                    name = option if option.startswith("TAUT_") else "TAUT_" + option
                    self.assertTrue(name in cmake or name.endswith("_INCLUDE"), (path.name, name))


if __name__ == "__main__":
    unittest.main()
