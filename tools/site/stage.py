"""Collects the pages of the documentation site: stage.py FOLDER.

The texts are the Markdown files of the repository. The script gives each its place on the site, adapts the
links among them, and adds the generated pages (C calls from the headers, tables from the results of benchmarks). Unchanged pages are not written
again, so that Sphinx reads only those that have changed.
"""

import os
import re
import sys
from pathlib import Path

import c_api
import measured

ROOT = Path(__file__).resolve().parents[2]

# Places of texts outside docs/.
ELSEWHERE = {
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "HACKING.md": "develop.md",
    "SECURITY.md": "security.md",
    "SOUNDNESS.md": "soundness.md",
    "README.md": "index.md",  # as a target of links only: docs/README.md is the first page
    "include/taut/taut.h": "reference/c_api.md",
    "include/taut/taut_cuda.h": "reference/cuda_api.md",
    "include/taut/taut_nccl.h": "reference/nccl_api.md",
    "include/taut/taut.hpp": "reference/cxx_api.md",
    "include/taut/arguments.hpp": "reference/cxx_api.md",
    "include/taut/frame.hpp": "reference/cxx_api.md",
    "python/taut/__init__.py": "reference/python_api.md",
}
MADE = {"reference/c_api.md": "include/taut/taut.h", "reference/cuda_api.md": "include/taut/taut_cuda.h",
        "reference/nccl_api.md": "include/taut/taut_nccl.h"}

# Contents of the side bar; a page that is missing here makes Sphinx fail.
SIDE_BAR = {
    "Quick start": [
        "Install <start/install>", "An unchanged program <start/unchanged_program>", "Python <start/python>", "C, C++, Fortran <start/c_and_fortran>",
        "Administrators <start/administrator>",
    ],
    "For everybody": ["howto/tune_bounds", "howto/read_a_report", "howto/image_stacking", "howto/come_from_another_library"],
    "Unchanged programs": ["howto/try_it_without_changing_code", "drop_in", "packed_integers"],
    "Python, PyTorch, Dask": [
        "howto/use_from_python", "howto/train_with_pytorch", "howto/synchronise_weights", "applications/dask",
    ],
    "C, C++, Fortran": [
        "howto/overlap_with_computation", "howto/exchange_messages", "howto/survive_failed_ranks", "howto/use_from_fortran",
    ],
    "GPUs and NCCL": ["gpu", "nccl"],
    "Files": ["howto/command_line", "howto/arrays_in_files", "howto/use_with_xarray"],
    "Forecasts and measurements": [
        "howto/simulate_collectives", "howto/measure_collectives", "howto/send_in_a_benchmark", "howto/measure_codec", "howto/prove_the_bounds", "results/break_even",
        "results/papers",
    ],
    "Applications": [
        "applications/wave3d", "applications/fft", "applications/lammps", "applications/quantum_espresso", "applications/meep",
    ],
    "Reference": [
        "configuration", "cli", "observe", "C calls <reference/c_api>", "C++ <reference/cxx_api>",
        "Python <reference/python_api>", "C calls for GPUs <reference/cuda_api>", "C calls for NCCL <reference/nccl_api>",
        "abi", "spec/index", "glossary",
    ],
    "Explanation": ["faq", "design", "error-model", "soundness", "security", "programs_that_repeat", "algorithms", "notes/codecs"],
    "Develop": [
        "develop", "contributing", "howto/add_a_codec", "howto/add_an_algorithm", "howto/add_a_collective", "howto/add_a_transport", "gpu_kernels", "testing",
        "adr/index", "changelog",
    ],
}  # fmt: skip
FORMATS = ["frame", "planes", "szx", "szx_bound", "mpc", "mpc_bound", "zfp", "zfp_bound", "exponents", "blocks", "message", "file", "hdf5"]


def place_of(path):
    """Returns the place of a repository's file on the site, or None."""
    name = path.relative_to(ROOT).as_posix()
    codec = re.fullmatch(r"src/compressor/codecs/(\w+)/(spec|bound)\.md", name)
    if codec:
        return f"spec/{codec[1]}{'_bound' * (codec[2] == 'bound')}.md"
    topic = re.fullmatch(r"bench/results/(\w+)/README\.md", name)
    if topic:
        return f"measured/{topic[1]}.md"
    if path.suffix == ".md" and name.startswith("docs/"):
        return re.sub(r"README\.md$", "index.md", name.removeprefix("docs/"))
    return ELSEWHERE.get(name)


