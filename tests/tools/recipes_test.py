"""Tests the recipes: a clone is enough for those in packaging; those of a release download the archive that they name."""

import subprocess
import sys
import tempfile
import types
import unittest
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "packaging"))

import release_recipes  # noqa: E402

PLACE, SUM = "https://host/taut", "0123456789abcdef" * 4
ARCHIVE = f"{PLACE}/taut-{release_recipes.VERSION}.tar.gz"


def spack_recipe(path):
    """Runs a recipe of Spack, whose module spack.package is a stand-in; returns the class and its versions."""
    versions = {}
    package = types.ModuleType("spack.package")
    package.CMakePackage = object
    package.version = lambda name, **source: versions.update({name: source})
    for name in ("license", "variant", "depends_on", "requires", "conflicts"):
        setattr(package, name, lambda *_, **__: None)
    for name in ("run_after", "on_package_attributes"):
        setattr(package, name, lambda *_, **__: lambda function: function)
    names = {"__file__": str(path)}
    with mock.patch.dict(sys.modules, {"spack": types.ModuleType("spack"), "spack.package": package}):
        exec(compile(path.read_text(), path, "exec"), names)
    return names["Taut"], versions


def easyconfig(path):
    names = {"SHLIB_EXT": "so"}
    exec(compile(path.read_text(), path, "exec"), names)
    return names


class Recipes(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.released = Path(folder.name)
        release_recipes.main(PLACE, SUM, self.released)
        self.here = ROOT / "packaging"
        self.eb = f"easybuild/Taut-{release_recipes.VERSION}-gompi-2024a.eb"

    def test_nothing_is_to_be_filled_in(self):
        for folder in (self.here, self.released):
            for recipe in release_recipes.SOURCES:
                text = (folder / recipe).read_text()
                self.assertNotRegex(text, r"@\w+@|example\.(org|com)", recipe)

    def test_spack(self):
        recipe, versions = spack_recipe(self.here / "spack/packages/taut/package.py")
        self.assertEqual((recipe.git, versions), (ROOT.as_uri(), {"main": {"branch": "main"}}))
        recipe, versions = spack_recipe(self.released / "spack/packages/taut/package.py")
        self.assertEqual((recipe.url, versions), (ARCHIVE, {release_recipes.VERSION: {"sha256": SUM}}))
        self.assertTrue((self.released / "spack/repo.yaml").read_text())

    def test_easybuild(self):
        here, released = easyconfig(self.here / self.eb), easyconfig(self.released / self.eb)
        self.assertEqual(here["sources"], ["taut-%(version)s.tar.gz"])
        self.assertNotIn("source_urls", here)
        self.assertEqual((released["source_urls"], released["sources"], released["checksums"]), ([PLACE], here["sources"], [SUM]))

    def test_conda(self):
        recipe = "conda/recipe.yaml"
        self.assertIn("\nsource:\n  path: ../..\n\n", (self.here / recipe).read_text())
        self.assertIn(f"\nsource:\n  url: {ARCHIVE}\n  sha256: {SUM}\n\n", (self.released / recipe).read_text())

    def test_an_address_is_needed(self):
        done = subprocess.run([sys.executable, self.here / "release_recipes.py", "host", SUM, self.released], capture_output=True, text=True)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("'host' is no address", done.stderr)


if __name__ == "__main__":
    unittest.main()
