"""Takes the screenshots of the documents, docs/pictures/{report,timeline,bounds,slice}.png, and _phone.png beside them.

  screenshots.py FOLDER

FOLDER holds report.html and bounds.html: `tools/site/screenshots.sh` runs programs that write them, and then this script. A page
with an error in the console, or wider than a phone, makes it fail.
"""

import io
import sys
from pathlib import Path

from browser import browser

PICTURES = Path(__file__).resolve().parents[2] / "docs/pictures"
DESK, PHONE = (1100, 900), (360, 640)
SHOTS = {  # by the name of the picture: the page, the heading at its top, its height on a desk
    "report": ("report.html", "", 720),
    "timeline": ("report.html", "Timeline", 200),
    "bounds": ("bounds.html", "", 900),
    "slice": ("bounds.html", "A slice", 450),
}
ZOOMED = "document.querySelectorAll('input[type=range]').forEach(e => { e.value = 2; e.dispatchEvent(new Event('input')); })"  # 4 times
TOP_OF = "(() => {{ const h = [...document.querySelectorAll('h2')].find(e => e.textContent.startsWith('{}')); return h.getBoundingClientRect().top + scrollY; }})()"
COLOURS = 200  # in a picture


def small(png):
    """Returns the picture with fewer colours, in fewer bytes."""
    from PIL import Image

    made = io.BytesIO()
    Image.open(io.BytesIO(png)).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(made, "PNG", optimize=True)
    return made.getvalue()


def fault_of(one, page):
    """Returns what is wrong with the page as wide as a phone and a desk, or nothing."""
    for width, height in (DESK, PHONE):
        one.size(width, height)
        wide = one.open(page) or one.overflow()
        if wide:
            return f"{page.name} at {width} pixels: {wide}"
    return ""


def main(folder):
    with browser() as one:
        one.theme("light")
        faults = list(filter(None, (fault_of(one, page) for page in sorted(folder.glob("*.html")))))
        for name, (page, heading, on_desk) in SHOTS.items():
            for (width, height), suffix in (((DESK[0], on_desk), ""), (PHONE, "_phone")):
                one.size(width, height)
                one.open(folder / page)
                one.evaluate(ZOOMED)
                top = one.evaluate(TOP_OF.format(heading)) - 8 if heading else 0
                (PICTURES / f"{name}{suffix}.png").write_bytes(small(one.picture((0, top, width, height))))
    print(*faults, sep="\n", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
