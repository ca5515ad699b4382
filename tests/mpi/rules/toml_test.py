#!/usr/bin/env python3
"""Compares the reader of TOML with tomllib: a document has the same meaning for both, and the reader rejects
what tomllib rejects.

Usage: toml_test.py READ_TOML
"""

import json
import random
import string
import subprocess
import sys
import unittest

try:
    import tomllib
except ImportError:  # Python 3.10 and older
    print("skipped: this Python has no tomllib")
    sys.exit(0)

PROGRAM = sys.argv.pop(1)

# Features of TOML that no rule needs, and that the reader therefore rejects.
LEFT_OUT = [
    "[table]\nx = 1\n", "x = 1\n", "[[a.b]]\nx = 1\n", "[[a]]\nb.c = 1\n", '[[a]]\n"b" = 1\n', "[[a]]\nx = {y = 1}\n",
    '[[a]]\nx = """y"""\n', "[[a]]\nx = '''y'''\n", "[[a]]\nx = 1979-05-27\n", "[[a]]\nx = 0x10\n", "[[a]]\nx = 1_000\n",
    "[[a]]\nx = inf\n", "[[a]]\nx = nan\n", "[[a]]\nx = [1, 2]\n", "[[a]]\nx = [[\"a\"]]\n", '[[a]]\nx = "\\u0041"\n',
]
DAMAGE = ['"', "'", "[", "]", "=", ",", "\n", "\r", "#", "\\", "\x00", "\x7f", "\x1b", ".", "-", "+", "_", "e", "0", " ", "\t", "x", "é"]


def answers(documents):
    stream = b"".join(b"%d\n%s" % (len(d), d) for d in documents)
    done = subprocess.run([PROGRAM], input=stream, capture_output=True, check=True, timeout=60)
    return [json.loads(line) for line in done.stdout.decode().splitlines()]


def tables_of_tomllib(document):
    """Returns the expected answer of the reader; None if tomllib rejects. The order of tables of other names
    is not in it."""
    try:
        read = tomllib.loads(document.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, ValueError):
        return None
    return read


def by_name(tables):
    grouped = {}
    for name, entries in tables:
        grouped.setdefault(name, []).append(entries)
    return grouped


def draw_string(draw):
    text = "".join(draw.choice(string.printable[:95] + "äß→😀") for _ in range(draw.randrange(12)))
    if draw.random() < 0.3 and "'" not in text and not text.startswith("'"):
        return f"'{text}'"
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + escaped + draw.choice(["", "\\n", "\\t", "\t", "\\b\\f\\r"]) + '"'


def draw_value(draw):
    return draw.choice([
        lambda: draw_string(draw),
        lambda: draw.choice(["0", "-0", "+7", "42", "-17", "9223372036854775807", "-9223372036854775808"]),
        lambda: draw.choice(["1.5", "1e-4", "-2.5E+3", "0.0", "+1e06", "3e0"]),
        lambda: draw.choice(["true", "false"]),
        lambda: "[" + draw.choice(["", " ", "\n", " # c\n"]) + ", ".join(draw_string(draw) for _ in range(draw.randrange(4)))
                + draw.choice(["", "\n", " # d\r\n "]) + "]",
    ])()


def draw_document(draw):
    lines = [draw.choice(["", "# head", "\t"])]
    for _ in range(draw.randrange(4)):
        lines.append(draw.choice(["[[rule]]", "[[ rule ]] # x", " [[other]]"]))
        keys = draw.sample(["call", "dtype", "min_bytes", "on-2", "3", "A_b"], draw.randrange(5))
        lines += [f"{draw.choice(['', '  '])}{key}{draw.choice(['=', ' = '])}{draw_value(draw)}{draw.choice(['', ' # c'])}" for key in keys]
    return draw.choice(["\n", "\r\n"]).join(lines) + draw.choice(["", "\n"])


def damaged(draw, document):
    for _ in range(draw.randrange(1, 4)):
        at = draw.randrange(len(document) + 1)
        document = document[:at] + draw.choice(DAMAGE + [""]) + document[at + draw.randrange(2):]
    return document


class TomlTest(unittest.TestCase):
    def compare(self, documents):
        """Compares the documents; returns the number of documents read."""
        count = 0
        for document, answer in zip(documents, answers(documents), strict=True):
            expected = tables_of_tomllib(document)
            if answer != "rejected":
                self.assertEqual(by_name(answer), expected, document)
                count += 1
        return count

    def test_the_subset_is_read_as_tomllib_reads_it(self):
        draw = random.Random(1)
        documents = [draw_document(draw).encode() for _ in range(1500)]
        self.assertEqual(self.compare(documents), len(documents))

    def test_what_tomllib_rejects_is_rejected(self):
        draw = random.Random(2)
        documents = [damaged(draw, draw_document(draw)).encode() for _ in range(6000)]
        self.assertGreater(self.compare(documents), 500)

    def test_bytes_that_are_no_utf_8(self):
        for bad in (b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82", b"\xf0\x80\x80\x80", b"\xe0\x80\x80"):
            self.assertEqual(answers([b'[[a]]\nx = "' + bad + b'"\n', b"# " + bad]), ["rejected"] * 2, bad)

    def test_the_rest_of_toml_is_rejected(self):
        self.assertEqual(answers([d.encode() for d in LEFT_OUT]), ["rejected"] * len(LEFT_OUT))
        for document in LEFT_OUT:
            tomllib.loads(document)  # is TOML


if __name__ == "__main__":
    unittest.main()
