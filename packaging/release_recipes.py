#!/usr/bin/env python3
"""Writes the recipes of a release: release_recipes.py PLACE SHA256 FOLDER.

The recipes build the clone that they lie in. Those of a release download its source archive from PLACE, a folder of a server;
SHA256 is the checksum of the archive.
"""

import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
VERSION = re.search(r"^  VERSION ([0-9.]+)$", (HERE.parent / "CMakeLists.txt").read_text(), re.M)[1]
# Lines of each recipe that name its source, with the lines that replace them in a release.
SOURCES = {
    "spack/packages/taut/package.py": (
        ("from pathlib import Path\n\n", ""),
        (
            "    git = Path(__file__).resolve().parents[4].as_uri()\n",
            '    homepage = "{place}"\n    url = "{place}/taut-{version}.tar.gz"\n',
        ),
        ('    version("main", branch="main")\n', '    version("{version}", sha256="{sum}")\n'),
    ),
    "conda/recipe.yaml": (
        ("  path: ../..\n", "  url: {place}/taut-{version}.tar.gz\n  sha256: {sum}\n"),
        ("about:\n", "about:\n  homepage: {place}\n"),
    ),
    f"easybuild/Taut-{VERSION}-gompi-2024a.eb": (
        ("homepage = 'not published yet'\n", "homepage = '{place}'\n"),
        (
            "sources = ['taut-%(version)s.tar.gz']\n",
            "source_urls = ['{place}']\nsources = ['taut-%(version)s.tar.gz']\nchecksums = ['{sum}']\n",
        ),
    ),
}


def released(recipe, place, checksum):
    """Returns the text of a recipe for a release."""
    text = (HERE / recipe).read_text()
    for old, new in SOURCES[recipe]:
        if text.count(old) != 1:
            raise ValueError(f"{recipe} does not have one line {old.strip()!r}")
        text = text.replace(old, new.format(place=place.rstrip("/"), version=VERSION, sum=checksum))
    return text


def main(place, checksum, folder):
    if not re.match(r"https?://", place):
        sys.exit(f"release_recipes.py: {place!r} is no address of a server, such as https://host/taut")
    for recipe in SOURCES:
        path = Path(folder) / recipe
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(released(recipe, place, checksum))
    (Path(folder) / "spack/repo.yaml").write_text((HERE / "spack/repo.yaml").read_text())


if __name__ == "__main__":
    main(*sys.argv[1:])
