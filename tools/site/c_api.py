"""Makes the page of a public header from its comments and declarations, in Markdown for MyST's C domain.

Conventions of a header: `/* ---- Title ---- */` begins a section. A comment with a blank line after it is
text of the section; a comment without one belongs to the declaration that follows. Within a declaration a
comment belongs to the parameter, member or enumerator before it, or, before the function's name, to the
return value. A prototype without a comment belongs to the one before it.
"""

import re
from dataclasses import dataclass, field

COMMENT = re.compile(r"/\*(.*?)\*/", re.S)
TOKEN = re.compile(  # a comment and the space behind it, a macro, or a declaration with all that is within it
    r"\s*(?:/\*(?P<comment>.*?)\*/(?P<space>\s*)|(?P<macro>#define[^\n]*)\n"
    r"|(?P<code>[^#;/\s](?:/\*.*?\*/|\{(?:/\*.*?\*/|[^{}/])*\}|[^;{/])*);)",
    re.S,
)


@dataclass
class Part:
    """A parameter, member or enumerator."""

    code: str
    says: str = ""

    @property
    def name(self):
        found = re.search(r"(\w+)(\[\w*\])*$", self.code.split("=")[0].strip())
        return found[1] if found else ""


@dataclass
class Declaration:
    """A declaration. `kind` is function, type, macro, enum or struct; `code` as the C domain writes it."""

    kind: str
    code: str
    returns: str = ""
    parts: list[Part] = field(default_factory=list)


@dataclass
class Entry:
    """A comment and the declarations that it describes."""

    says: str
    declarations: list[Declaration]


# ---- Reading


def plain(comment):
    """Returns the text of a comment, without stars and the spaces after them."""
    lines = [re.sub(r"^ *\*( |$)", "", line) for line in comment.split("\n")]
    return "\n".join(line.rstrip() for line in lines).strip("\n").strip()


def parts_of(code, separator):
    """Splits code at separators; returns each part with the comments after it, the text of the opening
    comments first."""
    parts, first = [], []
    for token in re.findall(r"/\*.*?\*/|%s|(?:(?!/\*)[^%s])+" % (separator, separator), code, flags=re.S):
        if token.startswith("/*"):
            heard = parts[-1] if parts else None
            said = plain(token[2:-2])
            if heard is None:
                first.append(said)
            else:
                heard.says = f"{heard.says} {said}".strip()
        elif token.strip() and token != separator:
            parts.append(Part(" ".join(token.split())))
    return " ".join(first), parts


def declared(code):
    """Returns a declaration, given its text without the semicolon, and the comment that opens its list."""
    enum = re.match(r"(?:typedef )?(enum|struct)\s*(\w*)\s*\{(.*)\}", code, re.S)
    if enum:
        kind, name, body = enum.groups()
        opening, parts = parts_of(body, "," if kind == "enum" else ";")
        return Declaration(kind, name, parts=parts), opening
    if code.startswith("typedef"):
        return Declaration("type", " ".join(COMMENT.sub("", code).split())), ""
    head, arguments = re.fullmatch(r"(.*?)\((?=[^()]*\)$)(.*)\)", COMMENT.sub(hidden, code), re.S).groups()
    returns = " ".join(plain(shown(text)) for text in COMMENT.findall(shown(head)))
    _, parts = parts_of(shown(arguments), ",")
    head = " ".join(re.sub(r"\bTAUT_(CUDA_|NCCL_)?API\b", "", COMMENT.sub("", shown(head))).split())
    listed = ", ".join(part.code for part in parts)
    return Declaration("function", f"{head}({listed})", returns, parts), ""


def hidden(comment):
    """Returns a comment with its parentheses replaced, so that those of the code can be counted."""
    return comment[0].replace("(", "\1").replace(")", "\2")


def shown(text):
    return text.replace("\1", "(").replace("\2", ")")


def scan(text):
    """Yields ("section", title, text), ("text", text) and ("declaration", comment, code) in the order of the
    header."""
    waiting, position = "", 0
    while match := TOKEN.match(text, position):
        position = match.end()
        if match["comment"] is not None:
            said = plain(match["comment"])
            title = re.match(r"---- (.*?) ----\n?", said)
            if title:
                yield "section", title[1], said[title.end() :].strip("\n")
            elif match["space"].count("\n") > 1:
                yield "text", said
            else:
                waiting = said
        else:
            yield "declaration", waiting, match["macro"] or match["code"].rstrip()
            waiting = ""
    if text[position:].strip():
        raise ValueError(f"not understood: {text[position:].strip()[:80]!r}")


def body_of(header):
    """Returns the documented part of a header: the head comment, and the declarations without the
    preprocessor."""
    head, rest = re.match(r"/\*(.*?)\*/(.*)", header, re.S).groups()
    rest = re.sub(r"#if defined\(__GNUC__\).*?#endif\n", "", rest, flags=re.S)
    rest = re.sub(r'#ifdef __cplusplus\n(extern "C" \{|\})\n#endif\n', "", rest)
    rest = re.sub(r"#ifdef TAUT_KIND_OF_MPI.*?#endif\n", "", rest, flags=re.S)
    rest = re.sub(r"#if MPI_VERSION.*?#endif\n", "", rest, flags=re.S)
    rest = re.sub(r"^#define \w+(_H|_API)\b.*\n", "", rest, flags=re.M)
    return plain(head), re.sub(r"^#(?!define).*\n", "", rest, flags=re.M)


def read(text):
    """Returns sections, texts and entries; declarations that belong together share an entry."""
    found = []
    for kind, *more in scan(text):
        if kind != "declaration":
            found.append((kind, *more))
            continue
        said, code = more
        if code.startswith("#define"):
            declaration, opening = Declaration("macro", re.match(r"#define (\w+)", code)[1]), ""
        else:
            declaration, opening = declared(code)
        said = f"{opening} {said}".strip()
        last = found[-1][1] if found and found[-1][0] == "entry" else None
        if last and not said and not declaration.returns and declaration.kind == last.declarations[0].kind:
            last.declarations.append(declaration)
        else:
            found.append(("entry", Entry(said, [declaration])))
    return found


# ---- Writing


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
