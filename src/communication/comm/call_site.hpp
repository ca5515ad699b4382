// Call sites: places in the program, as addresses and as text.
#pragma once

#include <string>
#include <string_view>

namespace taut {

// Returns the place in the program from which a call comes, for the return address of that call. In C that
// is the return address itself. Calls by a library that only hands them on (MPI's Fortran interface, libffi,
// Taut) come from the nearest frame outside of such libraries. Calls by a Python extension come from a line
// of Python: the result then stands for that line, and is the same for all calls of the line. Takes about a
// microsecond outside of C; needs the frames of the call on the stack of this thread.
const void* program_site(const void* return_address) noexcept;

// Returns the function that contains the place, and the offset: "solve+0x1f3". If the program exports no
// such name, returns the file and the offset in it, for addr2line: "stack_images+0x41f3". If neither is
// known, returns the address. Lines of Python read "solver.py:41". "" for null.
std::string call_site_name(const void* site);

// Returns true if the place is the call site that a rule names: a module ("libsolver.so", "program",
// "solver.py"), a function that the program exports or that Python runs ("solve"), or a text of
// call_site_name(). "": any place.
bool is_call_site(const void* site, std::string_view wanted);

// Line of a Python program as a call site, by the interpreter in this process. Taut is linked to no Python.
struct PythonLine {
  std::string file, function;
  int line = 0;
};

// Returns the line of Python that this thread executes, outside of the files in `package`, the folder of the
// extension module that made the call. The same line has the same address for the life of the process. Null
// if no interpreter runs on this thread, or too many lines are known.
const PythonLine* current_python_line(std::string_view package) noexcept;

// Returns true if an interpreter of Python runs in this process.
bool python_runs() noexcept;

// Returns the line that an address from current_python_line() stands for; null for any other address.
const PythonLine* python_line_at(const void* site) noexcept;

}  // namespace taut
