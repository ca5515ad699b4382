// Operations on uncompressed values, whose times are compared with those of frames.
#include "check.hpp"

namespace {

using namespace taut;
using namespace taut::gpu;

constexpr unsigned threads = 256;

// Computes a += b, 16 bytes a thread: the cost of any sum of two arrays, including PyTorch's.
__global__ void __launch_bounds__(threads) add(float4* a, const float4* b, std::size_t quads) {
  const std::size_t i = std::size_t{blockIdx.x} * threads + threadIdx.x;
  if (i >= quads) return;
  float4 x = a[i];
  const float4 y = b[i];
  x.x += y.x;
  x.y += y.y;
  x.z += y.z;
  x.w += y.w;
  a[i] = x;
}

}  // namespace

double plain_kernels(std::size_t n, cudaStream_t stream) {
  const std::size_t bytes = n * sizeof(float), quads = n / 4;
  const std::vector<float> zeros(n);
  // Two sets of buffers alternate, as in the other benchmarks.
  const Device v0(zeros.data(), bytes), v1(zeros.data(), bytes), to(zeros.data(), bytes);
  const auto from = [&](int i) { return (i % 2 == 0 ? v0 : v1).at(); };
  const Timing copy = timed(stream, [&](int i) {
    check(cudaMemcpyAsync(to.at(), from(i), bytes, cudaMemcpyDeviceToDevice, stream));
  });
  const double copied = static_cast<double>(bytes) / copy.median / 1e9;
  report("copy", bytes, 1, copy, 0);
  report("add", bytes, 1, timed(stream, [&](int i) {
           add<<<static_cast<unsigned>((quads + threads - 1) / threads), threads, 0, stream>>>(
               static_cast<float4*>(to.at()), static_cast<const float4*>(from(i)), quads);
           check(cudaGetLastError());
         }), copied);
  return copied;
}
