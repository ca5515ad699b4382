#!/usr/bin/env python3
"""Reads the list of collective functions (collectives.txt). As a program it prints a C++ header.

collectives.py collectives    the enumeration of collectives, for communication/team/collective.hpp
collectives.py functions      the enumeration of MPI's functions, for communication/mpi/mpi_call.hpp
"""

import re
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

LIST = Path(__file__).with_name("collectives.txt")

# Kinds of parameters, each with the pattern of their names.
KINDS = {
    "address": r"(send|recv)buf|buffer",
    "count": r"(send|recv)?count",
    "counts": r"(send|recv)counts",
    "displacements": r"[sr]?displs",
    "type": r"(send|recv)type|datatype",
    "types": r"(send|recv)types",
    "op": r"op",
    "root": r"root",
}


@dataclass(frozen=True)
class Parameter:
    name: str
    at_root: bool  # significant at the root only

    @cached_property
    def kind(self):
        return next(kind for kind, pattern in KINDS.items() if re.fullmatch(pattern, self.name))


@dataclass(frozen=True)
class Collective:
    """A collective function of MPI. `name`: without prefix; `served_as`: the collective that serves it."""

    name: str
    served_as: str
    parameters: tuple

    @cached_property
    def kinds(self):
        return {p.kind for p in self.parameters}

    @property
    def has_root(self):
        return "root" in self.kinds

    @property
    def reduces(self):
        return "op" in self.kinds

    @property
    def of_neighbours(self):
        return self.name.startswith("Neighbor_")

    @property
    def prefixes(self):
        """True if rank r gets the reduction over the ranks up to r."""
        return self.served_as.endswith("scan")

    @property
    def immediate(self):
        """Returns the name of its nonblocking form."""
        return f"I{self.name[0].lower()}{self.name[1:]}"

    def side(self, parameter):
        """Returns the buffer that a parameter describes: send or recv (displs: of a scatter, send)."""
        if re.match(r"send|s(?=displs)", parameter.name):
            return "send"
        sends_blocks = any(p.name == "sendcounts" for p in self.parameters)
        return "send" if parameter.name == "displs" and sends_blocks else "recv"

    def of_side(self, side):
        """Returns the parameters of one buffer, by kind."""
        return {p.kind: p for p in self.parameters if p.kind not in ("op", "root") and self.side(p) == side}

    def at_root(self, side):
        """True if all parameters of a buffer are significant at the root only (Reduce: only the address)."""
        return all(p.at_root for p in self.of_side(side).values())

    def declarations(self, count, displacement):
        """Yields the parameters in C, with counts of type `count` and displacements of type `displacement`."""
        types = {"count": count, "counts": f"const {count}", "displacements": f"const {displacement}", "type": "MPI_Datatype"}
        types |= {"types": "const MPI_Datatype", "op": "MPI_Op", "root": "int"}
        for p in self.parameters:
            if p.kind == "address":
                yield f"{'const void*' if p.name == 'sendbuf' else 'void*'} {p.name}"
            else:
                yield f"{types[p.kind]} {p.name}{'[]' if p.kind in ('counts', 'displacements', 'types') else ''}"
        yield "MPI_Comm comm"

    @property
    def int_displacement(self):
        """Returns the type of displacements in the function with counts of int."""
        return "MPI_Aint" if self.of_neighbours and "types" in self.kinds else "int"


def collectives():
    """Yields the collectives of the list, in its order."""
    for line in LIST.read_text().splitlines():
        if line and not line.startswith("#"):
            name, served_as, *parameters = line.split()
            split = (p.partition("@") for p in parameters)
            yield Collective(name, served_as, tuple(Parameter(p, at == "@") for p, at, _ in split))


def served_as():
    """Returns the collectives that serve the functions: {name: the first function that it serves}."""
    return {c.served_as: c for c in reversed([*collectives()])}


def collectives_header():
    listed = list(dict.fromkeys(c.served_as for c in collectives()))
    one = served_as()
    names = "".join(f'"{name}", ' for name in listed)
    values = ", ".join(f"{name} = {i}" for i, name in enumerate([*listed, "send", "recv"], 1))
    reducing = " || ".join(f"collective == Collective::{name}" for name in listed if one[name].reduces)
    rooted = " || ".join(f"collective == Collective::{name}" for name in listed if one[name].has_root)
    prefixing = " || ".join(f"collective == Collective::{name}" for name in listed if one[name].prefixes)
    of_neighbours = " || ".join(f"collective == Collective::{name}" for name in listed if one[name].of_neighbours)
    return f"""// Made by collectives.py.
#pragma once

#include <cstdint>

namespace taut {{

enum class Collective : std::uint8_t {{ {values} }};
inline constexpr Collective all_collectives[] = {{{", ".join(f"Collective::{name}" for name in listed)}}};
inline constexpr const char* collective_names[] = {{"", {names}"send", "recv"}};

constexpr bool reduces(Collective collective) noexcept {{ return {reducing}; }}
constexpr bool has_root(Collective collective) noexcept {{ return {rooted}; }}
// Returns true if rank r gets the reduction over the ranks up to r.
constexpr bool computes_prefixes(Collective collective) noexcept {{ return {prefixing}; }}
// Returns true if a rank may complete long before the others, because it needs data of some ranks only.
constexpr bool may_complete_early(Collective collective) noexcept {{
  return has_root(collective) || computes_prefixes(collective);
}}
constexpr bool of_neighbours(Collective collective) noexcept {{ return {of_neighbours}; }}

}}  // namespace taut
"""


def flag(value):
    return "true" if value else "false"


def functions_header():
    names = ", ".join(c.name for c in collectives())
    rows = "\n".join(
        f'    {{"{c.name}", Collective::{c.served_as}, {flag(c.has_root)}, {flag("counts" in c.kinds)}, {flag(c.int_displacement == "int")}, '
        f"{flag(c.at_root('send'))}, {flag(c.at_root('recv'))}}},"
        for c in collectives()
    )
    return f"""// Made by collectives.py.
#pragma once

#include "communication/team/collective.hpp"

namespace taut::api {{

enum class Function : std::uint8_t {{ none, {names} }};

struct FunctionInfo {{
  const char* name;
  Collective collective;
  bool has_root, has_counts;  // has_counts: a count for each block
  bool int_displs;  // displacements are of type int in the function with int counts
  bool send_at_root, recv_at_root;  // the side matters at the root alone
}};
inline constexpr FunctionInfo function_table[] = {{
    {{"", Collective{{}}, false, false, true, false, false}},
{rows}
}};
constexpr const FunctionInfo& info_of(Function function) noexcept {{
  return function_table[static_cast<std::uint8_t>(function)];
}}

}}  // namespace taut::api
"""


if __name__ == "__main__":
    print({"collectives": collectives_header, "functions": functions_header}[sys.argv[1]](), end="")
