"""The command `taut`: `bounds`, `tune`, `report`, `trace`, `calibrate`, `bench-fabric`, `--cmake-dir` and what concerns variables of HDF5
files are written in Python; the package's C++ program has the rest."""

import os
import sys
from pathlib import Path
from typing import Optional


def program() -> Path:
    """Returns the path of the C++ program."""
    return Path(__file__).parent / "bin" / "taut"


def main(arguments: Optional[list[str]] = None) -> int:
    words = sys.argv[1:] if arguments is None else arguments
    if words == ["--cmake-dir"]:
        print(Path(__file__).parent / "lib" / "cmake" / "Taut")
        return 0
    if words[:1] == ["bounds"]:
        from ._bounds._command import main as bounds

        return bounds(words[1:])
    if words[:1] == ["report"]:
        from .report import main as report

        return report(words[1:])
    if words[:1] == ["trace"]:
        from .report._traces import main as trace

        return trace(words[1:])
    if words[:1] == ["calibrate"]:
        from .calibrate import main as calibrate

        return calibrate(words[1:])
    if words[:1] == ["bench-fabric"]:
        from ._fabric._command import main as bench_fabric

        return bench_fabric(words[1:])
    path = program()
    if words[:1] == ["tune"]:
        from ._tune._command import main as tune

        return tune(words[1:], path)
    if not path.exists():
        print(f"taut: the package has no {path}; install it anew", file=sys.stderr)
        return 1
    if words[:1] in (["compress"], ["decompress"], ["bench-codec"]) and any("::" in word for word in words[1:]):
        from ._variables import main as on_variable

        return on_variable(words, path)
    sys.stdout.flush()
    os.execv(path, [str(path), *words])


if __name__ == "__main__":
    sys.exit(main())
