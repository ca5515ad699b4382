"""The parts `bounds` and `coq`: Gappa proves the scripts of gappa.py, and Coq checks some of these proofs."""

import tempfile
from functools import partial
from pathlib import Path

import gappa
from check import Check, Verdict, last_line, output_of

# Every improvement of an interval counts; no guessing of cases.
OPTIONS = ["gappa", "-Echange-threshold=0", "-Eno-auto-dichotomy", "-Eprecision=140"]

# Proofs for Coq, each with a change of a number in the finished proof that Coq has to notice.
FOR_COQ = {
    "planes.small.float32": ("Float2 (255) (-8)", "Float2 (254) (-8)"),
    "planes_large.float32": ("Float2 (255) (-8)", "Float2 (254) (-8)"),
    "comparison.float32.upper": ("Float2 (1) (-23)", "Float2 (1) (-24)"),
}


def prove(text):
    """A hint that Gappa cannot verify is an error here, though only a warning there."""
    status, _, errors = output_of(OPTIONS, input=text)
    if status == 0 and not errors:
        return Verdict.proven, ""
    unproven = "some properties were not satisfied" in errors and "trivially equal" not in errors
    return (Verdict.refuted if unproven else Verdict.undecided), last_line(errors)


def checks():
    for script in gappa.scripts():
        yield Check("bounds", script.name, script.provable, partial(prove, script.text))


def prove_in_coq(text, change=None):
    status, proof, errors = output_of([*OPTIONS, "-Bcoq"], input=text)
    if status != 0:
        return Verdict.undecided, last_line(errors)
    if change is not None:
        if change[0] not in proof:
            return Verdict.undecided, f"the proof has no {change[0]}"
        proof = proof.replace(*change, 1)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "certificate.v"
        file.write_text(proof)
        status, output, errors = output_of(["coqc", file.name], cwd=folder)
    if status == 0:
        return Verdict.proven, ""
    rejected = "Error" in errors and "Cannot find" not in errors
    return (Verdict.refuted if rejected else Verdict.undecided), last_line(errors)


def coq_checks():
    for script in gappa.scripts():
        if script.provable and script.name in FOR_COQ:
            yield Check("coq", script.name, True, partial(prove_in_coq, script.text))
            yield Check("coq", f"{script.name} ! other_number", False, partial(prove_in_coq, script.text, FOR_COQ[script.name]))
