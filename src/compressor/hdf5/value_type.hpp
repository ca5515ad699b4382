// Value types of HDF5 datasets.
#pragma once

#include "compressor/hdf5/library.hpp"
#include "compressor/values/dtype.hpp"

namespace taut::hdf5 {

// Returns the type of a dataset's values. Complex numbers are HDF5's own (since HDF5 2.0), or h5py's
// compounds of two floats. Throws Failure if values of the type are not coded.
DType value_type(const Library& hdf5, Id type);

}  // namespace taut::hdf5
