#!/usr/bin/env python3
"""Writes the wrappers of the drop-in from the prototypes of MPI's functions.

generate.py preload    C: the functions that C and Fortran programs call, for libtaut_preload.so, with any MPI
generate.py names      C++: the list of functions
generate.py dropin     C++: the functions of a layer that serve these calls by TAUT_ calls, for one MPI
generate.py fortran    C++: the functions of a layer that serve Fortran: all of Open MPI's, whose Fortran functions call no
                       MPI_ function of C, and those of other MPIs that call none

functions.py lists the wrapped functions.
"""

import re
import sys
from dataclasses import dataclass

from functions import REQUEST, functions, unserved


def beyond_c(function):
    """True if MPICH's module mpi_f08 does not call the C function: functions without a buffer."""
    begins_or_ends = function.name in ("MPI_Init", "MPI_Init_thread", "MPI_Finalize")
    return function.creates or function.of_persistent or begins_or_ends or without_buffer(function)


def without_buffer(function):
    """True if the function probes for messages or completes requests, without a buffer argument."""
    return (function.completes or function.message) and not any("void*" in p.type for p in function.parameters)


def by_f08_itself(function):
    """True if Open MPI's module mpi_f08 may call only the profiling interface for the function, as Open MPI 4.1 does."""
    flags = any(p.name == "flag" for p in function.parameters) or function.name == "MPI_Testsome"
    return (function.completes or function.message) and flags


def fortran_names(function):
    """Returns the compilers' spellings of the function, and the name that Open MPI's module mpi_f08 calls."""
    lower = function.name.lower()
    return [lower, lower + "_", lower + "__", lower.upper(), f"ompi_{lower.removeprefix('mpi_')}_f"]


COUNTED = 4  # asked for by TAUT_REPORT or TAUT_SUMMARY, as in preload.h


def in_fortran(function):
    """Returns the parameters in Fortran, without the error code. All arguments are addresses."""
    return [p for p in function.parameters if p.name not in ("argc", "argv") and p.type != "..."]


@dataclass
class Entry:
    """A wrapper in libtaut_preload.so: its symbol, and the layer's function that serves it."""

    symbol: str
    served: str
    type: str
    arguments: list
    asked_by: int
    variadic: bool = False

    @property
    def definition(self):
        declared = ", ".join([f"taut_word {name}" for name in self.arguments] + ["..."] * self.variadic)
        types = ", ".join(["taut_word"] * len(self.arguments) + ["..."] * self.variadic)
        call = f"(({self.type} (*)({types or 'void'}))taut_target(%d))({', '.join(self.arguments)});"
        result = "return " if self.type != "void" else ""
        return f"WRAPPER {self.type} {self.symbol}({declared or 'void'}) {{\n  {result}{call}\n}}\n"


def entries(all_functions):
    for f in all_functions:
        fixed = [p.name for p in f.parameters if p.type != "..."]
        yield Entry(f.name, f"taut_dropin_{f.name}", "int", fixed, f.asked_by, len(fixed) < len(f.parameters))
    for f in all_functions:
        if not f.large:
            error = [] if f.name == "MPI_Pcontrol" else ["ierror"]
            for symbol in fortran_names(f):
                arguments = [p.name for p in in_fortran(f)] + error
                yield Entry(symbol, f"taut_fortran_{f.name}", "void", arguments, f.asked_by)
    for f in all_functions:
        if beyond_c(f):
            arguments = [p.name for p in in_fortran(f)] + ["ierror"]
            yield Entry(f"{f.name.lower()}_f08_", f"taut_f08_{f.name}", "void", arguments, f.asked_by)


def counted_entries():
    for f in unserved():
        yield Entry(f.name, f"taut_dropin_{f.name}", "int", f.arguments, COUNTED)
        for symbol in fortran_names(f):
            yield Entry(symbol, f"taut_fortran_{f.name}", "void", [*f.arguments, "ierror"], COUNTED)


def preload(all_functions):
    listed = [*entries(all_functions), *counted_entries()]
    names = "".join(f'    {{"{e.symbol}", "{e.served}", {e.asked_by}}},\n' for e in listed)
    wrappers = "\n".join(e.definition % i for i, e in enumerate(listed))
    return f"""/* Made by generate.py. */
#include "preload/preload.h"

#define WRAPPER __attribute__((visibility("default")))

const struct taut_wrapped taut_wrapped[] = {{
{names}}};
_Static_assert(sizeof taut_wrapped / sizeof *taut_wrapped <= taut_most_wrapped, "taut_most_wrapped");

{wrappers}"""


