"""The modules of the Python package import each other in one direction: no circle, imports inside functions counted."""

import ast
import unittest
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "python/taut"
MADE = ("_core", "_forms")


def imports(modules):
    """Returns {module: the modules of the package that it imports}, without those that the build makes (_core, _forms).

    `modules`: {name: (source, true for a package)}.
    """
    found = {}
    for module, (source, is_package) in modules.items():
        own = module.split(".") if is_package else module.split(".")[:-1]
        named = []
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Import):
                named += [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                base = own[: len(own) - node.level + 1] if node.level else []
                origin = ".".join([*base, *([node.module] if node.module else [])])
                inside = [f"{origin}.{alias.name}" for alias in node.names]
                named += [name if name in modules or alias.name in MADE else origin for name, alias in zip(inside, node.names)]
        found[module] = {name for name in named if name in modules and name != module}
    return found


def order(modules):
    """Returns the modules, each behind those that it imports. Raises CycleError."""
    return list(TopologicalSorter(imports(modules)).static_order())


class Imports(unittest.TestCase):
    def test_the_modules_of_the_package_form_no_circle(self):
        modules = {}
        for path in PACKAGE.rglob("*.py"):
            words = path.relative_to(PACKAGE.parent).with_suffix("").parts
            is_package = words[-1] == "__init__"
            modules[".".join(words[:-1] if is_package else words)] = (path.read_text(), is_package)
        places = {name: place for place, name in enumerate(order(modules))}
        self.assertGreater(len(places), 30)
        self.assertLess(places["taut._errors"], places["taut._comm"])

    def test_a_circle_is_found_also_inside_a_function_and_through_relative_names(self):
        circle = {"p": ("", True), "p.a": ("from . import b", False), "p.b": ("def f():\n  from p.a import x", False)}
        with self.assertRaises(CycleError):
            order(circle)
        self.assertEqual(imports(circle | {"p.b": ("import q", False)})["p.a"], {"p.b"})


if __name__ == "__main__":
    unittest.main()
