// The HDF5 library that called the filter. A process may have several, for example those of the wheels of
// h5py and netCDF4, and their names are not visible to a plugin. The address to which the filter returns
// tells which one it is.
#pragma once

#include <string>

#include "compressor/file/failure.hpp"
#include "compressor/hdf5/abi.hpp"
#include "compressor/values/dtype.hpp"

namespace taut::hdf5 {

class Library {
 public:
  // `caller` is an address in the library's code.
  explicit Library(const void* caller) noexcept;
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library();

  // Returns the library's function of this name; throws Failure if it has none, as where HDF5 is linked
  // statically.
  template <class Function>
  Function function(const char* name) const {
    void* const found = find(name);
    if (found == nullptr)
      cli::fail(std::string("this program does not export ") + name +
                ", which the filter needs; link the program with a shared libhdf5");
    return reinterpret_cast<Function>(found);
  }

  // Puts a message on HDF5's error stack.
  void report(const char* message) const noexcept;

 private:
  void* find(const char* name) const noexcept;

  void* handle_;
};

// Returns the type of a dataset's values. Complex numbers are HDF5's own (since HDF5 2.0), or h5py's
// compounds of two floats. Throws Failure if values of the type are not coded.
DType value_type(const Library& hdf5, Id type);

}  // namespace taut::hdf5