def widening(function, p):
    """Returns number type and size of the array of wider numbers that replaces the array `p`."""
    number = "MPI_Aint" if "displs" in p.name else "MPI_Count"
    root = "root" if any(q.name == "root" for q in function.parameters) else "every_rank"
    count = f"blocks(comm, {root})"
    if "eighbor" in function.name:
        return number, f"taut::api::degrees_of(comm).{'out' if p.name.startswith('s') else 'in'}"
    if p.name in ("sendcounts", "sdispls", "sendtypes") and root == "every_rank":
        count = f"sendbuf == MPI_IN_PLACE ? 0 : {count}"
    return number, count


def blocking_body(function):
    wide = ""
    for p in (p for p in function.parameters if p.widened):
        number, count = widening(function, p)
        wide += f"  const Widened<{number}> wide_{p.name}({p.name}, {count});\n"
    passed = ", ".join(f"wide_{p.name}.data()" if p.widened else p.name for p in function.parameters)
    body = f"{wide}  return {function.taut}({passed});"
    return f"return guard(comm, [&] {{\n{body}\n  }});" if wide else body


def nonblocking_argument(function, p):
    if p == REQUEST:
        return "call"
    if p.of_types:  # MPI lets the program change them no sooner than Taut needs them
        return p.name
    number, count = widening(function, p)
    return f"kept.copied<{number}>({p.name}, {count})" if p.array else p.name


def making(function):
    """Returns the lambda that creates Taut's request behind the program's request."""
    passed = ", ".join(nonblocking_argument(function, p) for p in function.parameters)
    kept = "KeptArrays& kept" if "kept." in passed else "KeptArrays&"
    return f"[&]({kept}, TAUT_Request* call) {{\n    return {function.taut}({passed});\n  }}"


def nonblocking_body(function):
    return f"return launch(comm, request, {making(function)});"


def collective_wrapper(function):
    types = ", ".join(p.declaration for p in function.parameters)
    intercepts, body, inside = "intercepts", blocking_body, "\n  const BypassScope bypass;"
    if function.nonblocking:
        intercepts, body, inside = "intercepts_nonblocking", nonblocking_body, ""
    # An MPI before 4 has no large-count functions: TAUT_ calls then serve them as plain MPI.
    lacking = f"if (next == nullptr) {{\n    const RuleBypassScope plain;\n    {body(function)}\n  }}\n    " if function.large else ""
    return f"""TAUT_API int taut_dropin_{function.name}({function.declaration}) {{
  const auto next = next_as<int (*)({types})>(Wrapped::{function.name});
  if (!{intercepts}(comm)) {{
    {lacking}return next({function.arguments});
  }}{inside}
  {body(function)}
}}
"""


def narrowed(function, p):
    if p.type == "MPI_Count":
        return f"narrowed({p.name})"
    if p.of_types:
        return p.name
    return f"narrowed_for_good({p.name}, {widening(function, p)[1]})" if p.array else p.name


def narrow_type(p):
    if p.of_types:
        return f"{p.type}*"
    return "const int*" if p.array else p.type.replace("MPI_Count", "int")


def persistent_wrapper(function):
    """Returns the wrapper of a persistent call. MPI before 4 has no such calls, Open MPI 5 none with large counts."""
    types = ", ".join(p.declaration for p in function.parameters)
    lacking = "return raise(comm, MPI_ERR_UNSUPPORTED_OPERATION);"
    if function.large:
        narrow = function.name.removesuffix("_c")
        narrow_types = ", ".join(narrow_type(p) for p in function.parameters)
        passed = ", ".join(narrowed(function, p) for p in function.parameters)
        lacking = f"""return guard(comm, [&]() -> int {{
    const auto narrow = next_as<int (*)({narrow_types})>(Wrapped::{narrow});
    if (narrow == nullptr) {lacking}
    return narrow({passed});
  }});"""
    return f"""TAUT_API int taut_dropin_{function.name}({function.declaration}) {{
  const auto next = next_as<int (*)({types})>(Wrapped::{function.name});
  int code = MPI_SUCCESS;
  if (keep(comm, request, code, {making(function)})) return code;
  if (next != nullptr) return next({function.arguments});
  {lacking}
}}
"""


