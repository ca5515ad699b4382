"""Makes the page of a public header from its comments and declarations, in Markdown for MyST's C domain."""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from c_header import body_of, read  # noqa: E402


class Names:
    """Identifiers of the header, which become links."""

    ROLES = {"function": "func", "enum": "enum", "struct": "struct", "type": "type", "macro": "macro"}

    def __init__(self, found):
        self.roles = {}
        for kind, *more in found:
            for declaration in more[0].declarations if kind == "entry" else []:
                self.add(declaration)

    def add(self, declaration):
        name = re.search(r"(\w+)(\(.*)?$", declaration.code, re.S)
        if name:
            self.roles[name[1]] = self.ROLES[declaration.kind]
        if declaration.kind == "enum":
            self.roles |= {part.name: "enumerator" for part in declaration.parts}

    def link(self, word, shown=""):
        if word in self.roles:
            return f"{{c:{self.roles[word]}}}`{f'{shown} <{word}>' if shown else word}`"
        return f"`{shown or word}`"

    def prose(self, text):
        """Returns text as Markdown: identifiers are linked or set as code, and characters that are special in
        Markdown are escaped."""
        word = re.compile(
            r"(?P<code>`[^`]*`)|(?P<page>docs/[\w/-]+)\.md|(?P<name>\b(?:TAUT|MPIX?|PMPI)_\w*\w)(?P<any><call>\w*)?"
            r"|(?P<short>(?<!\w)_[A-Z][A-Z_]+\b)|(?P<sign>[<*|\[\]])"
        )

        def written(match):
            if match["code"]:
                return match[0]
            if match["page"]:
                place = match["page"].removeprefix("docs/")
                return f"{{doc}}`/{place}`"
            if match["any"]:
                return f"`{match[0]}`"
            if match["name"]:
                return self.link(match["name"])
            if match["short"]:
                return self.link("TAUT_ERR" + match["short"], match["short"])
            return "\\" + match["sign"]

        return word.sub(written, text)

    def blocks(self, text):
        """Returns a comment as Markdown; indented text that does not continue a list is set verbatim."""
        out, listing, in_list = [], [], False
        for line in text.split("\n"):
            in_list = line.startswith("- ") or in_list and (line == "" or not line.startswith("   "))
            if line.startswith("  ") and not in_list or line == "" and listing:
                listing.append(line)
                continue
            out += fenced(listing)
            listing = []
            out.append(self.prose(line))
        return "\n".join(out + fenced(listing))


def fenced(lines):
    while lines and not lines[-1]:
        lines.pop()
    if not lines:
        return []
    margin = min(len(line) - len(line.lstrip()) for line in lines if line)
    return ["", "```text", *(line[margin:] for line in lines), "```", ""]


def directive(kind, signature, content, depth=4):
    fence = "`" * depth
    return f"{fence}{{c:{kind}}} {signature}\n\n{content.strip()}\n{fence}\n"


def described(names, one, says=""):
    """Returns a directive for a declaration."""
    if one.kind in ("enum", "struct"):
        inner = "enumerator" if one.kind == "enum" else "member"
        members = [directive(inner, part.code, names.prose(unlined(part.says))) for part in one.parts]
        content = "\n".join([says, "", *members])
        return directive(one.kind, one.code, content, 5) if one.code else content
    fields = [f":param {part.name}: {names.prose(unlined(part.says))}" for part in one.parts if part.says]
    fields += [f":returns: {names.prose(unlined(one.returns))}"] if one.returns else []
    return directive(one.kind, one.code.removeprefix("typedef "), "\n".join([says, "", *fields]))


def unlined(text):
    return " ".join(text.split())


def entry_text(names, entry):
    """Returns an entry: words about several declarations come before them, those about one declaration within
    it."""
    says = names.blocks(entry.says)
    if len(entry.declarations) == 1:
        return described(names, entry.declarations[0], says)
    return "\n".join([says, "", *(described(names, one) for one in entry.declarations)])


def page(header, others=()):
    """Returns the page of a header; its comments may also name identifiers of other headers."""
    head, body = body_of(header)
    name, _, about = head.partition(" -- ")
    found = read(body)
    names = Names([*found, *(one for other in others for one in read(body_of(other)[1]))])
    out = [f"# {name}", "", names.blocks(about[0].upper() + about[1:]), ""]
    for kind, *more in found:
        if kind == "section":
            out += [f"## {more[0]}", "", names.blocks(more[1]), ""]
        elif kind == "text":
            out += [names.blocks(more[0]), ""]
        else:
            out += [entry_text(names, more[0]), ""]
    return "\n".join(out)
