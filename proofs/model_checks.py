"""The part `models`: spin visits every state of the models, for each number of ranks, and finds a fault in each mutation."""

import re
import tempfile
from functools import partial
from pathlib import Path

from check import Check, Verdict, last_line, output_of

FOLDER = Path(__file__).resolve().parent / "models"

# For each model the settings under which it has to hold; the first are those of the mutations.
SETTINGS = {
    "agree": ["-DN=4", "-DN=3", "-DN=2"],
    "credits": ["-DMESSAGES=2"],
    "histories": ["-DMESSAGES=4", "-DMESSAGES=3"],
    "messages": ["-DSENDERS=1", "-DSENDERS=2"],
    "progress": ["-DN=2"],
}


def mutations(model):
    found = re.search(r"Mutations: ([\w, ]+)\.", (FOLDER / f"{model}.pml").read_text())
    return found[1].split(", ")


def search(model, *settings):
    """Visits all states."""
    with tempfile.TemporaryDirectory() as folder:
        steps = [
            ["spin", "-a", *" ".join(settings).split(), str(FOLDER / f"{model}.pml")],
            ["cc", "-O2", "-w", "-DVECTORSZ=4096", "-DSAFETY", "-o", "pan", "pan.c"],
            ["./pan", "-m2000000"],
        ]
        for step in steps:
            status, output, errors = output_of(step, cwd=folder)
            if status != 0 and step is not steps[-1]:
                return Verdict.undecided, last_line(output + errors)
    found = re.search(r"errors: (\d+)", output)
    cut_off = "max search depth too small" in output or "out of memory" in output or "Search not completed" in output
    if found is None or (cut_off and found[1] == "0"):
        return Verdict.undecided, last_line(output + errors) or "no result"
    fault = re.search(r"pan:\d+: (.*)", output)
    return (Verdict.proven, "") if found[1] == "0" else (Verdict.refuted, fault[1] if fault else "")


def checks():
    for model, settings in SETTINGS.items():
        for setting in settings:
            yield Check("models", f"{model} {setting[2:]}", True, partial(search, model, setting))
        for mutation in mutations(model):
            yield Check("models", f"{model} ! {mutation}", False, partial(search, model, settings[0], f"-D{mutation}"))