def send_wrapper(function):
    """Returns the wrapper of a send: sends a frame, or makes the plain call, with ints if the MPI lacks large counts."""
    name, persistent = re.fullmatch(r"MPI_(.*?)(_init)?(_c)?", function.name).group(1, 2)
    started = f"I{name.lower()}" if persistent else name
    message = "{buf, count, datatype, dest, tag, comm}"
    plain = f"call_next(Wrapped::{function.name}, {function.arguments})"
    if function.large:
        narrow = function.name.removesuffix("_c")
        passed = ", ".join(narrowed(function, p) for p in function.parameters)
        plain = f"""has(Wrapped::{function.name}) ? {plain}
             : guard(comm, [&] {{ return call_next(Wrapped::{narrow}, {passed}); }})"""
    if persistent:
        body = f"""  const int code = {plain};
  if (code == MPI_SUCCESS) send_at_each_start(*request, TAUT_PMPI({started}), {message});
  return code;"""
    else:
        coded = f"send_coded(TAUT_PMPI({started}), {message}{', request' if function.parameters[-1] == REQUEST else ''}, code)"
        body = f"""  int code = MPI_SUCCESS;
  if ({coded}) return code;
  return {plain};"""
    return f"""TAUT_API int taut_dropin_{function.name}({function.declaration}) {{
{body}
}}
"""


def template_wrapper(function):
    """Returns the wrapper of a call that a function template serves, with ints if the MPI lacks large counts."""
    name = function.name.removeprefix("MPI_").removesuffix("_c")
    body = f"return {name.lower()}(Wrapped::{function.name}, {function.arguments});"
    if function.large:
        counts = [p.name for p in function.parameters if p.type == "MPI_Count"]
        passed = ", ".join(f"n_{p.name}" if p.name in counts else p.name for p in function.parameters)
        comm = "comm" if any(p.name == "comm" for p in function.parameters) else "MPI_COMM_WORLD"
        body = f"""const auto one = [&](Wrapped function, {", ".join(f"auto n_{count}" for count in counts)}) {{
    return {name.lower()}(function, {passed});
  }};
  return by_large(Wrapped::{function.name}, Wrapped::MPI_{name}, {comm}, one, {", ".join(counts)});"""
    return f"""TAUT_API int taut_dropin_{function.name}({function.declaration}) {{
  {body}
}}
"""


def creation_wrapper(function):
    types = ", ".join(p.declaration for p in function.parameters)
    return f"""TAUT_API int taut_dropin_{function.name}({function.declaration}) {{
  const auto next = next_as<int (*)({types})>(Wrapped::{function.name});
  const int code = next({function.arguments});
  if (code == MPI_SUCCESS) connect_made({function.parameters[0].name}, *{function.parameters[-1].name});
  return code;
}}
"""


def counting_wrapper(function):
    """Returns a wrapper that counts the call and calls the next function; arguments are words, as in preload.h."""
    declared = ", ".join(f"std::uint64_t {name}" for name in function.arguments)
    return f"""TAUT_API int taut_dropin_{function.name}({declared}) {{
  count_unserved(Wrapped::{function.name});
  return call_next(Wrapped::{function.name}, {", ".join(function.arguments)});
}}
"""


def fortran_counting_wrapper(function):
    declared = ", ".join(f"void* {name}" for name in function.arguments)
    listed = ", ".join(f'"{name}"' for name in fortran_names(function))
    return f"""TAUT_API void taut_fortran_{function.name}({declared}, MPI_Fint* ierror) {{
  count_unserved(Wrapped::{function.name});
  call_fortran({{{listed}}}, {", ".join(function.arguments)}, ierror);
}}
"""


def generated(all_functions):
    return [f for f in all_functions if not f.by_hand]


def wrapper(function):
    if function.creates:
        return creation_wrapper(function)
    if function.sends:
        return send_wrapper(function)
    if function.by_template:
        return template_wrapper(function)
    return persistent_wrapper(function) if function.persistent else collective_wrapper(function)


