// The blocks kernels on the shim, and the frames of the CPU's codec.
#pragma once

#include <memory>
#include <vector>

#include "compressor/frame/codec.hpp"
#include "compressor/gpu/blocks/calls.hpp"
#include "gpu/kernels/shim_launcher.hpp"

namespace taut {

inline std::unique_ptr<Codec> blocks_cpu_codec(unsigned bits) {
  return find_codec("blocks")->make({.bound = {Bound::Kind::rate, double(bits)}, .kernels = "scalar"});
}

template <class T>
std::vector<std::byte> blocks_cpu_frame(unsigned bits, const std::vector<T>& x) {
  const auto codec = blocks_cpu_codec(bits);
  std::vector<std::byte> frame(codec->max_bytes(dtype_of<T>, x.size(), 1));
  frame.resize(codec->encode({{x.data(), x.size(), dtype_of<T>}}, frame).bytes);
  return frame;
}

class BlocksGpuCodec {
 public:
  explicit BlocksGpuCodec(shim::Gpu& gpu) : launcher_(gpu) {
    reinterpret_cast<cuda::ScratchHead*>(scratch_.data())->crc = cuda::header_crc_table();
  }

  // `skipped`: bytes in front of the values, by which they are misaligned.
  template <class T>
  std::vector<std::byte> encode(unsigned bits, const std::vector<T>& x, std::size_t skipped = 0) {
    const std::size_t bytes = sizeof(T) * x.size();
    const Room room(frame_header_bytes + blocks::payload_bytes(x.size(), bits)), values(bytes + skipped);
    if (bytes > 0) std::memcpy(values.data() + skipped, static_cast<const void*>(x.data()), bytes);
    const FrameHeader header{.codec = blocks::frame_id,
                             .type = dtype_of<T>,
                             .count = x.size(),
                             .bound = {Bound::Kind::rate, double(bits)}};
    blocks::cuda::encode(launcher_, reinterpret_cast<const T*>(values.data() + skipped), header, room.data(),
                         memory());
    return {room.data(), room.data() + result_.bytes};
  }

  // Decode a frame: x <- frame, or x += frame. Return the status that the kernels report.
  template <class T>
  std::uint32_t decode(const std::vector<std::byte>& frame, std::vector<T>& x, std::size_t skipped = 0) {
    return decode_to<blocks::cuda::Replace<T>>(frame, x, skipped);
  }
  template <class T>
  std::uint32_t decode_add(const std::vector<std::byte>& frame, std::vector<T>& x, std::size_t skipped = 0) {
    return decode_to<blocks::cuda::Add<T>>(frame, x, skipped);
  }

  const cuda::CallResult& result() const { return result_; }
  unsigned launches() const { return launcher_.launches(); }

 private:
  template <class Target, class T>
  std::uint32_t decode_to(const std::vector<std::byte>& frame, std::vector<T>& x, std::size_t skipped) {
    const std::size_t bytes = x.size() * sizeof(T);
    const Room room(frame.size()), values(bytes + skipped);
    if (!frame.empty()) std::memcpy(room.data(), frame.data(), frame.size());
    if (bytes > 0) std::memcpy(values.data() + skipped, static_cast<const void*>(x.data()), bytes);
    blocks::cuda::decode<Target>(launcher_, cuda::source_of(room.data(), room.size()),
                                 reinterpret_cast<T*>(values.data() + skipped), x.size(), memory());
    if (bytes > 0) std::memcpy(static_cast<void*>(x.data()), values.data() + skipped, bytes);
    return result_.status;
  }

  // The scratch memory is used again without being cleared, as that of a pool.
  blocks::cuda::CallMemory memory() {
    result_ = {0xDEAD, 0xDEAD, 0};
    return {reinterpret_cast<cuda::ScratchHead*>(scratch_.data()), &result_};
  }

  ShimLauncher launcher_;
  Room scratch_{sizeof(cuda::ScratchHead), 0};
  cuda::CallResult result_{};
};

}  // namespace taut
