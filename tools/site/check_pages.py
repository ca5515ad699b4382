"""Opens all pages of the site in a browser, as wide as a phone and a desk: check_pages.py FOLDER.

An error in the console, and a page wider than the window, make it fail. Without a browser it says so and succeeds.
"""

import sys
from pathlib import Path

from browser import browser, program

WIDTHS = (360, 1366)


def faults_of(one, page):
    """Yields what is wrong with a page."""
    yield from one.open(page)
    for width in WIDTHS:
        one.size(width)
        wide = one.overflow()
        if wide:
            yield f"at {width} pixels: {wide}"


def main(folder):
    if not program():
        print("check_pages.py: the pages were not opened, because there is no Chromium here")
        return 0
    pages = sorted(folder.rglob("*.html"))
    count = 0
    with browser() as one:
        for page in pages:
            for fault in faults_of(one, page):
                count += 1
                print(f"{page.relative_to(folder)}: {fault}", file=sys.stderr)
    print(f"{len(pages)} pages opened in a browser, {count} faults")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
