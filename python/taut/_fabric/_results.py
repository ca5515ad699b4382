"""Files of results: read, checked and written, one line a row, as this project keeps its measurements (bench/report.py)."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

FORMAT, VERSION = "taut-bench-fabric", 1
OF_RUN = ("command", "machine", "date", "commit", "load", "taut", "mpi", "ranks", "nodes", "ranks_per_node", "cores_of_rank", "fabric",
          "environment", "bound", "left_out", "beside", "rows")  # fmt: skip
OF_ROW = ("call", "bytes", "field", "rounds", "plain_ms", "taut_ms", "taut_ratio", "taut_compressed", "history_ms", "history_ratio",
          "history_compressed", "error_by_bound")  # fmt: skip
OF_LOOP = ("loop", "alone_per_second", "beside_plain_per_second", "beside_taut_per_second", "plain_ms", "taut_ms")


class ResultsError(ValueError):
    """A file holds no results."""


def lines(items: Sequence[dict[str, Any]]) -> str:
    return "[\n" + ",\n".join(map(json.dumps, items)) + "\n]" if items else "[]"


def text(runs: Sequence[dict[str, Any]]) -> str:
    """Returns the results as JSON."""
    whole = []
    for run in runs:
        members = (f"{json.dumps(key)}: {lines(value) if key == 'rows' else json.dumps(value)}" for key, value in run.items())
        whole.append("{" + ", ".join(members) + "}")
    return f'{{\n"format": "{FORMAT}",\n"version": {VERSION},\n"runs": [\n' + ",\n".join(whole) + "\n]\n}\n"


def read(names: Sequence[str]) -> list[dict[str, Any]]:
    """Returns the runs of all files; raises if a file holds none, or is of a later version."""
    runs: list[dict[str, Any]] = []
    for name in names:
        try:
            made = json.loads(Path(name).read_text(encoding="utf-8"))
            if made["format"] != FORMAT:
                raise ResultsError(f"{name}: holds no results of taut bench-fabric")
            if made["version"] != VERSION:
                raise ResultsError(f"{name}: is of version {made['version']}; this Taut reads version {VERSION}: take the Taut that wrote it")
            for run in made["runs"]:
                _check(run)
            runs += made["runs"]
        except ResultsError:
            raise
        except (KeyError, TypeError, AttributeError, ValueError) as error:  # of JSON and of UTF-8 too
            raise ResultsError(f"{name}: holds no results of taut bench-fabric, or is damaged ({error!r})") from None
    return runs


def _check(run: dict[str, Any]) -> None:
    """Raises KeyError, TypeError or ValueError if something is missing of what the page shows."""
    for names, ones in ((OF_RUN, [run]), (OF_ROW, run["rows"]), (OF_LOOP, run["beside"])):
        for one in ones:
            for name in names:
                if name.endswith("_ms") and names is OF_ROW:
                    _, median, _ = map(float, one[name])
                    if not median > 0:
                        raise TypeError(f"{name} {median}")
                one[name]
    run["machine"]["processor"], run["machine"]["cores"], run["machine"]["os"]
