"""Progress of a build, written to the terminal: pip shows nothing of what a build backend prints."""

import re
import threading
from pathlib import Path
from typing import Optional, TextIO


def counts(folder: Path, before: int = 0) -> tuple[int, int]:
    """Returns how many source files Ninja has compiled in a build folder, beyond the first `before`, and how many there are."""
    try:
        done = sum(line.endswith(".o") for line in _outputs(folder)) - before
        total = len(re.findall(r"^build \S+\.o: C(?:XX)?_COMPILER", (folder / "build.ninja").read_text(), re.M))
    except OSError:  # not configured yet
        return 0, 0
    return min(max(done, 0), total), total


def _outputs(folder: Path) -> list[str]:
    log = folder / ".ninja_log"
    lines = log.read_text().splitlines()[1:] if log.exists() else []
    return [fields[3] for fields in (line.split("\t") for line in lines) if len(fields) > 3]


class Progress:
    """A context in which a thread writes the progress of the build in `folder` once a second."""

    def __init__(self, folder: Path, terminal: Optional[TextIO] = None) -> None:
        self._folder = folder
        self._terminal = terminal
        self._before = sum(line.endswith(".o") for line in _outputs(folder))
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> "Progress":
        try:
            self._terminal = self._terminal or open("/dev/tty", "w")
        except OSError:
            return self  # nobody watches
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        assert self._terminal is not None
        while not self._stop.wait(1):
            done, total = counts(self._folder, self._before)
            if total:
                print(f"\rtaut: {done} of {total} files are compiled", end="", file=self._terminal, flush=True)
        print("\r\033[K", end="", file=self._terminal, flush=True)
