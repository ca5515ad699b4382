"""Writes the manual pages of the C calls, section 3, from the public headers: manual_pages.py FOLDER HEADER...

A header has a page, such as taut.h(3), with its types and the texts of its sections. Functions that share a
comment share a page, which has the name of the first; the others' pages refer to it (.so).
"""

import re
import sys
import textwrap
from pathlib import Path

from c_header import body_of, read

ESCAPES = {"\\": "\\(rs", "-": "\\-", "'": "\\(aq", "`": "\\(ga", "^": "\\(ha", "~": "\\(ti"}
COLUMNS = 71  # of a synopsis, which is indented by 7 in a terminal of 80


# ---- From comments to roff


def escaped(text):
    return "".join(ESCAPES.get(sign, sign) for sign in text)


def prose(text):
    """Returns text in lines; `code` is set in italics, and names of the headers in bold."""
    line = ""
    for code, name, other in re.findall(r"`([^`]*)`|(\bTAUT_\w+)|([^`T]+|.)", " ".join(text.split())):
        line += f"\\fI{escaped(code)}\\fR" if code else f"\\fB{escaped(name)}\\fR" if name else escaped(other)
    return filled(line)


def filled(line):
    """Returns a line in lines that an editor shows whole; none begins as a request does."""
    lines = textwrap.wrap(line, 78, break_long_words=False, break_on_hyphens=False)
    return "\n".join("\\&" + part if part.startswith(".") else part for part in lines)


def blocks_of(text):
    """Yields the blocks of a comment: ("text", words), ("item", words) and ("table", lines)."""
    kind, lines = "text", []
    for line in [*text.split("\n"), ""]:
        item = line.startswith("- ")
        continues = kind == "item" and line.startswith("  ") or kind == "table" and line.startswith(" ")
        new = "item" if item else kind if continues else "table" if line.startswith("  ") else "text"
        if lines and (line == "" and kind != "item" or item or new != kind and line):
            yield kind, lines
            lines = []
        if line:
            kind = new
            lines.append(line.removeprefix("- ") if item else line)
    if lines:
        yield kind, lines


def cells(line):
    """Returns the words of a table's line before and after its gap of two or more spaces."""
    before, _, after = re.sub(r" {2,}", "\n", line.strip(), count=1).partition("\n")
    return before, after


def rows_of(lines):
    """Returns a table's rows, (key, [(value, words), ...]). An option's values are below one another."""
    margin = min(len(line) - len(line.lstrip()) for line in lines)
    rows, second = [], 0
    for line in lines:
        line = line[margin:]
        if not line.startswith(" "):
            key, rest = cells(line)
            second = line.find(rest, len(key)) if rest else 0
            rows.append((key, []))
        else:
            rest = line.strip()
        values = rows[-1][1]
        column = second if not line.startswith(" ") else len(line) - len(line.lstrip())
        value, words = cells(rest) if column == second else ("", rest)
        if words and value:
            values.append((value.removeprefix("| "), words))
        elif rest.startswith("|") and column == second and values and values[-1][0]:
            values.append((rest.removeprefix("| "), ""))
        elif values:
            values[-1] = (values[-1][0], f"{values[-1][1]} {rest}".strip())
        elif rest:
            values.append(("", rest))
    return rows


def tagged(tag, words):
    return [".TP", tag, words or "\\&"]


def table(lines):
    out = []
    for key, values in rows_of(lines):
        first = values[0][1] if values and not values[0][0] else ""
        out += tagged(f"\\fB{escaped(key)}\\fR", prose(first))
        alternatives = values[1:] if first else values
        if alternatives:
            out.append(".RS")
            for value, words in alternatives:
                out += tagged(escaped(value), prose(words))
            out.append(".RE")
    return out


def blocks(text):
    """Returns a comment as lines of roff."""
    out = []
    for kind, lines in blocks_of(text):
        if kind == "table":
            out += table(lines)
        else:
            out += [".IP \\(bu 2" if kind == "item" else ".PP", prose(" ".join(lines))]
    return out


# ---- Pages


