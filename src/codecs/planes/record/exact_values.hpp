// Where runs or layers cover a place: the correctly rounded sum of the integer's rest and all exact values.
#pragma once

#include "codecs/planes/general/general_kernels.hpp"
#include "codecs/planes/record/record.hpp"

namespace taut::planes {

// Replaces the values at such places. `q` are the integers of the record, whose product with the step
// `values` holds already.
template <class T, class Int>
void put_exact_values(const Record<T>& record, const Int* q, double step, const GeneralKernels& kernels,
                      T* values);

}  // namespace taut::planes
