#!/usr/bin/env python3
"""Writes the wrappers of the drop-in from the prototypes of MPI's functions.

generate.py preload    C: the functions that C and Fortran programs call, for libtaut_preload.so, with any MPI
generate.py names      C++: the list of functions
generate.py dropin     C++: the functions of a layer that serve these calls as TAUT_ calls are served, for one MPI
generate.py fortran    C++: the functions of a layer that serve Fortran: all of Open MPI's, whose Fortran functions call no
                       MPI_ function of C, and those of other MPIs that call none

functions.py lists the wrapped functions.
"""

import re
import sys
from dataclasses import dataclass

from fortran_wrappers import fortran
from functions import INFO, REQUEST, SENDRECV, fortran_names, functions, nccl_functions, unserved, widening, without_buffer


def beyond_c(function):
    """True if MPICH's module mpi_f08 does not call the C function: functions without a buffer."""
    begins_or_ends = function.name in ("MPI_Init", "MPI_Init_thread", "MPI_Finalize")
    return function.creates or function.of_persistent or begins_or_ends or without_buffer(function)


COUNTED = 4  # asked for by TAUT_REPORT or TAUT_SUMMARY, as in preload.h
OF_NCCL = 8  # a function of NCCL, as in preload.h


# Registers in which a variadic function may get arguments, on x86-64 and AArch64. A jump to the next function passes them
# on, and leaves further arguments where they are on the stack.
WORDS = [f"word{i}" for i in range(1, 8)]
DOUBLES = [f"double{i}" for i in range(8)]


def in_registers(function):
    """Returns the names of the arguments of a function, and of what stands for its variadic arguments."""
    fixed = [p.name for p in function.parameters if p.type != "..."]
    return fixed + (WORDS + DOUBLES) * (len(fixed) < len(function.parameters))


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

    @property
    def definition(self):
        kinds = {"commId": "struct taut_nccl_id"} | dict.fromkeys(DOUBLES, "double")
        words = [kinds.get(name, "taut_word") for name in self.arguments]
        declared = ", ".join(f"{word} {name}" for word, name in zip(words, self.arguments))
        types = "taut_word, ..." if self.arguments[-1:] == DOUBLES[-1:] else ", ".join(words)
        call = f"(({self.type} (*)({types or 'void'}))taut_target(%d))({', '.join(self.arguments)});"
        result = "return " if self.type != "void" else ""
        return f"WRAPPER {self.type} {self.symbol}({declared or 'void'}) {{\n  {result}{call}\n}}\n"


def entries(all_functions):
    for f in all_functions:
        yield Entry(f.name, f"taut_dropin_{f.name}", "int", in_registers(f), f.asked_by)
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


def nccl_entries():
    for name, arguments in nccl_functions():
        yield Entry(name, f"taut_dropin_{name}", "int", arguments, OF_NCCL)


def preload(all_functions):
    listed = [*entries(all_functions), *counted_entries(), *nccl_entries()]
    names = "".join(f'    {{"{e.symbol}", "{e.served}", {e.asked_by}}},\n' for e in listed)
    wrappers = "\n".join(e.definition % i for i, e in enumerate(listed))
    return f"""/* Made by generate.py. */
#include "communication/preload/preload.h"

#define WRAPPER __attribute__((visibility("default")))

const struct taut_wrapped taut_wrapped[] = {{
{names}}};
_Static_assert(sizeof taut_wrapped / sizeof *taut_wrapped <= taut_most_wrapped, "taut_most_wrapped");

{wrappers}"""


SITE = "  const void* const site = __builtin_return_address(0);\n"


def made_call(function, argument):
    """Returns the expression of the MpiCall of a collective. `argument` returns the C++ argument for a parameter."""
    passed = [argument(p) for p in function.parameters if p not in (INFO, REQUEST)]
    return f"calls::{function.collective}({', '.join([*passed, 'site'])})"


def blocking_body(function, plain=False):
    wide = ""
    for p in (p for p in function.parameters if p.widened):
        number, count = widening(function, p)
        wide += f"  const Widened<{number}> wide_{p.name}({p.name}, {count});\n"
    call = made_call(function, lambda p: f"wide_{p.name}.data()" if p.widened else p.name)
    body = f"{wide}  return serve({f'as_plain({call})' if plain else call});"
    return f"return guard(comm, [&] {{\n{body}\n  }});" if wide else body


def nonblocking_argument(function, p):
    if p.of_types:  # MPI lets the program change them no sooner than Taut needs them
        return p.name
    number, count = widening(function, p)
    return f"copies.add<{number}>({p.name}, {count})" if p.array else p.name


