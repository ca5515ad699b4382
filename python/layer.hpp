// Python binding of the layer for the MPI that mpi4py has loaded, and of calls of its functions.
#pragma once

#include <nanobind/nanobind.h>

namespace taut::python {

// Adds the class Layer, and call(), to the module.
void add_layer_class(nanobind::module_& module);

}  // namespace taut::python
