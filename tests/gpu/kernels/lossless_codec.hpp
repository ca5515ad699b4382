// The mpc kernels on the shim, and the frames of the CPU's codec.
#pragma once

#include <complex>

#include "compressor/codecs/mpc/prediction.hpp"
#include "compressor/frame/codec.hpp"
#include "compressor/gpu/mpc/calls.hpp"
#include "gpu/kernels/patterns.hpp"
#include "gpu/kernels/shim_launcher.hpp"

namespace taut {

// Returns values of a pattern. Types without patterns get the bits of floating-point numbers.
template <class T>
std::vector<T> lossless_values(Pattern pattern, std::size_t n) {
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, f16> ||
                std::is_same_v<T, bf16>) {
    return make<T>(pattern, n, 7);
  } else {
    std::vector<T> x(n);
    const auto from = make<float>(pattern, n * sizeof(T) / 4 + 1, 7);
    if (n > 0) std::memcpy(static_cast<void*>(x.data()), from.data(), n * sizeof(T));
    return x;
  }
}

// relative: the bound that mantissas are rounded to; 0: no rounding.
inline std::unique_ptr<Codec> lossless_cpu_codec(unsigned distance, double relative = 0,
                                                 PackedBits bits = PackedBits::rounded,
                                                 const Lags& lags = {}) {
  Coding coding{.predictor = {mpc::predictors[distance], lags}, .kernels = "scalar", .bits = bits};
  if (relative > 0) coding.bound = {Bound::Kind::pointwise, relative};
  return find_codec("mpc")->make(coding);
}

template <class T>
std::vector<std::byte> lossless_cpu_frame(const std::vector<T>& x, unsigned distance, double relative = 0,
                                          PackedBits bits = PackedBits::rounded, const Lags& lags = {}) {
  const auto codec = lossless_cpu_codec(distance, relative, bits, lags);
  std::vector<std::byte> frame(codec->max_bytes(dtype_of<T>, x.size(), 1));
  frame.resize(codec->encode({x.data(), x.size(), dtype_of<T>}, frame).bytes);
  return frame;
}

template <class T>
struct Parts {
  using Type = T;
};
template <class T>
struct Parts<std::complex<T>> {
  using Type = T;
};
// Type of the parts of a number.
template <class T>
using PartOf = typename Parts<T>::Type;

template <class T>
class LosslessGpuCodec {
 public:
  static constexpr DType type = dtype_of<T>;
  static constexpr std::size_t parts = components_of(type);
  using Word = mpc::cuda::WordOf<sizeof(T) / parts>;

  explicit LosslessGpuCodec(shim::Gpu& gpu) : launcher_(gpu) {}

  // `lags`: in values.
  std::vector<std::byte> encode(const std::vector<T>& x, unsigned distance, double relative = 0,
                                const Lags& lags = {});

  // Encodes codes of a grid, if there is one, with these lags.
  std::vector<std::byte> encode_on_grid(const std::vector<T>& x, const Lags& lags = {});

  // Decode a frame: x <- frame, or x += frame. Return the status that the kernels report.
  std::uint32_t decode(const std::vector<std::byte>& frame, std::vector<T>& x);
  std::uint32_t decode_add(const std::vector<std::byte>& frame, std::vector<T>& x);

  // Decodes also frames with lags.
  std::uint32_t decode_lagged(const std::vector<std::byte>& frame, std::vector<T>& x);

  const cuda::CallResult& result() const { return result_; }
  unsigned launches() const { return launcher_.launches(); }

 private:
  using Number = std::conditional_t<std::is_integral_v<T>, Word, PartOf<T>>;

  std::vector<std::byte> encode(const std::vector<T>& x, FrameHeader header, const mpc::Rounding& rounding,
                                const Lags& lags, bool seeks_grid);

  template <class Target>
  std::uint32_t decode_to(const std::vector<std::byte>& frame, std::vector<T>& x);

  // Calls decode(source, values) on memory of exactly the sizes of frame and values.
  template <class Decode>
  std::uint32_t on_room(const std::vector<std::byte>& frame, std::vector<T>& x, const Decode& decode);

  // Provides scratch memory as a pool does: it is used again without being cleared.
  mpc::cuda::CallMemory place(std::size_t words);

  ShimLauncher launcher_;
  std::unique_ptr<Room> scratch_;
  cuda::CallResult result_{};
};

}  // namespace taut