def pages():
    """Yields each text with its place."""
    texts = [*(ROOT / "docs").rglob("*.md"), *(ROOT / "src/compressor/codecs").glob("*/spec.md"), *(ROOT / "src/compressor/codecs").glob("*/bound.md")]
    texts += (ROOT / "bench/results").glob("*/README.md")
    texts += [ROOT / name for name in ("CHANGELOG.md", "CONTRIBUTING.md", "HACKING.md", "SECURITY.md", "SOUNDNESS.md")]
    return {place_of(path): path for path in sorted(texts)}


def linked(text, source, place, folder):
    """Returns the text of `source` with its links adapted to `place` in `folder`."""

    def link(match):
        words, name, anchor = match[1], match[2], match[3] or ""
        if re.match(r"[a-z][a-z0-9+.-]*:", name) or not name:
            return match[0]
        target = (source.parent / name).resolve()
        if target.is_dir():  # for readers who have the repository
            return f"{words} (`{target.relative_to(ROOT).as_posix()}`)"
        new = place_of(target)
        new = folder / new if new else target
        return f"[{words}]({os.path.relpath(new, (folder / place).parent)}{anchor})"

    def outside_code(part):
        return part if part.startswith("`") else re.sub(r"\[([^\]]*)\]\(([^)#\s]*)(#[^)\s]*)?\)", link, part)

    blocks = re.split(r"(^ *```+.*?^ *```+ *$)", text, flags=re.S | re.M)
    return "".join(block if re.match(r" *```", block) else "".join(map(outside_code, spans(block))) for block in blocks)


def spans(text):
    """Yields text and `code` in turns; code within a link's words stays with the link."""
    return re.split(r"((?<!\[)`(?!\])[^`\n]*`(?!\]))", text)


def toctree(entries, caption="", hidden=True):
    options = [*([f":caption: {caption}"] if caption else []), *([":hidden:"] if hidden else []), ":maxdepth: 1"]
    return "\n".join(["", "```{toctree}", *options, "", *entries, "```", ""])


def as_they_are(headers):
    """Returns a page of C++ headers, shown as code."""
    return "# C++\n" + "".join(f"\n## {Path(name).name}\n\n```cpp\n{(ROOT / name).read_text()}```\n" for name in headers)


def contents(folder):
    """Returns all pages: text by place."""
    made = {place: linked(path.read_text(), path, place, folder) for place, path in pages().items()}
    made["index.md"] += "".join(toctree(entries, caption) for caption, entries in SIDE_BAR.items())
    tables = {place: linked(text, ROOT / "docs" / place, place, folder) for place, text in measured.pages().items()}
    topics = sorted(place for place in made if place.startswith("measured/"))
    made["notes/codecs.md"] += toctree([Path(place).stem for place in tables], hidden=False)
    made["adr/index.md"] += toctree([f"../{place.removesuffix('.md')}" for place in topics], "Measurements")
    made |= tables
    made["spec/index.md"] = "# Formats\n" + toctree(FORMATS, hidden=False)
    made["adr/index.md"] += toctree(sorted(Path(place).stem for place in made if place.startswith("adr/0")))
    made["reference/python_api.md"] = (Path(__file__).parent / "python_api.md").read_text()
    made["reference/cxx_api.md"] = as_they_are(name for name in ELSEWHERE if name.endswith(".hpp"))
    headers = [(ROOT / header).read_text() for header in MADE.values()]
    made |= {place: c_api.page(header, headers) for place, header in zip(MADE, headers)}
    return made


def main(folder):
    made = {folder / place: text for place, text in contents(folder).items()}
    for picture in (ROOT / "docs/pictures").iterdir():
        made[folder / "pictures" / picture.name] = picture.read_bytes()
    for path in folder.rglob("*"):
        if path.is_file() and path not in made:
            path.unlink()
    for path, text in made.items():
        data = text if isinstance(text, bytes) else text.encode()
        if not path.exists() or path.read_bytes() != data:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
