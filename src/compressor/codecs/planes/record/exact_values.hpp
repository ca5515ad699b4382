// Values at positions that runs or layers cover: the correctly rounded sum of the integer's rest and all
// exact values.
#pragma once

#include "compressor/codecs/planes/general/general_kernels.hpp"
#include "compressor/codecs/planes/record/record.hpp"

namespace taut::planes {

// Replaces the values at such positions. `q` are the integers of the record; on entry `values` holds their
// products with the step.
template <class T, class Int>
void put_exact_values(const Record<T>& record, const Int* q, double step, const GeneralKernels& kernels,
                      T* values);

}  // namespace taut::planes
