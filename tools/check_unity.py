#!/usr/bin/env python3
"""Checks that no two sources of a folder that sanitizers compile as one (TAUT_UNITY_FOLDERS of cmake/Compiler.cmake) define the
same name in anonymous namespaces. Functions that differ in their parameters share a name. Usage: check_unity.py [ROOT]
"""

import re
import sys
from pathlib import Path

from check_sizes import blanked

OPEN, CLOSE = "({[<", ")}]>"


def folders(root):
    """Returns the folders below src whose sources are compiled as one."""
    listed = re.search(r"set\(TAUT_UNITY_FOLDERS ([^)]*)\)", (root / "cmake/Compiler.cmake").read_text())
    return listed[1].split()


def items(text, place=0):
    """Yields (place, heading, body) of each declaration of blanked text; the body of a declaration without braces is empty."""
    start, i = place, place
    while i < len(text) and text[i] != "}":
        if text[i] == ";":
            yield start, text[start:i], ""
            start = i + 1
        elif text[i] == "{":
            end = closing(text, i)
            yield start, text[start:i], text[i + 1 : end]
            start, i = end + 1, end
        i += 1


def closing(text, opened):
    """Returns the place of the brace that closes the one at `opened`."""
    depth = 0
    for i in range(opened, len(text)):
        depth += (text[i] == "{") - (text[i] == "}")
        if depth == 0:
            return i
    return len(text)


def split(text):
    """Returns the parts of text between commas that are in no brackets."""
    parts, depth = [""], 0
    for c in text:
        depth += (c in OPEN) - (c in CLOSE)
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return [part.strip() for part in parts if part.strip()]


def type_of(parameter):
    """Returns a parameter without its name and its default."""
    words = " ".join(re.sub(r"=.*", "", parameter, flags=re.S).split())
    return re.sub(r"(?<=[\w>&*.]) ?\b(?<=[ &*])(?!const\b)\w+$", "", words).replace(" ", "")


def declared(heading):
    """Returns the (name, parameters) that a heading declares at namespace scope; the parameters of what is no function are None."""
    heading = re.sub(r"\[\[[^\]]*\]\]|alignas\([^)]*\)", "", heading).strip()
    template = re.match(r"template\s*<", heading)
    generic = len(split(heading[template.end() : heading.find(">", template.end())])) if template else 0
    while template:
        depth = 0
        for i, c in enumerate(heading):
            depth += (c == "<") - (c == ">")
            if depth == 0 and c == ">":
                heading = heading[i + 1 :].strip()
                break
        heading = re.sub(r"^requires\s*\([^)]*\)", "", heading).strip()
        template = re.match(r"template\s*<", heading)
    if kind := re.match(r"(?:struct|class|union|enum(?:\s+class|\s+struct)?)\s+(\w+)", heading):
        return kind[1], None
    if alias := re.match(r"(?:using|concept)\s+(\w+)\s*=", heading):
        return alias[1], None
    if re.match(r"(using|namespace|friend|static_assert|extern|typedef|public|private)\b", heading) or not heading:
        return None
    heading = re.sub(r"(decltype|__attribute__)\s*\((\([^)]*\)|[^()])*\)", "auto", heading)
    function = re.match(r"[^=(]*?([\w:~]+|operator\S+?)\s*\(", heading)
    if function:
        inside = heading[function.end() :]
        if "::" in function[1]:
            return None  # a member, whose class has the name
        return function[1], (generic, *map(type_of, split(inside[: inside.rfind(")")])))
    variable = re.search(r"([A-Za-z_]\w*)\s*(?:\[[^\]]*\]\s*)*(?:=|$)", heading)
    return (variable[1], None) if variable and re.search(r"\w[&*]*\s", heading[: variable.end(1)]) else None


def anonymous(text, scope=()):
    """Yields ((namespaces, name), parameters) of all that anonymous namespaces of blanked text declare, and of static functions."""
    for _, heading, body in items(text):
        named = re.match(r"\s*(?:inline\s+)?namespace\b\s*([\w:]*)", heading)
        if named:
            inner = named[1].split("::") if named[1] else [""]
            yield from anonymous(body, (*scope, *inner))
        elif "" in scope or re.match(r"\s*static\b", heading):
            found = declared(heading)
            if found:
                yield (tuple(filter(None, scope)), found[0]), found[1]


def faults(sources):
    """Yields (file, name, other file) of each name that two sources define. `sources`: text by file."""
    known = {}
    for file, text in sources.items():
        for name, parameters in sorted(set(anonymous(blanked(text))), key=str):
            for other, others in known.get(name, []):
                if other != file and (parameters is None or others is None or parameters == others):
                    yield file, "::".join((*name[0], name[1])), other
                    break
            known.setdefault(name, []).append((file, parameters))


def main(root):
    found = []
    for folder in folders(root):
        sources = {path.name: path.read_text() for path in sorted((root / "src" / folder).glob("*.cpp"))}
        found += [f"src/{folder}/{file}: {name} is also defined in {other}" for file, name, other in faults(sources)]
    print("\n".join([*found, f"check_unity: {len(found)} faults"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent)))
