"""Reads a public header: its sections, and its declarations with the comments that describe them.

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
