#!/usr/bin/env python3
"""Makes the Fortran module `taut` and the C functions that it calls, from the declarations in taut.h.

generate.py module    the module, from module.f90.in
generate.py calls     the C functions TAUT_F_<call>, which take Fortran's handles and special addresses
"""

import sys
from pathlib import Path

from declarations import BY_HAND, constants, functions, statistics

HANDLES = {"MPI_Datatype": "Type", "MPI_Op": "Op", "MPI_Comm": "Comm", "MPI_Info": "Info"}

# Types in C: the argument of the Fortran subroutine, and the argument of the C function in its interface.
INTEGERS = {
    "MPI_Count": ("integer(MPI_COUNT_KIND), intent(in) ::", "integer(c_int64_t), value ::"),
    "const MPI_Count[]": ("integer(MPI_COUNT_KIND), intent(in), asynchronous ::", "integer(c_int64_t), intent(in), asynchronous ::"),
    "const MPI_Aint[]": ("integer(MPI_ADDRESS_KIND), intent(in), asynchronous ::", "integer(c_intptr_t), intent(in), asynchronous ::"),
    "int": ("integer, intent(in) ::", "integer(c_int), value ::"),
    "int*": ("integer, intent(out) ::", "integer(c_int), intent(out) ::"),
}
OBJECTS = {
    "const MPI_Datatype[]": ("type(MPI_Datatype), intent(in), asynchronous ::",) * 2,
    "TAUT_Request*": ("type(TAUT_Request), intent(inout) ::",) * 2,
    "TAUT_Request[]": ("type(TAUT_Request), intent(inout) ::",) * 2,
    "MPI_Status*": ("type(MPI_Status) ::",) * 2,
    "MPI_Status[]": ("type(MPI_Status) ::",) * 2,
    "const void*": ("type(*), dimension(..), intent(in), asynchronous, target ::", "type(c_ptr), value ::"),
    "void*": ("type(*), dimension(..), asynchronous, target ::", "type(c_ptr), value ::"),
}
KINDS = INTEGERS | OBJECTS | {h: (f"type({h}), intent(in) ::", "integer(c_int), value ::") for h in HANDLES}


def buffer(p):
    return p.type in ("const void*", "void*") and p.name != "stream"


def declared(p, side, function, count="MPI_COUNT_KIND"):
    """Returns the declaration of a parameter on a side: 0, of the subroutine; 1, of the C function."""
    array = "(*)" if p.type.endswith("[]") else ""
    declaration = KINDS[p.type][side]
    if p.name == "stream":
        declaration = ("type(c_ptr), intent(in) ::", "type(c_ptr), value ::")[side]
    elif p.name == "flag" and side == 0:
        declaration = "logical, intent(out) ::"
    elif p.type == "TAUT_Request*" and function.creates_request:
        declaration = declaration.replace("inout", "out")
    if count == "int" and p.type == "MPI_Count":
        declaration = "integer, intent(in) ::"
    return f"{declaration} {p.name}{array}"


def passed(p):
    """Returns what the C function gets for a parameter of the subroutine."""
    if buffer(p):
        return f"c_loc({p.name})"
    if p.type in HANDLES:
        return f"{p.name}%MPI_VAL"
    return f"c_{p.name}" if p.type == "int*" else p.name


def listed(names):
    """Returns a list of names with line breaks of Fortran."""
    return ", &\n        ".join(", ".join(names[i : i + 5]) for i in range(0, len(names), 5))


def c_name(function):
    return f"TAUT_F_{function.name}" if converts(function) else f"TAUT_{function.name}"


def converts(function):
    """True if an argument differs between Fortran and C, so that the function needs a form of its own."""
    return any(buffer(p) or p.type in (*HANDLES, "MPI_Status*", "MPI_Status[]") for p in function.parameters)


def interface(function):
    names = [p.name for p in function.parameters]
    lines = "\n".join(f"      {declared(p, 1, function)}" for p in function.parameters)
    return f"""    integer(c_int) function c_{function.name}( &
        {listed(names)}) bind(C, name="{c_name(function)}")
      import
{lines}
    end function
"""


def call(function):
    """Returns the statements that call the C function, unless a buffer is not contiguous."""
    made = f"code = c_{function.name}( &\n        {listed([passed(p) for p in function.parameters])})"
    buffers = [p.name for p in function.parameters if buffer(p)]
    if not buffers:
        return f"    {made}\n"
    tests = "".join(
        f"if (.not. is_contiguous({name})) then\n      code = refused('TAUT_{function.name}: {name}', comm)\n    else "
        for name in buffers
    )
    return f"    {tests.removesuffix('else ')}else\n      {made}\n    end if\n"


