// Plans of collective calls that Python carries out by itself, over other transports than MPI: the frames
// that a policy asks for, and sums of frames.
#pragma once

#include <nanobind/nanobind.h>

namespace taut::python {

void add_plan_functions(nanobind::module_& module);

}  // namespace taut::python
