#!/usr/bin/env python3
"""Checks sizes. A file above 300 lines gets a warning, and one above 500 lines is a fault; so is a function
above 80 lines, a class with more than 8 virtual functions of its own, a public header above 600 lines.

Exceptions and their reasons are in tools/sizes_allowed.txt. Usage: check_sizes.py [ROOT]
"""

import ast
import re
import sys
from pathlib import Path

FOLDERS = ("src", "include", "python", "tests", "fuzz", "bench", "examples", "tools", "proofs")
CXX = (".h", ".hpp", ".cpp", ".c", ".cu", ".cuh")
FILE_WARNING, FILE_LIMIT, FUNCTION_LIMIT, VIRTUALS_LIMIT, PUBLIC_HEADER_LIMIT = 300, 500, 80, 8, 600


def blanked(text):
    """Returns the text without the braces and words of comments, literals and preprocessor lines; the lines
    stay."""
    tokens = r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'|^[ \t]*#(?:\\\n|[^\n])*'
    return re.sub(tokens, lambda m: "\n" * m.group().count("\n"), text, flags=re.S | re.M)


def kind_of(heading):
    """Returns the kind of a block at namespace or class scope: scope, function or data. After A::A() : x_{1}
    it has no heading."""
    heading = re.sub(r"^\s*(public|protected|private)\s*:|alignas\([^()]*\)", "", heading).strip()
    if re.match(r"(template\b[^()]*>\s*|inline\s+)*(namespace|class|struct|union|enum|extern)\b[^()]*$", heading):
        return "scope"
    return "function" if not heading or "(" in heading and not heading.endswith("=") else "data"


def blocks(text):
    """Yields each {...} outside functions, as (kind, heading, first line, last line, body). The text must be
    blanked."""
    found, stack, start = [], [], 0
    for brace in re.finditer(r"[{};]", text):
        if brace.group() == "{":
            heading = text[start : brace.start()].strip()
            inner = any(kind != "scope" for kind, *_ in stack)
            line = text.count("\n", 0, brace.start()) + 1 - heading.count("\n")
            stack.append(("inner" if inner else kind_of(heading), heading, line, brace.end()))
        elif brace.group() == "}" and stack:
            kind, heading, line, opened = stack.pop()
            found.append((kind, heading, line, text.count("\n", 0, brace.end()) + 1, text[opened : brace.start()]))
        start = brace.end()
    return found


def cxx_faults(text):
    for kind, heading, first, last, body in blocks(blanked(text)):
        name = re.search(r"([\w~:]+)\s*\(|(\w+)[^\w]*$", heading)
        name = next((g for g in name.groups() if g), "?") if name else "?"
        if kind == "function" and last - first + 1 > FUNCTION_LIMIT:
            yield first, name, f"function of {last - first + 1} lines (limit {FUNCTION_LIMIT})"
        if kind == "scope" and re.search(r"\b(class|struct)\b", heading):
            virtuals = len(re.findall(r"\bvirtual\b", body))
            if virtuals > VIRTUALS_LIMIT:
                yield first, name, f"class with {virtuals} virtual functions (limit {VIRTUALS_LIMIT})"


def python_faults(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            lines = node.end_lineno - node.lineno + 1
            if lines > FUNCTION_LIMIT:
                yield node.lineno, node.name, f"function of {lines} lines (limit {FUNCTION_LIMIT})"


def check_file(name, text):
    """Yields (line, what, message) for each fault; what: a function or class, or "" for the file."""
    lines = text.count("\n")
    limit = PUBLIC_HEADER_LIMIT if name.startswith("include/") else FILE_LIMIT
    if lines > limit:
        yield 1, "", f"file of {lines} lines (limit {limit})"
    if name.endswith(CXX):
        yield from cxx_faults(text)
    elif name.endswith(".py"):
        yield from python_faults(text)


def allowed(root):
    """Returns PATH or PATH:FUNCTION of each exception; every exception must give a reason."""
    listed, path = set(), root / "tools/sizes_allowed.txt"
    for line in path.read_text().splitlines() if path.exists() else []:
        if line.strip() and not line.startswith("#"):
            what, *reason = line.split(maxsplit=1)
            if not reason:
                raise SystemExit(f"{path}: no reason given for {what}")
            listed.add(what)
    return listed


def main(root):
    faults, exceptions, used = 0, allowed(root), set()
    for path in sorted(p for folder in FOLDERS for p in (root / folder).rglob("*")):
        if path.suffix not in (*CXX, ".py", ".sh"):
            continue
        name, text = path.relative_to(root).as_posix(), path.read_text()
        if not name.startswith("include/") and FILE_WARNING < text.count("\n") <= FILE_LIMIT:
            print(f"{name}: warning: {text.count(chr(10))} lines; is there a natural seam?")
        for line, what, message in check_file(name, text):
            key = f"{name}:{what}" if what else name
            if key in exceptions:
                used.add(key)
                continue
            print(f"{name}:{line}: {what + ': ' if what else ''}{message}")
            faults += 1
    for key in sorted(exceptions - used):
        print(f"tools/sizes_allowed.txt: {key} needs no exception any more")
        faults += 1
    print(f"check_sizes: {faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent)))
