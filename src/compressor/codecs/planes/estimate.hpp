// Estimate of the bytes that a message takes under each prediction, from a few of its pieces. The values a
// lag before a piece are looked up in the message; encoding the pieces alone could not use them.
#pragma once

#include "compressor/codecs/planes/general/general.hpp"
#include "compressor/codecs/planes/lags/lags.hpp"

namespace taut::planes {

// Sets bytes[k] to the bytes of the pieces' records under predictions[k], with a surcharge for slow
// predictions. Returns the bytes of the pieces' values. Returns 0 if the integers allow no estimate, because
// many need 64 bits or there are none.
template <class T>
std::size_t estimate(const T* values, std::size_t count, const Quantiser<T>& z, const KernelSet& kernels,
                     std::span<const Prediction> predictions, std::span<std::size_t> bytes) noexcept;

}  // namespace taut::planes