class Manual:
    """The pages of a header: name -> text."""

    def __init__(self, header):
        text = header.read_text()
        self.about, body = body_of(text)
        self.file = header.name
        self.found = read(body)
        self.pages = {}

    def names(self):
        """Returns the functions, each with the name of its page."""
        entries = [more[0] for kind, *more in self.found if kind == "entry"]
        groups = [[name_of(one) for one in entry.declarations if one.kind == "function"] for entry in entries]
        return {name: group[0] for group in groups for name in group}

    def write(self, version, known):
        """Makes all pages. `known`: all functions with the names of their pages."""
        out = [title(self.file, version), *self.head()]
        section, calls = "", []
        for kind, *more in [*self.found, ("section", "", "")]:
            if kind == "entry" and more[0].declarations[0].kind == "function":
                self.functions(more[0], section, version, known)
                calls += [name_of(one) for one in more[0].declarations]
                continue
            if kind == "section":
                out += listed(calls)
                section, calls = more[0], []
            out += section_head(*more) if kind == "section" else blocks(more[0]) if kind == "text" else types(more[0])
        self.pages[self.file] = joined(out)
        return self.pages

    def head(self):
        name, _, about = self.about.partition(" -- ")
        lead, rest = sentence(about)
        include = [".SH SYNOPSIS", ".nf", f".B #include <taut/{self.file}>", ".fi"]
        return [".SH NAME", filled(f"{name} \\- {prose(lead)}"), *include, ".SH DESCRIPTION", *(blocks(rest) if rest else [])]

    def functions(self, entry, section, version, known):
        names = [name_of(one) for one in entry.declarations]
        if not entry.says:
            raise ValueError(f"{self.file}: {names[0]} has no comment; its first sentence is the summary of its page")
        lead, _ = sentence(entry.says)
        out = [title(names[0], version), ".SH NAME", filled(f"{escaped(', '.join(names))} \\- {prose(uncapitalised(lead))}")]
        out += [".SH SYNOPSIS", ".nf", f".B #include <taut/{self.file}>"]
        for one in entry.declarations:
            out += [".PP", *(f"\\fB{escaped(line)}\\fR" for line in wrapped(one.code))]
        out += [".fi", ".SH DESCRIPTION", *blocks(entry.says)]
        out += described(entry.declarations)
        out += see_also(entry, names[0], self.file, section, known)
        self.pages[names[0]] = joined(out)
        for name in names[1:]:
            self.pages[name] = f".so man3/{names[0]}.3\n"


def joined(lines):
    """Returns a page; a section begins with a paragraph of its own."""
    return re.sub(r"^(\.S[HS] .*)\n\.PP$", r"\1", "\n".join(lines), flags=re.M) + "\n"


def title(name, version):
    return f'.TH {name} 3 "" "Taut {version}" "Calls of Taut"\n.ad l\n.nh'


def name_of(declaration):
    return re.search(r"(\w+)(\(.*)?$", declaration.code, re.S)[1]


def sentence(text):
    """Returns the first sentence, without its period, and the text after it."""
    first, rest = re.fullmatch(r"(.+?)(?:\.(?=\s+[A-Z`\"]|$)|\n\n|$)\s*(.*)", text, re.S).groups()
    return first, rest


def uncapitalised(text):
    return text[0].lower() + text[1:] if re.match(r"[A-Z][a-z]", text) else text


def wrapped(code):
    """Returns a prototype in lines, which end behind a parameter."""
    whole = re.sub(r"(?<!,) ", "\0", code + ";")
    lines = textwrap.wrap(whole, COLUMNS, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
    return [line.replace("\0", " ") for line in lines]


def described(declarations):
    """Returns the sections about arguments and return values."""
    arguments, returns = [], []
    for one in declarations:
        heading = [f".SS {name_of(one)}"] if len(declarations) > 1 else []
        parts = [line for part in one.parts if part.says for line in tagged(f"\\fI{part.name}\\fR", prose(part.says))]
        arguments += [*heading, *parts] if parts else []
        returns += [*heading, prose(one.returns)] if one.returns else []
    return [*([".SH ARGUMENTS", *arguments] if arguments else []), *([".SH RETURN VALUE", *returns] if returns else [])]


def see_also(entry, page, file, section, known):
    """Returns the section of references: the header's page, and the functions that the comments name."""
    said = " ".join([entry.says, *(one.returns + " ".join(part.says for part in one.parts) for one in entry.declarations)])
    others = sorted({known[name] for name in re.findall(r"\bTAUT_\w+", said) if name in known} - {page})
    references = [f".BR {file} (3)", *(f".BR {escaped(name)} (3)" for name in others)]
    if section:
        references[0] += f"\n(\\(lq{escaped(section)}\\(rq)"
    return [".SH SEE ALSO", ",\n".join(references)]


def section_head(name, text):
    return [f'.SH "{escaped(name)}"', *(blocks(text) if text else [])] if name else []


def types(entry):
    """Returns an entry of types or macros: the comment, then each with its members."""
    out = blocks(entry.says) if entry.says else []
    for one in entry.declarations:
        out += [".PP", f".B {escaped(f'{one.kind} {one.code}'.strip() if one.parts else one.code)}"]
        members = [line for part in one.parts for line in tagged(f"\\fB{escaped(part.code)}\\fR", prose(part.says))]
        out += [".RS", *members, ".RE"] if members else []
    return out


def listed(calls):
    if not calls:
        return []
    return [".PP", "Calls:", *(f".BR {escaped(name)} (3){',' if name != calls[-1] else ''}" for name in calls)]


def main(folder, headers):
    manuals = [Manual(Path(header)) for header in headers]
    known = {name: page for manual in manuals for name, page in manual.names().items()}
    numbers = re.findall(r"^#define TAUT_VERSION_\w+ (\d+)$", Path(headers[0]).read_text(), re.M)
    folder.mkdir(parents=True, exist_ok=True)
    for manual in manuals:
        for name, text in manual.write(".".join(numbers), known).items():
            (folder / f"{name}.3").write_text(text)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
