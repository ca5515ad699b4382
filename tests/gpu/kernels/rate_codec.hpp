// The zfp kernels on the shim.
#pragma once

#include "compressor/gpu/zfp/calls.hpp"
#include "gpu/kernels/shim_launcher.hpp"

namespace taut {

template <class T>
class RateGpuCodec {
 public:
  explicit RateGpuCodec(shim::Gpu& gpu) : launcher_(gpu) {}

  std::vector<std::byte> encode(const std::vector<T>& x, double rate, const Dims& dims = {});

  // Returns the status that the kernels report.
  std::uint32_t decode(const std::vector<std::byte>& frame, std::vector<T>& x, const Dims& dims = {});

  const cuda::CallResult& result() const { return result_; }

 private:
  static zfp::cuda::Field field_of(const Dims& dims, std::size_t count) {
    return zfp::cuda::field_of(zfp::shape_of(dims, count));
  }

  // Provides scratch memory as a pool does: it is used again without being cleared.
  zfp::cuda::CallMemory place(const zfp::cuda::Field& field);

  ShimLauncher launcher_;
  std::unique_ptr<Room> scratch_;
  cuda::CallResult result_{};
};

}  // namespace taut
