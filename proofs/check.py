"""A check: a certificate to be proven, or a mutation of one to be refuted."""

import signal
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto

LIMIT = 600  # seconds of processor time for one command, which do not depend on what else the machine does
WAIT = 3600  # seconds until a command that stands still is ended


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
    """Returns (exit status, output, errors) of a command; the status is None at a limit or without the program."""
    limited = ["prlimit", f"--cpu={LIMIT}", *command]
    try:
        done = subprocess.run(limited, capture_output=True, text=True, timeout=WAIT, check=False, **options)
    except (subprocess.TimeoutExpired, FileNotFoundError) as error:
        return None, "", str(error)
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL, 126, 127):  # the limit; the program cannot be run
        return None, "", done.stderr or f"after {LIMIT} s of processor time"
    return done.returncode, done.stdout, done.stderr


def last_line(text):
    return (text.strip().splitlines() or [""])[-1]
