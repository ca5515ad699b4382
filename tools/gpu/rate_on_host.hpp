// Runs the source text of the zfp kernels on the host (tests/gpu/kernels/shim.hpp): a reference that does not
// need libzfp. The tests prove that the kernels write and read libzfp's streams.
#pragma once

#include <cstddef>
#include <vector>

#include "compressor/values/dims.hpp"

namespace taut::gpu {

template <class T>
std::vector<std::byte> rate_frame_on_host(const std::vector<T>& x, double rate, const Dims& dims);
template <class T>
std::vector<T> rate_values_on_host(const std::vector<std::byte>& frame, std::size_t count, const Dims& dims);

}  // namespace taut::gpu
