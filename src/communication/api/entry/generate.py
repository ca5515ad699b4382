#!/usr/bin/env python3
"""Generates C++ code for the collective functions in communication/team/collectives.txt, one line per function.

generate.py calls    functions that return the MpiCall of a call, for entry and for the drop-in
generate.py entry    the C calls of taut.h: blocking, nonblocking, persistent
generate.py pmpi     the same calls of plain MPI, for communication/mpi/pmpi.cpp
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "team"))
from collectives import collectives

FIELDS = {"address": "at", "count": "count", "type": "type", "counts": "counts", "displacements": "displs", "types": "types"}


def maker(function):
    """Returns the function that makes an MpiCall of the arguments. `site`: return address of the program's call."""
    fields = [f".function = Function::{function.name}"]
    for side in ("send", "recv"):
        given = function.of_side(side)
        members = ", ".join(f".{field} = {given[kind].name}" for kind, field in FIELDS.items() if kind in given)
        fields += [f".{side} = {{{members}}}"] if members else []
    fields += [f".{p.name} = {p.name}" for p in function.parameters if p.kind in ("op", "root")]
    fields += [".comm = comm", ".site = site"]
    declared = ", ".join(function.declarations("MPI_Count", "MPI_Aint"))
    return f"inline MpiCall {function.name}({declared}, const void* site) {{\n  return {{{', '.join(fields)}}};\n}}\n"


def made_calls():
    makers = "\n".join(map(maker, collectives()))
    return f"""// Made by generate.py.
#pragma once

#include "communication/mpi/mpi_call.hpp"

namespace taut::api::calls {{

{makers}
}}  // namespace taut::api::calls
"""


def definitions(function):
    declared = ", ".join(function.declarations("MPI_Count", "MPI_Aint"))
    request = "TAUT_Request* request"
    passed = ", ".join([p.name for p in function.parameters] + ["comm", "__builtin_return_address(0)"])
    call = f"calls::{function.name}({passed})"
    yield f"int TAUT_{function.name}({declared}) {{ return serve({call}); }}"
    yield f"int TAUT_{function.immediate}({declared}, {request}) {{ return begin({call}, request); }}"
    yield f"int TAUT_{function.name}_init({declared}, MPI_Info info, {request}) {{ return prepare({call}, info, request); }}"


def entry():
    lines = "\n".join(line for function in collectives() for line in definitions(function))
    return f"""// Made by generate.py.
#include "communication/api/state/requests.hpp"
#include "collective_calls.hpp"

using namespace taut::api;

extern "C" {{

{lines}

}}  // extern "C"
"""


def argument(function, parameter):
    """Returns the argument that plain MPI gets for a parameter. `c` is the MpiCall, `a` its PmpiArgs."""
    if parameter.kind in ("op", "root"):
        return {"op": "a.op", "root": "c.root"}[parameter.kind]
    side = function.side(parameter)
    if parameter.kind == "address":
        return "c.send.at" if side == "send" else "c.recv.writable()"
    if parameter.kind in ("type", "types"):
        return f"c.{side}.{parameter.kind}"
    if parameter.kind == "displacements" and function.int_displacement == "MPI_Aint":
        return f"c.{side}.displs"
    return f"a.{side}.{FIELDS[parameter.kind]}()"


def calls(name, more=""):
    """Yields one line per function; `name` makes the expression that is called."""
    for function in collectives():
        passed = ", ".join(argument(function, p) for p in function.parameters)
        yield f"    case Function::{function.name}: return {name(function)}({passed}, on{more});"


def switch(declaration, name, more=""):
    lines = "\n".join(calls(name, more))
    return f"""{declaration} {{
  switch (c.function) {{
{lines}
    case Function::none: break;
  }}
  return MPI_ERR_INTERN;
}}
"""


def pmpi():
    arguments = "const MpiCall& c, const PmpiArgs& a, MPI_Comm on"
    blocking = switch(f"inline int pmpi_blocking({arguments})", lambda f: f"TAUT_PMPI({f.name})")
    nonblocking = switch(
        f"inline int pmpi_nonblocking({arguments}, MPI_Request* request)", lambda f: f"TAUT_PMPI({f.immediate})", ", request"
    )
    init = switch(
        f"inline int pmpi_init({arguments}, MPI_Info info, MPI_Request* request)",
        lambda f: f"TAUT_PMPI_INIT({f.name})",
        ", info, request",
    )
    return f"""// Made by generate.py.
#pragma once

#include "communication/mpi/pmpi.hpp"

namespace taut::api {{

{blocking}
{nonblocking}
{init}
}}  // namespace taut::api
"""


if __name__ == "__main__":
    print({"calls": made_calls, "entry": entry, "pmpi": pmpi}[sys.argv[1]](), end="")