def dropin(all_functions):
    wrappers = "\n".join([*(wrapper(f) for f in generated(all_functions)), *map(counting_wrapper, unserved())])
    return f"""// Made by generate.py.
#include <taut/taut.h>

#include "api/errors.hpp"
#include "api/args/pmpi_counts.hpp"
#include "api/state/comm_registry.hpp"
#include "dropin/isendrecv_calls.hpp"
#include "dropin/matched_recv_calls.hpp"
#include "dropin/nonblocking.hpp"
#include "dropin/persistent.hpp"
#include "dropin/send_calls.hpp"
#include "dropin/unserved.hpp"
#include "dropin/count_widening.hpp"

using namespace taut::api;
using namespace taut::dropin;

extern "C" {{

{wrappers}
}}  // extern "C"
"""


def from_fortran(p):
    """Returns the C argument for the Fortran address `p`."""
    handles = {"MPI_Datatype": "Type", "MPI_Op": "Op", "MPI_Comm": "Comm", "MPI_Info": "Info"}
    if p.type in ("const void*", "void*"):
        return f"c_buffer({p.name})"
    if p.of_types:
        return f"c_{p.name}.data()"
    if p.array:
        return p.name
    return f"PMPI_{handles[p.type]}_f2c(*{p.name})" if p.type in handles else f"*{p.name}"


def types_from_fortran(function, p):
    """Returns the definition of the C datatypes for the Fortran datatypes `p`. They last if MPI may read them after the call."""
    count = widening(function, p)[1].replace("sendbuf", "c_buffer(sendbuf)").replace("comm", "PMPI_Comm_f2c(*comm)")
    lasting = "true" if function.nonblocking or function.persistent else "false"
    return f"const TypesFrom c_{p.name}({p.name}, {count}, {lasting});"


def fortran_types(function):
    types = {"const void*": "void", "void*": "void", "const MPI_Aint": "MPI_Aint"}
    return ", ".join(f"{types.get(p.type, 'MPI_Fint')}* {p.name}" for p in function.parameters)


def fortran_creation(function, kind, spellings):
    """Returns the wrapper of a Fortran function that creates a communicator. It passes on the Fortran arguments, which may be
    logicals, the special addresses for missing weights, or an absent `ierror`."""
    listed = ", ".join(f'"{name}"' for name in spellings)
    return f"""TAUT_API void taut_{kind}_{function.name}({fortran_types(function)}, MPI_Fint* ierror) {{
  call_fortran({{{listed}}}, {function.arguments}, ierror);
  if (ierror == nullptr || *ierror == MPI_SUCCESS)
    connect_made(PMPI_Comm_f2c(*{function.parameters[0].name}), PMPI_Comm_f2c(*{function.parameters[-1].name}));
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
    kinds = {"flag": "LogicalAt", "index": "IndexAt", "array_of_indices": "IndicesAt"}
    if p.name in kinds:
        return kinds[p.name], p.name + (", outcount" if p.array else "")
    return None


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
{made}  tell(ierror, taut_dropin_{function.name}({", ".join(passed)}));
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
    beyond = "\n".join([*created, *(fortran_message(f, "f08") for f in served if without_buffer(f))])
    return f"""// Made by generate.py.
#include <taut/taut.h>

#include "dropin/count_widening.hpp"
#include "dropin/fortran.hpp"
#include "dropin/nonblocking.hpp"
#include "dropin/unserved.hpp"

using namespace taut::dropin;

extern "C" {{

{declared}
#ifdef OPEN_MPI
{wrappers}
#elif !defined(MPI_ABI)  // which knows no Fortran
{beyond}
#endif
}}  // extern "C"
"""


def names(all_functions):
    all_names = [f.name for f in [*all_functions, *unserved()]]
    listed = ", ".join(all_names)
    texts = ", ".join(f'"{name}"' for name in all_names)
    return f"""// Made by generate.py.
#pragma once

namespace taut::dropin {{

enum class Wrapped {{ {listed} }};
inline constexpr const char* wrapped_names[] = {{{texts}}};

}}  // namespace taut::dropin
"""


def main():
    what = {"preload": preload, "names": names, "dropin": dropin, "fortran": fortran}[sys.argv[1]]
    print(what(list(functions())), end="")


if __name__ == "__main__":
    main()
