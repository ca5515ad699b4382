#include "rate_on_host.hpp"

#include "../../tests/gpu/kernels/rate_codec.hpp"

namespace taut::gpu {

template <class T>
std::vector<std::byte> rate_frame_on_host(const std::vector<T>& x, double rate, const Dims& dims) {
  shim::Gpu gpu(1);
  return RateGpuCodec<T>(gpu).encode(x, rate, dims);
}

template <class T>
std::vector<T> rate_values_on_host(const std::vector<std::byte>& frame, std::size_t count, const Dims& dims) {
  shim::Gpu gpu(2);
  std::vector<T> x(count);
  RateGpuCodec<T>(gpu).decode(frame, x, dims);
  return x;
}

template std::vector<std::byte> rate_frame_on_host(const std::vector<float>&, double, const Dims&);
template std::vector<std::byte> rate_frame_on_host(const std::vector<double>&, double, const Dims&);
template std::vector<float> rate_values_on_host(const std::vector<std::byte>&, std::size_t, const Dims&);
template std::vector<double> rate_values_on_host(const std::vector<std::byte>&, std::size_t, const Dims&);

}  // namespace taut::gpu
