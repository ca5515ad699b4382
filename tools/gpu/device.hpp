// Common parts of the checks on a GPU: memory of host and device, and the CPU's codec as the reference.
#pragma once

#include <cuda_runtime.h>
#include <taut/taut_cuda.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "compressor/codecs/planes/typed_codec.hpp"
#include "compressor/frame/codec.hpp"
#include "compressor/frame/coding.hpp"

namespace taut::codecs {
extern const CodecInfo planes;
}

namespace taut::gpu {

inline void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::printf("{\"check\": \"cuda\", \"ok\": false, \"error\": \"%s\"}\n", cudaGetErrorString(error));
  std::exit(1);
}

// Memory of the device. Its contents are in place for every stream when a member function returns.
class Device {
 public:
  explicit Device(std::size_t bytes) : bytes_(bytes) {
    check(cudaMalloc(&at_, bytes + 16));
    check(cudaMemset(at_, 0xC3, bytes + 16));
    wait();
  }
  Device(const void* from, std::size_t bytes) : Device(bytes) { write(from, bytes); }
  Device(const Device&) = delete;
  ~Device() { cudaFree(at_); }
  void* at() const { return at_; }
  std::size_t bytes() const { return bytes_; }
  void write(const void* from, std::size_t bytes) const {
    check(cudaMemcpy(at_, from, bytes, cudaMemcpyDefault));
    wait();
  }
  std::vector<std::byte> read(std::size_t bytes) const {
    std::vector<std::byte> to(bytes);
    check(cudaMemcpy(to.data(), at_, bytes, cudaMemcpyDefault));
    return to;
  }
  bool holds(const void* bytes, std::size_t size) const {
    return size == 0 || std::memcmp(read(size).data(), bytes, size) == 0;
  }

 private:
  // A memset, and a copy of pageable memory, may go on after their calls, and streams that do not block do
  // not wait for them.
  static void wait() { check(cudaDeviceSynchronize()); }

  void* at_ = nullptr;
  std::size_t bytes_;
};

// Pinned memory of the host, which the device may write.
class Pinned {
 public:
  explicit Pinned(std::size_t bytes) { check(cudaHostAlloc(&at_, bytes, cudaHostAllocMapped)); }
  Pinned(const Pinned&) = delete;
  ~Pinned() { cudaFreeHost(at_); }
  std::byte* at() const { return static_cast<std::byte*>(at_); }

 private:
  void* at_ = nullptr;
};

struct Result {
  Pinned memory{sizeof(TAUT_Cuda_result)};
  TAUT_Cuda_result* at = reinterpret_cast<TAUT_Cuda_result*>(memory.at());
};

inline constexpr const char* predictors[] = {"none", "delta", "pairs", "second"};

// Returns the text of a planes coding.
inline std::string coding_text(double bound, int predictor) {
  return text_of(Coding{.codec = &codecs::planes, .bound = bound, .predictor = predictors[predictor]});
}

inline std::unique_ptr<Codec> cpu_codec(double bound, int predictor) {
  return codecs::planes.make({.bound = bound, .predictor = predictors[predictor]});
}

template <class T>
std::vector<std::byte> cpu_encode(const Codec& codec, const std::vector<T>& x) {
  std::vector<std::byte> frame(codec.max_bytes(dtype_of<T>, x.size()));
  frame.resize(codec.encode({{x.data(), x.size(), dtype_of<T>}}, frame).bytes);
  return frame;
}

}  // namespace taut::gpu
