// Lines of Python programs as call sites, by the interpreter in this process. Taut is linked to no Python.
#pragma once

#include <string>
#include <string_view>

namespace taut {

struct PythonLine {
  std::string file, function;
  int line = 0;
};

// Returns the line of Python that this thread executes, outside of the files in `package`, the folder of the
// extension module that made the call. The same line has the same address for the life of the process. Null
// if no interpreter runs on this thread, or too many lines are known.
const PythonLine* current_python_line(std::string_view package) noexcept;

// Returns the line that an address from current_python_line() stands for; null for any other address.
const PythonLine* python_line_at(const void* site) noexcept;

}  // namespace taut
