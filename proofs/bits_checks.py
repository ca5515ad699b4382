"""The part `bits`: z3 proves the certificates of bits.py, each in a process of its own."""

import ast
import sys
from functools import partial
from pathlib import Path

from check import Check, Verdict, last_line, output_of

FOLDER = Path(__file__).resolve().parent


def certificates():
    """Returns the certificates of bits.py with their mutations, without loading z3."""
    tree = ast.parse((FOLDER / "bits.py").read_text())
    for node in tree.body:
        if isinstance(node, ast.Assign) and node.targets[0].id == "CERTIFICATES":
            return {key.id: ast.literal_eval(value) for key, value in zip(node.value.keys, node.value.values)}
    raise ValueError("bits.py has no CERTIFICATES")


def prove(*words):
    status, output, errors = output_of([sys.executable, __file__, *words])
    verdict = {0: Verdict.proven, 1: Verdict.refuted}.get(status if not errors else None, Verdict.undecided)
    return verdict, last_line(output + errors)


def checks():
    for certificate, mutations in certificates().items():
        yield Check("bits", certificate, True, partial(prove, certificate))
        for mutation in mutations:
            yield Check("bits", f"{certificate} ! {mutation}", False, partial(prove, certificate, mutation))


def main(certificate, mutation=None):
    """Returns 0 if z3 proves all claims of a certificate, 1 if it refutes one, 2 if it cannot tell."""
    import bits
    import z3

    unknown = []
    for name, claim in getattr(bits, certificate)(mutation).items():
        solver = z3.Solver()
        solver.add(z3.Not(claim))
        found = solver.check()
        if found == z3.sat:
            print(f"{name}: {solver.model()}"[:300].replace("\n", " "))
            return 1
        if found != z3.unsat:
            unknown.append(name)
    if unknown:
        print(f"undecided: {unknown}")
    return 2 if unknown else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
