"""Certificates of bounds: Gappa scripts made from the templates in bounds/ and from parameters.txt.

A template has directives in comments that begin with `#!`:

    #! theorem TEXT                      the theorem of docs/error-model.md, or of a codec's bound.md, that it certifies
    #! instance NAME VARIABLE=VALUE ...  a script; VALUE is an expression of parameters
    #! mutant NAME: OLD => NEW           a change of the template after which no instance may be provable
    #! mutant NAME of A B: OLD => NEW    the same for these instances only

${...} stands for the value of a Python expression of parameters and of the instance's variables.
"""

import re
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

FOLDER = Path(__file__).resolve().parent


def parameters(path=FOLDER / "parameters.txt"):
    """Returns the numbers of the parameter file by name."""
    lines = (line.split("#")[0].split() for line in path.read_text().splitlines())
    return {name: int(text) if "x" not in text else Fraction(float.fromhex(text)) for name, text in filter(None, lines)}


def literal(value):
    """Returns an exact number as Gappa writes it: an integer times a power of two."""
    exact = Fraction(value)
    power = exact.denominator.bit_length() - 1
    if exact.denominator != 1 << power:
        raise ValueError(f"{value} is no multiple of a power of two")
    return f"{exact.numerator}b-{power}" if power else str(exact.numerator)


def value_of(expression, names):
    """Returns the value of a Python expression, whose powers of two are exact."""
    exact = re.sub(r"\b2\*\*", "two**", expression)
    return eval(exact, {"two": Fraction(2)}, names)  # noqa: S307


def filled(text, names):
    """Returns the text with each ${expression} replaced by its value."""
    return re.sub(r"\$\{([^}]*)\}", lambda found: literal(value_of(found[1], names)), text)


@dataclass
class Script:
    name: str
    theorem: str
    text: str
    provable: bool


def instances_of(directives, names):
    """Yields name and variables of each instance. A variable that is a range makes an instance of each value."""
    for name, *settings in map(str.split, directives):
        found = [(name, dict(names))]
        for setting in settings:
            variable, expression = setting.split("=", 1)
            value = value_of(expression, names)
            if isinstance(value, range):
                found = [(f"{n}{k}", v | {variable: k}) for n, v in found for k in value]
            else:
                found = [(n, v | {variable: value}) for n, v in found]
        yield from found


def scripts_of(template, names):
    """Yields the scripts of a template: its instances, and the mutants of each."""
    text = template.read_text()
    directives = re.findall(r"^#! (\w+) (.*)$", text, flags=re.M)
    body = re.sub(r"^#!? .*\n", "", text, flags=re.M)
    theorem = "; ".join(rest for kind, rest in directives if kind == "theorem")
    pattern = r"(\w+)(?: of ([\w. ]+))?: (.*) => (.*)"
    mutants = [re.fullmatch(pattern, rest).groups() for kind, rest in directives if kind == "mutant"]
    for instance in instances_of([rest for kind, rest in directives if kind == "instance"], names):
        name, variables = f"{template.stem}.{instance[0]}", instance[1]
        yield Script(name, theorem, filled(body, variables), True)
        for mutant, those, old, new in mutants:
            if old not in body:
                raise ValueError(f"{template.name}: mutant {mutant} changes nothing")
            if those and instance[0] not in those.split():
                continue
            yield Script(f"{name} ! {mutant}", theorem, filled(body.replace(old, new), variables), False)


def scripts():
    """Yields all scripts, sorted by template."""
    names = parameters()
    for template in sorted((FOLDER / "bounds").glob("*.gappa")):
        yield from scripts_of(template, names)
