// What predictions would make of a message: by a few pieces of it, whose neighbours at the distance of the
// lags are looked up, as encoding the pieces could not.
#pragma once

#include "codecs/planes/general/general.hpp"
#include "codecs/planes/lags/lags.hpp"

namespace taut::planes {

// bytes[k]: of the pieces' records under predictions[k]; a little more of slow ones. Returns the bytes of the
// pieces' values; 0: the integers do not tell, because many are of 64 bits or there are none.
template <class T>
std::size_t estimate(const T* values, std::size_t count, const Quantiser<T>& z, const KernelSet& kernels,
                     std::span<const Prediction> predictions, std::span<std::size_t> bytes) noexcept;

}  // namespace taut::planes
