"""Reads the declarations of taut.h that the Fortran module needs: functions, status codes, statistics."""

import re
from dataclasses import dataclass
from pathlib import Path

HEADER = Path(__file__).resolve().parents[4] / "include/taut/taut.h"
# Functions whose Fortran code is in module.f90.in: texts and structures.
BY_HAND = {"Comm_set_policy", "Comm_get_policy", "Comm_explain", "Comm_get_stats", "Error_status"}


@dataclass(frozen=True)
class Parameter:
    """A parameter. `type`: in C, with [] for an array; `name`: as in the module mpi_f08."""

    type: str
    name: str


@dataclass(frozen=True)
class Function:
    """A function of taut.h. `name`: without prefix."""

    name: str
    parameters: tuple

    def of_type(self, *types):
        return [p for p in self.parameters if p.type in types]

    @property
    def creates_request(self):
        """True if the request is an output: the call also has a communicator."""
        return bool(self.of_type("MPI_Comm"))

    @property
    def lasts(self):
        """True if MPI may read arrays after the call."""
        return self.creates_request and bool(self.of_type("TAUT_Request*"))


def without_comments():
    return re.sub(r"/\*.*?\*/", lambda m: "/*----*/" if "----" in m[0] else "", HEADER.read_text(), flags=re.S)


def parameter(text):
    type_, name, array = re.fullmatch(r"\s*(.*?)\s*\b(\w+)(\[\])?\s*", text, re.S).groups()
    return Parameter(" ".join(type_.split()) + (array or ""), {"type": "datatype"}.get(name, name))


def functions():
    """Yields the functions of the MPI part that return a code, in the order of the header."""
    part = without_comments().split("#ifndef TAUT_NO_MPI")[-1]
    for name, parameters in re.findall(r"TAUT_API\s+int\s+TAUT_(\w+)\(([^()]*)\);", part):
        yield Function(name, tuple(parameter(text) for text in parameters.split(",")))


def constants():
    """Returns the status codes and the version as (name, value)."""
    header = without_comments()
    return re.findall(r"(?:^#define |\n  )(TAUT_(?:SUCCESS|ERR_\w+|VERSION_\w+))(?: =)? (\d+)", header, re.M)


def statistics():
    """Returns the members of TAUT_Stats after struct_size, all of type uint64_t."""
    body = re.search(r"typedef struct TAUT_Stats \{(.*?)\} TAUT_Stats;", without_comments(), re.S)[1]
    return re.findall(r"uint64_t (\w+);", body)
