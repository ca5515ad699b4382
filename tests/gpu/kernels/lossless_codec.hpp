// The mpc kernels on the shim, and the frames of the CPU's codec.
#pragma once

#include <complex>

#include "core/codec.hpp"
#include "gpu/kernels/patterns.hpp"
#include "gpu/kernels/shim_launcher.hpp"
#include "gpu/mpc/calls.hpp"

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
                                                 PackedBits bits = PackedBits::rounded) {
  constexpr const char* distances[] = {"d1", "d2", "d3", "d4", "d5", "d6", "d7", "d8"};
  CodecOptions options;
  if (relative > 0) options.bound = {Bound::Kind::pointwise, relative};
  options.bits = bits;
  options.predictor = distances[distance - 1];
  options.kernels = "scalar";
  return find_codec("mpc")->make(options);
}

template <class T>
std::vector<std::byte> lossless_cpu_frame(const std::vector<T>& x, unsigned distance, double relative = 0,
                                          PackedBits bits = PackedBits::rounded) {
  const auto codec = lossless_cpu_codec(distance, relative, bits);
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

  std::vector<std::byte> encode(const std::vector<T>& x, unsigned distance, double relative = 0) {
    const std::size_t bytes = x.size() * sizeof(T);
    const Room room(frame_header_bytes + bytes), values(bytes);  // any access beyond their ends is detected
    if (bytes > 0) std::memcpy(values.data(), x.data(), bytes);
    FrameHeader header{.codec = mpc::frame_id, .type = type, .count = x.size()};
    header.parameters[0] = static_cast<std::uint8_t>(distance);
    mpc::Rounding rounding;
    if (relative > 0) {
      header.bound = {Bound::Kind::pointwise, relative};
      rounding = mpc::Rounding::within(relative, component_of(type));
    }
    const std::size_t words = x.size() * parts;
    mpc::cuda::encode<Word>(launcher_,
                            {reinterpret_cast<const Word*>(values.data()), words, header, rounding},
                            {room.data(), room.size()}, place(words));
    return {room.data(), room.data() + result_.bytes};
  }

  // Decode a frame: x <- frame, or x += frame. Return the status that the kernels report.
  std::uint32_t decode(const std::vector<std::byte>& frame, std::vector<T>& x) {
    return decode_to<mpc::cuda::Replace<Word>>(frame, x);
  }
  std::uint32_t decode_add(const std::vector<std::byte>& frame, std::vector<T>& x) {
    return decode_to<mpc::cuda::Add<Number>>(frame, x);
  }

  const cuda::CallResult& result() const { return result_; }
  unsigned launches() const { return launcher_.launches(); }

 private:
  using Number = std::conditional_t<std::is_integral_v<T>, Word, PartOf<T>>;

  template <class Target>
  std::uint32_t decode_to(const std::vector<std::byte>& frame, std::vector<T>& x) {
    const std::size_t bytes = x.size() * sizeof(T), words = x.size() * parts;
    const Room room(frame.size()), values(bytes);
    if (!frame.empty()) std::memcpy(room.data(), frame.data(), frame.size());
    if (bytes > 0) std::memcpy(values.data(), x.data(), bytes);
    mpc::cuda::decode<Target>(launcher_, cuda::source_of(room.data(), room.size()), type,
                              reinterpret_cast<Word*>(values.data()), words, place(words));
    if (bytes > 0) std::memcpy(static_cast<void*>(x.data()), values.data(), bytes);
    return result_.status;
  }

  // Provides scratch memory as a pool does: it is used again without being cleared.
  mpc::cuda::CallPlace place(std::size_t words) {
    const std::size_t bytes = mpc::cuda::scratch_bytes<Word>(words);
    if (!scratch_ || scratch_->size() < bytes) {
      scratch_ = std::make_unique<Room>(bytes, 0);
      reinterpret_cast<mpc::cuda::Scratch*>(scratch_->data())->crc = cuda::header_crc_table();
    }
    result_ = {0xDEAD, 0xDEAD, 0};
    return {reinterpret_cast<mpc::cuda::Scratch*>(scratch_->data()), &result_};
  }

  ShimLauncher launcher_;
  std::unique_ptr<Room> scratch_;
  cuda::CallResult result_{};
};

}  // namespace taut
