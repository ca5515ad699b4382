// The zfp kernels' text run by the host (tests/gpu/kernels/shim.hpp), which the tests prove to write and read
// libzfp's streams: a reference that needs no libzfp.
#pragma once

#include <cstddef>
#include <vector>

#include "core/dims.hpp"

namespace taut::gpu {

template <class T>
std::vector<std::byte> rate_frame_on_host(const std::vector<T>& x, double rate, const Dims& dims);
template <class T>
std::vector<T> rate_values_on_host(const std::vector<std::byte>& frame, std::size_t count, const Dims& dims);

}  // namespace taut::gpu
