"""Checks that the documents list what the code has: options, codecs, algorithms, variables, sizes."""

import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CONFIGURATION = (ROOT / "docs/configuration.md").read_text()
HEADER = (ROOT / "include/taut/taut.h").read_text()


def source(name):
    return (ROOT / "src" / name).read_text()


def column(text, heading, number=0):
    """Returns the `words` in a column of the table whose first heading is `heading`."""
    rows = re.search(rf"^\| {heading} \|.*\n\|[-|: ]+\|\n((?:\|.*\n)+)", text, re.M)[1].splitlines()
    return {word for row in rows for word in re.findall(r"`([^`]+)`", row.replace("\\|", "").split("|")[1 + number])}


class Configuration(unittest.TestCase):
    def test_variables(self):
        table = re.search(r"OptionInfo table\[\] = \{(.*?)\n\};", source("compressor/base/options.cpp"), re.S)[1]
        known = set(re.findall(r'\{"(TAUT\w*)"', table))
        self.assertEqual(column(CONFIGURATION, "name"), known)

    def test_bounds(self):
        table = re.search(r"bound_names\[\] = \{(.*?)\n\};", source("compressor/frame/coding.cpp"), re.S)[1]
        known = set(re.findall(r'\{"(\w+)"', table)) | {"off", "lossless"}
        self.assertEqual({word.split(":")[0] for word in column(CONFIGURATION, "bound")}, known)

    def test_options(self):
        reading = source("communication/policy/plan/policy.cpp") + source("compressor/frame/coding.cpp")
        known = set(re.findall(r'item\.name == "(\w+)"', reading))
        self.assertEqual(column(CONFIGURATION, "option"), known)

    def test_codecs(self):
        known = {path.parent.name for path in (ROOT / "src/compressor/codecs").glob("*/codec.cpp")}
        row = re.search(r"^\| `codec` \|([^|]*)\|", CONFIGURATION, re.M)[1]
        self.assertEqual(set(re.findall(r"`(\w+)`", row)), known | {"auto"})
        self.assertEqual(set(re.search(r"codec= +(.*)", HEADER)[1].replace(" (default)", "").split(" | ")), known | {"auto"})

    def test_algorithms(self):
        known = set()
        for path in (ROOT / "src/communication/algorithms").glob("*.cpp"):
            known |= set(re.findall(r'\.name = "(\w+)"', path.read_text()))
        row = re.search(r"^\| `algorithm` \|([^|]*)\|", CONFIGURATION, re.M)[1]
        self.assertEqual(set(re.findall(r"`(\w+)`", row)), known | {"auto"})
        pages = (ROOT / "docs/algorithms.md").read_text()
        self.assertEqual(column(pages, "collective", 1), known)

    def test_status(self):
        known = dict(re.findall(r"\n  TAUT_ERR_(\w+) = (\d+)", HEADER))
        known["CUDA"] = re.search(r"TAUT_ERR_CUDA = (\d+)", source("../include/taut/taut_cuda.h"))[1]
        core = dict(re.findall(r"\n  (\w+) = (\d+)", source("compressor/base/status.hpp")))
        self.assertEqual(set(known.values()), set(core.values()) - {"0"})


class Observing(unittest.TestCase):
    def test_reasons(self):
        table = re.search(r"FallbackText texts\[.*?\};", source("communication/comm/explain.cpp"), re.S)[0]
        known = set(re.findall(r'\{"(\w+)",', table)) - {"no"}
        self.assertEqual(column((ROOT / "docs/observe.md").read_text(), "reason for plain MPI", 1), known)

    def test_statistics(self):
        struct = re.search(r"typedef struct TAUT_Stats \{(.*?)\n\}", HEADER, re.S)[1]
        package = (ROOT / "python/taut/_comm.py").read_text()
        listed = "".join(re.findall(r'"(.*)"', re.search(r"STATISTICS = \((.*?)\n\)", package, re.S)[1]))
        self.assertEqual(listed.split(), re.findall(r"uint64_t (\w+);", struct))


class Names(unittest.TestCase):
    """Names of files and tests in the documents; decisions are left out, because they describe the past."""

    FILE = r"[a-z][\w-]*(/[\w.-]+)*/[\w-]+\.(cpp|hpp|h|c|cu|py|sh|md|json|txt|cmake)"
    TEST = r"(?:(?:[\w/*]+\.)+|\*)([A-Z][A-Za-z0-9]{9,})\*?"
    MADE = ("build/", "bench-out/", "demo-out/")

    def setUp(self):
        texts = [path for path in (ROOT / "docs").rglob("*.md") if path.parent.name != "adr"]
        texts += [ROOT / "HACKING.md", ROOT / "README.md"]
        self.words = {(path.name, word) for path in texts for word in re.findall(r"`([^`\n]+)`", path.read_text())}

    def test_files_are_there(self):
        files = {(text, word) for text, word in self.words if re.fullmatch(self.FILE, word) and not word.startswith(self.MADE)}
        folders = [ROOT, ROOT / "src", ROOT / "tests"]
        lost = sorted(pair for pair in files if not any((folder / pair[1]).exists() for folder in folders))
        self.assertEqual(lost, [])
        self.assertGreater(len(files), 50)

    def test_programs_are_the_examples(self):
        page = (ROOT / "docs/start/c_and_fortran.md").read_text()
        self.assertIn(f"```c\n{(ROOT / 'examples/languages/sum.c').read_text()}```", page)

    def test_tests_are_there(self):
        sources = "".join(path.read_text() for kind in ("cpp", "hpp", "py") for path in (ROOT / "tests").rglob(f"*.{kind}"))
        tests = {(text, named[1]) for text, word in self.words if (named := re.fullmatch(self.TEST, word))}
        self.assertEqual(sorted(pair for pair in tests if pair[1] not in sources), [])
        self.assertGreater(len(tests), 50)


class Sizes(unittest.TestCase):
    def test_of_the_agreement(self):
        size = re.search(r"sizeof\(AgreementMessage\) == (\d+)", source("communication/comm/agree.cpp"))[1]
        for path in ("docs/algorithms.md", "include/taut/taut.h"):
            self.assertIn(f"{size} bytes", (ROOT / path).read_text(), path)


if __name__ == "__main__":
    unittest.main()
