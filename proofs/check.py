"""A check: a certificate to be proven, or a mutation of one to be refuted."""

import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto

LIMIT = 100  # seconds for one command


class Verdict(Enum):
    proven = auto()
    refuted = auto()  # the tool says that the claim does not hold, or that it finds no proof
    undecided = auto()  # the tool failed: a syntax error, a limit, a missing program


@dataclass
class Check:
    part: str
    name: str
    provable: bool
    run: Callable[[], tuple[Verdict, str]]


def output_of(command, **options):
    """Returns (exit status, output, errors) of a command; the status is None after LIMIT seconds or without the program."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False, **options)
    except (subprocess.TimeoutExpired, FileNotFoundError) as error:
        return None, "", str(error)
    return done.returncode, done.stdout, done.stderr


def last_line(text):
    return (text.strip().splitlines() or [""])[-1]