def making(function):
    """Returns the definition of `make`, the function that returns the arguments of the call."""
    made = made_call(function, lambda p: nonblocking_argument(function, p))
    copies = "ArrayCopies& copies" if "copies." in made else "ArrayCopies&"
    return f"  const auto make = [&]({copies}) {{ return {made}; }};\n"


def nonblocking_body(_, plain=False):
    made = "[&](ArrayCopies& copies) { return as_plain(make(copies)); }" if plain else "make"
    return f"return launch(comm, request, {made});"


def collective_wrapper(function):
    types = ", ".join(p.declaration for p in function.parameters)
    intercepts, body, make, count = "intercepts", blocking_body, "", ""
    if function.nonblocking:
        intercepts, body, make = "intercepts_nonblocking", nonblocking_body, making(function)
        count = "count_left(comm, make);\n    "
    # An MPI before 4 has no large-count functions: TAUT_ calls then serve them as plain MPI.
    lacking = f"if (next == nullptr) {body(function, plain=True)}\n    " if function.large else ""
    return f"""TAUT_API int taut_dropin_{function.name}({function.declaration}) {{
{SITE}  const auto next = next_as<int (*)({types})>(Wrapped::{function.name});
{make}  if (!{intercepts}(comm)) {{
    {count}{lacking}return next({function.arguments});
  }}
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
{SITE}  const auto next = next_as<int (*)({types})>(Wrapped::{function.name});
{making(function)}  int code = MPI_SUCCESS;
  if (create_persistent(comm, info, request, code, make)) return code;
  if (next != nullptr) {{
    code = next({function.arguments});
    if (code == MPI_SUCCESS) count_starts_of(comm, *request, make);
    return code;
  }}
  {lacking}
}}
"""


def send_wrapper(function):
    """Returns the wrapper of a send: sends a frame, or makes the plain call, with ints if the MPI lacks large counts."""
    name, persistent = re.fullmatch(r"MPI_(.*?)(_init)?(_c)?", function.name).group(1, 2)
    started = f"I{name.lower()}" if persistent else name
    message = "{buf, count, datatype, dest, tag, comm, __builtin_return_address(0)}"
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
    site = SITE if SENDRECV.fullmatch(function.name) else ""
    more = ", site" if site else ""
    body = f"return {name.lower()}(Wrapped::{function.name}, {function.arguments}{more});"
    if function.large:
        counts = [p.name for p in function.parameters if p.type == "MPI_Count"]
        passed = ", ".join(f"n_{p.name}" if p.name in counts else p.name for p in function.parameters)
        comm = "comm" if any(p.name == "comm" for p in function.parameters) else "MPI_COMM_WORLD"
        body = f"""const auto one = [&](Wrapped function, {", ".join(f"auto n_{count}" for count in counts)}) {{
    return {name.lower()}(function, {passed}{more});
  }};
  return by_large(Wrapped::{function.name}, Wrapped::MPI_{name}, {comm}, one, {", ".join(counts)});"""
    return f"""TAUT_API int taut_dropin_{function.name}({function.declaration}) {{
{site}  {body}
}}
"""


def creation_wrapper(function):
    types = ", ".join(p.declaration for p in function.parameters)
    return f"""TAUT_API int taut_dropin_{function.name}({function.declaration}) {{
  const auto next = next_as<int (*)({types})>(Wrapped::{function.name});
  const int code = next({function.arguments});
  if (code == MPI_SUCCESS) note_creation({function.parameters[0].name}, *{function.parameters[-1].name});
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


def control_wrapper(function):
    """Returns the wrapper of MPI_Pcontrol, which passes on all arguments."""
    arguments = in_registers(function)
    declared = ", ".join(f"{'double' if name in DOUBLES else 'std::uint64_t'} {name}" for name in arguments)
    return f"""TAUT_API int taut_dropin_{function.name}({declared}) {{
  control(static_cast<int>(level));
  return next_as<int (*)(std::uint64_t, ...)>(Wrapped::{function.name})({", ".join(arguments)});
}}
"""


def generated(all_functions):
    return [f for f in all_functions if not f.by_hand or f.name == "MPI_Pcontrol"]


def wrapper(function):
    if function.name == "MPI_Pcontrol":
        return control_wrapper(function)
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

#include "communication/mpi/errors.hpp"
#include "communication/mpi/pmpi_counts.hpp"
#include "communication/api/state/comm_registry.hpp"
#include "communication/dropin/init_finalize.hpp"
#include "collective_calls.hpp"
#include "communication/dropin/nonblocking.hpp"
#include "communication/dropin/counts.hpp"
#include "communication/dropin/persistent.hpp"
#include "communication/dropin/recv_calls.hpp"
#include "communication/dropin/send_calls.hpp"
#include "communication/dropin/large_counts.hpp"

using namespace taut::api;
using namespace taut::dropin;

extern "C" {{

{wrappers}
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
