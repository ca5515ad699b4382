"""A check: a certificate to be proven, or a mutation of one to be refuted."""

import os
import signal
import subprocess
import tempfile
import threading
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


class Spent(threading.local):
    """Processor time, in seconds, of the commands that this thread ran."""

    seconds = 0.0


spent = Spent()


def output_of(command, input=None, cwd=None):
    """Returns (exit status, output, errors) of a command; the status is None at a limit or without the program."""
    limited = ["prlimit", f"--cpu={LIMIT}", *command]
    with tempfile.TemporaryFile("w+") as given, tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        given.write(input or "")
        given.seek(0)
        started = subprocess.Popen(limited, stdin=given, stdout=output, stderr=errors, cwd=cwd)
        ending = threading.Timer(WAIT, started.kill)
        ending.start()
        _, status, usage = os.wait4(started.pid, 0)
        ending.cancel()
        started.returncode = status = os.waitstatus_to_exitcode(status)
        spent.seconds += usage.ru_utime + usage.ru_stime
        output.seek(0)
        errors.seek(0)
        said = output.read(), errors.read()
    if status in (-signal.SIGXCPU, -signal.SIGKILL, 126, 127):  # the limit; the program cannot be run
        return None, "", said[1] or f"after {LIMIT} s of processor time"
    return status, *said


def last_line(text):
    return (text.strip().splitlines() or [""])[-1]
