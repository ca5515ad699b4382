// The exponents kernels on the shim, and the frames of the CPU's codec.
#pragma once

#include <memory>
#include <vector>

#include "compressor/frame/codec.hpp"
#include "compressor/gpu/exponents/calls.hpp"
#include "gpu/kernels/shim_launcher.hpp"

namespace taut {

using Words16 = std::vector<std::uint16_t>;

inline std::unique_ptr<Codec> exponents_cpu_codec() {
  return find_codec("exponents")->make({.kernels = "scalar"});
}

inline std::vector<std::byte> exponents_cpu_frame(DType type, const Words16& x) {
  const auto codec = exponents_cpu_codec();
  std::vector<std::byte> frame(codec->max_bytes(type, x.size(), 1));
  frame.resize(codec->encode({{x.data(), x.size(), type}}, frame).bytes);
  return frame;
}

// Values of a kind: few or many exponents, zeros, denormal numbers, NaN with payloads, any bits.
enum class Halves {
  normal,
  wide,
  zeros,
  minus_zeros,
  constant,
  zero,
  every_exponent,
  rare,
  hidden_zeros,
  bits
};
inline constexpr Halves all_halves[] = {
    Halves::normal, Halves::wide,           Halves::zeros, Halves::minus_zeros,  Halves::constant,
    Halves::zero,   Halves::every_exponent, Halves::rare,  Halves::hidden_zeros, Halves::bits};
Words16 halves_of(Halves kind, DType type, std::size_t n, unsigned seed);

class ExponentsGpuCodec {
 public:
  explicit ExponentsGpuCodec(shim::Gpu& gpu) : launcher_(gpu) {}

  // `skipped`: bytes in front of the values, by which they are misaligned.
  std::vector<std::byte> encode(DType type, const Words16& x, std::size_t skipped = 0);

  // Decode a frame: x <- frame, x += frame, or sums += frame in float32. Return the status that the kernels
  // report.
  std::uint32_t decode(DType type, const std::vector<std::byte>& frame, Words16& x, std::size_t skipped = 0);
  std::uint32_t decode_add(DType type, const std::vector<std::byte>& frame, Words16& x);
  std::uint32_t decode_add(DType type, const std::vector<std::byte>& frame, std::vector<float>& sums);

  const cuda::CallResult& result() const { return result_; }

 private:
  template <class Target>
  std::uint32_t decode_to(const std::vector<std::byte>& frame, typename Target::Value* x, std::size_t n,
                          std::size_t skipped);
  // Provides scratch memory as a pool does: it is used again without being cleared.
  exponents::cuda::CallMemory place(std::size_t count);

  ShimLauncher launcher_;
  std::unique_ptr<Room> scratch_, books_;
  cuda::CallResult result_{};
};

}  // namespace taut
