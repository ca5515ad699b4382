"""Settings of Sphinx for the documentation site; tools/site/build.sh runs Sphinx on the pages that stage.py
has collected."""

import re
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PICTURES = ROOT / "docs/pictures"
sys.path[:0] = [str(Path(__file__).parent), str(ROOT / "python")]

import stand_ins  # noqa: E402
from sphinx.builders.html import StandaloneHTMLBuilder  # noqa: E402

stand_ins.install()  # the package is read from the source tree
import taut  # noqa: E402

taut.__path__.append(stand_ins.folder_of_generated_modules())

for made_late in (taut.Comm, taut.Request):
    made_late.__module__ = "taut"

project = "Taut"
author = "the authors of Taut"
release = version = re.search(r"\n  VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())[1]

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
root_doc = "index"
nitpicky = True  # with sphinx-build -W: a reference that leads nowhere is an error
nitpick_ignore_regex = [
    ("c:identifier", r"MPI_\w+|\w+_[ts]|ncclComm"),
    ("py:.*", r"(np|numpy|mpi4py|MPI|collections|contextlib|typing)\..*"),
    ("py:class", r"array_like|bytes-like|optional|bound|\*\*options|taut\._policy\.Holder|(taut\._bounds\._measure\.)?Measured"),
]

myst_enable_extensions = ["fieldlist"]
myst_heading_anchors = 4  # the anchors that a forge makes, which docs/*.md use
suppress_warnings = ["myst.header"]  # C declarations begin deeper
highlight_language = "none"
c_maximum_signature_line_length = python_maximum_signature_line_length = 90
toc_object_entries_show_parents = "hide"

autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
autodoc_typehints_format = "fully-qualified"  # MPI.Comm is not taut.Comm
napoleon_google_docstring = False
napoleon_use_rtype = False
default_role = "py:obj"

smartquotes_action = "D"  # dashes alone: quotes are often part of code

html_theme = "furo"
html_static_path, html_css_files, html_js_files = ["static"], ["site.css"], ["copy.js"]
html_title = f"Taut {version}"
html_show_sphinx = html_show_copyright = False
html_copy_source = False


# Pages for those who change Taut, and generated tables: whoever searches for "install" looks for none of them.
NOT_SEARCHED = re.compile(r"(adr|measured|results)/|changelog$|notes/(codec_|best_codec)")


class Site(StandaloneHTMLBuilder):
    """The builder of pages, which leaves some of them out of the search."""

    def index_page(self, page, tree, title):
        if not NOT_SEARCHED.match(page):
            super().index_page(page, tree, title)


def show_phones(app, page, template, context, doctree):
    """Shows phones the screenshots that were taken at their width (tools/site/screenshots.py)."""

    def with_phone(image):
        if not (PICTURES / f"{image[2]}_phone.png").exists():
            return image[0]
        return f'<picture><source media="(max-width: 600px)" srcset="{image[1]}{image[2]}_phone.png"/>{image[0]}</picture>'

    context["body"] = re.sub(r'<img [^>]*src="([^"]*_images/)(\w+)\.png"[^>]*>', with_phone, context.get("body") or "")


def copy_screenshots(app, error):
    for picture in PICTURES.glob("*_phone.png"):
        shutil.copy(picture, Path(app.outdir) / "_images")


def edit_docstring(app, what, name, obj, options, lines):
    """Turns docs/configuration.md in a docstring into a link, and has the page made again when any module
    changes."""
    for number, line in enumerate(lines):
        lines[number] = re.sub(r"docs/([\w/]+)\.md", r":doc:`/\1`", line)
    if what == "module":
        for path in (ROOT / "python/taut").rglob("*.py"):
            app.env.note_dependency(str(path))


def setup(app):
    app.add_builder(Site, override=True)
    app.connect("autodoc-process-docstring", edit_docstring)
    app.connect("html-page-context", show_phones)
    app.connect("build-finished", copy_screenshots)
