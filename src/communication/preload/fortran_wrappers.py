"""The functions of a layer that serve Fortran, by those that serve C."""

from functions import fortran_names, unserved, widening, without_buffer


def by_f08_itself(function):
    """True if Open MPI's module mpi_f08 may call only the profiling interface for the function, as Open MPI 4.1 does."""
    flags = any(p.name == "flag" for p in function.parameters) or function.name == "MPI_Testsome"
    return (function.completes or function.message) and flags


def fortran_counting_wrapper(function):
    declared = ", ".join(f"void* {name}" for name in function.arguments)
    listed = ", ".join(f'"{name}"' for name in fortran_names(function))
    return f"""TAUT_API void taut_fortran_{function.name}({declared}, MPI_Fint* ierror) {{
  count_unserved(Wrapped::{function.name});
  call_fortran({{{listed}}}, {", ".join(function.arguments)}, ierror);
}}
"""


def from_fortran(p):
    """Returns the C argument for the Fortran address `p`."""
    handles = {"MPI_Datatype": "Type", "MPI_Op": "Op", "MPI_Comm": "Comm", "MPI_Info": "Info"}
    if p.type in ("const void*", "void*"):
        return f"taut::api::c_buffer({p.name})"
    if p.of_types:
        return f"c_{p.name}.data()"
    if p.array:
        return p.name
    return f"PMPI_{handles[p.type]}_f2c(*{p.name})" if p.type in handles else f"*{p.name}"


def types_from_fortran(function, p):
    """Returns the definition of the C datatypes for the Fortran datatypes `p`. They last if MPI may read them after the call."""
    count = widening(function, p)[1].replace("sendbuf", "taut::api::c_buffer(sendbuf)").replace("comm", "PMPI_Comm_f2c(*comm)")
    lasting = "true" if function.nonblocking or function.persistent else "false"
    return f"const taut::api::TypesFrom c_{p.name}({p.name}, {count}, {lasting});"


def fortran_types(function):
    types = {"const void*": "void", "void*": "void", "const MPI_Aint": "MPI_Aint"}
    return ", ".join(f"{types.get(p.type, 'MPI_Fint')}* {p.name}" for p in function.parameters)


def fortran_creation(function, kind, spellings):
    """Returns the wrapper of a Fortran function that creates a communicator. It passes on the Fortran arguments, which may be
    logicals, the special addresses for missing weights, or an absent `ierror`."""
    listed = ", ".join(f'"{name}"' for name in spellings)
    call = f"call_fortran({{{listed}}}, {function.arguments}, ierror);"
    if kind == "f08":  # the module calls MPI through another wrapper, which must not serve the call again
        call = f"[&] {{\n    const BypassScope bypass;\n    {call}\n  }}();"
    return f"""TAUT_API void taut_{kind}_{function.name}({fortran_types(function)}, MPI_Fint* ierror) {{
  {call}
  if (ierror == nullptr || *ierror == MPI_SUCCESS)
    note_creation(PMPI_Comm_f2c(*{function.parameters[0].name}), PMPI_Comm_f2c(*{function.parameters[-1].name}));
}}
"""


def at_fortran(function, p):
    """Returns type and initialiser of the C object for the Fortran address `p` of an output; None for other arguments."""
    count = next((q.name for q in function.parameters if q.name in ("count", "incount")), "")
    given = function.completes or function.name == "MPI_Cancel"  # else the call makes the request
    if p.type == "MPI_Request*":
        return "RequestAt", f"request, {'PMPI_Request_f2c(*request)' if given else 'MPI_REQUEST_NULL'}"
    if p.type == "MPI_Request" and p.array:
        return "RequestsAt", f"{p.name}, *{count}"
    if p.type == "MPI_Message*":
        found = "MPI_MESSAGE_NULL" if "probe" in function.name else "PMPI_Message_f2c(*message)"
        return "MessageAt", f"message, {found}"
    if p.type == "MPI_Status*":
        return "StatusesAt", f"{p.name}, *{count}" if p.name == "array_of_statuses" else p.name
    kinds = {
        "flag": ("LogicalAt", "flag"),
        "index": ("IndexAt", "index, MPI_UNDEFINED"),
        "array_of_indices": ("IndicesAt", "array_of_indices, outcount"),
    }
    return kinds.get(p.name)


def fortran_message(function, kind="fortran"):
    made, passed = "", []
    for p in function.parameters:
        if at := at_fortran(function, p):
            made += f"  {at[0]} c_{p.name}({at[1]});\n"
            passed.append(f"c_{p.name}")
        elif p.type == "MPI_Request":
            passed.append("PMPI_Request_f2c(*request)")
        else:
            passed.append("outcount" if p.name == "outcount" else from_fortran(p))
    return f"""TAUT_API void taut_{kind}_{function.name}({fortran_types(function)}, MPI_Fint* ierror) {{
{made}  set_ierror(ierror, taut_dropin_{function.name}({", ".join(passed)}));
}}
"""


def fortran_wrapper(function):
    if function.message or function.completes:
        return fortran_message(function)
    if function.creates:
        return fortran_creation(function, "fortran", fortran_names(function))
    parameters = function.parameters
    lists = "".join(f"{types_from_fortran(function, p)}\n  " for p in parameters if p.of_types)
    begin = f"TAUT_API void taut_fortran_{function.name}({fortran_types(function)}, MPI_Fint* ierror) {{\n  {lists}"
    if function.nonblocking or function.persistent:
        passed = ", ".join([from_fortran(p) for p in parameters[:-1]] + ["&made"])
        return f"""{begin}MPI_Request made = MPI_REQUEST_NULL;
  *ierror = taut_dropin_{function.name}({passed});
  *request = PMPI_Request_c2f(made);
}}
"""
    passed = ", ".join(from_fortran(p) for p in parameters)
    return f"{begin}*ierror = taut_dropin_{function.name}({passed});\n}}\n"


def fortran(all_functions):
    served = [f for f in all_functions if not f.large and (not f.by_hand or f.message or f.completes)]
    declared = "".join(f"int taut_dropin_{f.name}({f.declaration});\n" for f in served if not f.creates)
    by_f08 = [f for f in served if by_f08_itself(f)]
    made = [*(fortran_wrapper(f) for f in served), *(fortran_message(f, "f08") for f in by_f08)]
    wrappers = "\n".join([*made, *map(fortran_counting_wrapper, unserved())])
    created = [fortran_creation(f, "f08", [f"{f.name.lower()}_f08_"]) for f in served if f.creates]
    beyond = "\n".join(fortran_message(f, "f08") for f in served if without_buffer(f))
    return f"""// Made by generate.py.
#include <taut/taut.h>

#include "communication/dropin/large_counts.hpp"
#include "communication/dropin/fortran.hpp"
#include "communication/dropin/interception.hpp"
#include "communication/dropin/nonblocking.hpp"
#include "communication/dropin/counts.hpp"

using namespace taut::dropin;

extern "C" {{

{declared}
#ifndef MPI_ABI  // which knows no Fortran
{"".join(created)}
#endif
#ifdef OPEN_MPI
{wrappers}
#elif !defined(MPI_ABI)
{beyond}
#endif
}}  // extern "C"
"""
