"""The site's pages of measured tables, made from the committed results of the benchmarks, and not in the repository."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "bench/codec")]

import cells  # noqa: E402
import codec_peers  # noqa: E402
import link_map  # noqa: E402
import report  # noqa: E402
import tables  # noqa: E402


def read(name):
    return report.only_run(report.RESULTS / name)


def pages():
    """Returns the text of each page by its place. Links are those of a page in docs/notes."""
    peers = read("codec_peers.json")
    made = {
        "notes/codec_tables.md": "\n".join(tables.page(read("codec_fields.json"))),
        "notes/codec_cells.md": cells.page_of([read("codec_cells.json"), read("codec_cells_exponents.json")]),
        "notes/codec_peers.md": "\n".join(codec_peers.page(peers)),
        "notes/best_codec.md": link_map.page(peers["rows"]),
    }
    return {place: text.rstrip() + "\n" for place, text in made.items()}