def results(function):
    """Yields the statements that set outputs whose values differ between Fortran and C."""
    for p in function.of_type("int*"):
        value = "c_flag /= 0" if p.name == "flag" else f"merge(c_{p.name}, c_{p.name} + 1, c_{p.name} == MPI_UNDEFINED)"
        yield f"    {p.name} = {value}\n"


def subroutine(function, suffix=""):
    names = [*(p.name for p in function.parameters), "ierror"]
    lines = "\n".join(f"    {declared(p, 0, function)}" for p in function.parameters)
    local = "".join(f"    integer(c_int) :: c_{p.name}\n" for p in function.of_type("int*"))
    return f"""  subroutine TAUT_{function.name}{suffix}( &
        {listed(names)})
{lines}
    integer, optional, intent(out) :: ierror
{local}    integer(c_int) :: code
{call(function)}{"".join(results(function))}    if (present(ierror)) ierror = code
  end subroutine
"""


def narrow_subroutine(function):
    """Returns the subroutine with counts of default kind."""
    names = [*(p.name for p in function.parameters), "ierror"]
    lines = "\n".join(f"    {declared(p, 0, function, 'int')}" for p in function.parameters)
    wide = [f"int({p.name}, MPI_COUNT_KIND)" if p.type == "MPI_Count" else p.name for p in function.parameters]
    return f"""  subroutine TAUT_{function.name}_int( &
        {listed(names)})
{lines}
    integer, optional, intent(out) :: ierror
    call TAUT_{function.name}_count( &
        {listed([*wide, "ierror"])})
  end subroutine
"""


def generic(function):
    return f"""  interface TAUT_{function.name}
    module procedure TAUT_{function.name}_int, TAUT_{function.name}_count
  end interface
"""


def module():
    all_functions = [f for f in functions() if f.name not in BY_HAND]
    counted = [f for f in all_functions if f.of_type("MPI_Count")]
    parts = {
        "CONSTANTS": "\n".join(f"  integer, parameter, public :: {name} = {value}" for name, value in constants()),
        "STATISTICS": "\n".join(f"    integer(c_int64_t) :: {name} = 0" for name in statistics()),
        "NAMES": "\n".join(f"  public :: TAUT_{f.name}" for f in all_functions),
        "GENERICS": "".join(map(generic, counted)),
        "INTERFACES": "".join(map(interface, all_functions)),
        "SUBROUTINES": "\n".join(
            [subroutine(f, "_count" if f in counted else "") for f in all_functions] + list(map(narrow_subroutine, counted))
        ),
    }
    text = Path(__file__).with_name("module.f90.in").read_text()
    for name, part in parts.items():
        text = text.replace(f"!@{name}@\n", part.rstrip("\n") + "\n")
    return text


# ---- C


def c_declared(p):
    name = {"datatype": "type"}.get(p.name, p.name)
    if p.type in HANDLES:
        return f"MPI_Fint {name}"
    if p.type == "const MPI_Datatype[]":
        return f"const MPI_Fint* {name}"
    return f"{p.type.removesuffix('[]')}{'*' if p.type.endswith('[]') else ''} {name}"


def blocks(function, p):
    """Returns the number of datatypes in an array."""
    if function.name.lower().removeprefix("i").startswith("neighbor"):
        return f"degrees_of(PMPI_Comm_f2c(comm)).{'out' if p.name.startswith('send') else 'in'}"
    count = "block_count(PMPI_Comm_f2c(comm))"
    return f"c_buffer(sendbuf) == MPI_IN_PLACE ? 0 : {count}" if p.name == "sendtypes" else count


def c_passed(function, p):
    name = {"datatype": "type"}.get(p.name, p.name)
    if p.type in HANDLES:
        return f"PMPI_{HANDLES[p.type]}_f2c({name})"
    if p.type == "const MPI_Datatype[]":
        return f"TypesFrom({name}, {blocks(function, p)}, {'true' if function.lasts else 'false'}).data()"
    if buffer(p):
        return f"c_buffer({name})"
    return {"MPI_Status*": f"c_status({name})", "MPI_Status[]": f"c_statuses({name})"}.get(p.type, name)


def calls():
    made = "\n".join(
        f"TAUT_API int TAUT_F_{f.name}({', '.join(map(c_declared, f.parameters))}) {{\n"
        f"  return TAUT_{f.name}({', '.join(c_passed(f, p) for p in f.parameters)});\n}}"
        for f in functions()
        if converts(f)
    )
    return f"""// Made by generate.py.
#include <taut/taut.h>

#include "communication/mpi/from_fortran.hpp"
#include "communication/mpi/rank_and_size.hpp"
#include "communication/mpi/topology.hpp"

#ifndef MPI_ABI  // which knows no Fortran
using namespace taut::api;

extern "C" {{

{made}

}}  // extern "C"
#endif
"""


if __name__ == "__main__":
    print({"module": module, "calls": calls}[sys.argv[1]](), end="")
