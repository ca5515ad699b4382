// Errors of the library as Python exceptions, for the sources of taut._core.
#pragma once

#define TAUT_NO_MPI
#include <taut/taut.h>

#include <nanobind/nanobind.h>

#include <cstdint>
#include <new>
#include <string>

#include "compressor/base/status.hpp"
#include "compressor/file/failure.hpp"

namespace nb = nanobind;

namespace taut::python {

using Address = std::uintptr_t;  // of memory that the Python part keeps alive

[[noreturn]] inline void raise(int status, const std::string& message) {
  const nb::object error = nb::module_::import_("taut._errors").attr("error_of")(status, message);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
  throw nb::python_error();
}

inline void check(int status) {
  if (status == TAUT_SUCCESS) return;
  const std::string why = TAUT_Last_error();
  raise(status, why.empty() ? TAUT_Status_string(status) : why);
}

// Runs `action` without the GIL; C++ exceptions become Python exceptions.
template <class Action>
auto unlocked(Action action) {
  int status = TAUT_SUCCESS;
  std::string message;
  try {
    nb::gil_scoped_release released;
    return action();
  } catch (const Error& error) {
    status = static_cast<int>(error.status());
    message = error.what();
  } catch (const file::Failure& failure) {
    status = TAUT_ERR_ARGUMENT;
    message = failure.what();
  } catch (const std::bad_alloc&) {
    status = TAUT_ERR_MEMORY;
    message = TAUT_Status_string(status);
  }
  raise(status, message);
}

}  // namespace taut::python
