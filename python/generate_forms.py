#!/usr/bin/env python3
"""Writes taut/_forms.py: the blocking, nonblocking and persistent methods of Comm for each collective function of
src/communication/team/collectives.txt. taut/_arguments.py converts the arguments of each function and has the docstrings of the methods."""

import ast
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src/communication/team"))
from collectives import collectives

ARGUMENTS = Path(__file__).resolve().parent / "taut/_arguments.py"

HEAD = '''"""The collective calls. Made by generate_forms.py."""

from typing import Any, Optional

from mpi4py import MPI

from . import _arguments as arguments
from ._calls import Calls
from ._request import Request
'''

CLASSES = {
    "Blocking": "Messages are given as to mpi4py. Calls without recvbuf return a new array like sendbuf, if they can "
    "know its size. What a bound promises after each call: docs/configuration.md.",
    "Nonblocking": "As the blocking ones; they return a `Request`. Buffers are not touched until it is complete.",
    "Persistent": "Arguments to be used again and again: `Request.Start` starts the call, its buffers are read anew each time.",
}


def docstrings():
    """Returns a dictionary from the functions of _arguments.py to their docstrings."""
    tree = ast.parse(ARGUMENTS.read_text())
    return {node.name: ast.get_docstring(node) for node in tree.body if isinstance(node, ast.FunctionDef)}


def parameters(function):
    """Yields (name, declaration) of mpi4py's parameters: one for each buffer, then counts, operator and root."""
    names = [p.name for p in function.parameters if p.kind == "address"]
    for name in ["buf"] if names == ["buffer"] else names:
        yield name, f"{name}: Any = None" if name == "recvbuf" else f"{name}: Any"
    if function.reduces and "counts" in function.kinds:
        yield "recvcounts", "recvcounts: Any = None"
    if function.reduces:
        yield "op", "op: Any = None"
    if function.has_root:
        yield "root", "root: int = 0"


def method(function, form, doc):
    named = [*parameters(function)]
    declared = ", ".join(["self", *(declaration for _, declaration in named)])
    names = ", ".join(name for name, _ in named)
    make = f"arguments.{function.name.lower()}"
    if form == "Blocking":
        return f'    def {function.name}({declared}) -> Any:\n        """{doc}"""\n        return self._run({make}, {names})\n'
    if form == "Nonblocking":
        head = f"    def {function.immediate}({declared}) -> Request:\n"
        return f'{head}        """Nonblocking `{function.name}`."""\n        return self._start({make}, {names})\n'
    head = f"    def {function.name}_init({declared}, info: Optional[MPI.Info] = None) -> Request:\n"
    return f'{head}        """Persistent `{function.name}`."""\n        return self._init({make}, ({names},), info)\n'


def module():
    texts, docs = [HEAD], docstrings()
    for form, about in CLASSES.items():
        methods = "\n".join(method(f, form, docs[f.name.lower()]) for f in collectives())
        texts.append(f'class {form}(Calls):\n    """{about}"""\n\n{methods}')
    return "\n\n".join(texts)


if __name__ == "__main__":
    print(module(), end="")
