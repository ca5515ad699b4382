// The mpc kernels on the shim, and what the CPU's codec writes.
#pragma once

#include "codecs/mpc/cuda/calls.hpp"
#include "core/codec.hpp"
#include "cuda/shim_launcher.hpp"

namespace taut {

inline std::unique_ptr<Codec> lossless_cpu_codec(unsigned distance) {
  constexpr const char* distances[] = {"d1", "d2", "d3", "d4", "d5", "d6", "d7", "d8"};
  CodecOptions options;
  options.predictor = distances[distance - 1];
  options.kernels = "scalar";
  return find_codec("mpc")->make(options);
}

template <class T>
std::vector<std::byte> lossless_cpu_frame(const std::vector<T>& x, unsigned distance) {
  const auto codec = lossless_cpu_codec(distance);
  std::vector<std::byte> frame(codec->max_bytes(dtype_of<T>, x.size(), 1));
  frame.resize(codec->encode({x.data(), x.size(), dtype_of<T>}, frame).bytes);
  return frame;
}

template <std::size_t Bytes>
using WordOf =
    std::conditional_t<Bytes == 1, std::uint8_t,
                       std::conditional_t<Bytes == 2, std::uint16_t,
                                          std::conditional_t<Bytes == 4, std::uint32_t, std::uint64_t>>>;

template <class T>
class LosslessGpuCodec {
 public:
  static constexpr DType type = dtype_of<T>;
  static constexpr std::size_t parts = components_of(type);
  using Word = WordOf<sizeof(T) / parts>;

  explicit LosslessGpuCodec(shim::Gpu& gpu) : launcher_(gpu) {}

  std::vector<std::byte> encode(const std::vector<T>& x, unsigned distance) {
    const std::size_t bytes = x.size() * sizeof(T);
    const Room room(frame_header_bytes + bytes), values(bytes);  // nothing may be touched behind them
    if (bytes > 0) std::memcpy(values.data(), x.data(), bytes);
    FrameHeader header{.codec = mpc::frame_id, .type = type, .count = x.size()};
    header.parameters[0] = static_cast<std::uint8_t>(distance);
    const std::size_t words = x.size() * parts;
    mpc::cuda::encode<Word>(launcher_, {reinterpret_cast<const Word*>(values.data()), words, header},
                            {room.data(), room.size()}, place(words));
    return {room.data(), room.data() + result_.bytes};
  }

  // A status as the kernels report it.
  std::uint32_t decode(const std::vector<std::byte>& frame, std::vector<T>& x) {
    const std::size_t bytes = x.size() * sizeof(T), words = x.size() * parts;
    const Room room(frame.size()), values(bytes);
    if (!frame.empty()) std::memcpy(room.data(), frame.data(), frame.size());
    mpc::cuda::decode<Word>(launcher_, cuda::source_of(room.data(), room.size()), type,
                            reinterpret_cast<Word*>(values.data()), words, place(words));
    if (bytes > 0) std::memcpy(static_cast<void*>(x.data()), values.data(), bytes);
    return result_.status;
  }

  const cuda::CallResult& result() const { return result_; }

 private:
  // Scratch as a pool gives it: once used, never cleared.
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
