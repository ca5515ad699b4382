// A shared library of the TAUT_ calls for one MPI.
#pragma once

#include <nanobind/nanobind.h>

namespace taut::python {

// Adds the class Library to the module.
void add_library_class(nanobind::module_& module);

}  // namespace taut::python
