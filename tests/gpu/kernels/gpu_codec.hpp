// The planes kernels, run on the shim, behind an interface like that of the codec.
#pragma once

#include "compressor/codecs/planes/typed_codec.hpp"
#include "compressor/gpu/planes/lagged_calls.hpp"
#include "compressor/gpu/planes/referenced_calls.hpp"
#include "gpu/kernels/shim_launcher.hpp"

namespace taut {

template <class T>
class GpuCodec {
 public:
  GpuCodec(shim::Gpu& gpu, const Bound& bound, planes::Predictor predictor,
           PackedBits bits = PackedBits::rounded)
      : launcher_(gpu), bound_(bound), z_(planes::Quantiser<T>::make(bound, predictor, bits)) {}

  std::vector<std::byte> encode(const std::vector<T>& x);

  std::vector<std::byte> encode_lagged(const std::vector<T>& x, const planes::Lags& wanted);

  // Returns the status that the kernels report.
  std::uint32_t decode(const std::vector<std::byte>& frame, std::vector<T>& x, bool add = false);

  std::uint32_t decode_lagged(const std::vector<std::byte>& frame, std::vector<T>& x, bool add = false);

  // `references`: at most two arrays as long as x, the newest first. The predictor is that of the codec.
  std::vector<std::byte> encode_referenced(const std::vector<T>& x, References references);

  std::uint32_t decode_referenced(const std::vector<std::byte>& frame, std::vector<T>& x,
                                  References references, bool add = false);

  std::vector<std::byte> sum(const std::vector<std::vector<std::byte>>& frames, std::size_t n,
                             std::size_t capacity);

  std::vector<std::byte> accumulate(const std::vector<std::byte>& frame, const std::vector<T>& x,
                                    std::size_t capacity);

  struct Slotted {
    std::vector<std::uint32_t> words, slots;
    std::uint32_t slot_words;
  };
  Slotted encode_to_slots(const std::vector<T>& x, std::uint32_t slot_words);
  // Returns the canonical frame of the chunks in the slots.
  std::vector<std::byte> sum_of_slots(Slotted slots, std::size_t n, std::size_t capacity);

  const planes::cuda::CallResult& result() const { return result_; }
  unsigned launches() const { return launcher_.launches(); }

  // Prepares scratch memory for `count` values as `launches` earlier calls on fewer values leave it.
  void after_launches(std::uint32_t launches, std::size_t count);

 private:
  // Copies the frame to memory of exactly its size, so that a read beyond its end is detected.
  static Room room_of(const std::vector<std::byte>& frame);
  planes::cuda::EncodeCall<T> call(const std::vector<T>& x) const;
  FrameHeader header(std::size_t n) const;
  static planes::cuda::CallReferences<T> call(References references);
  std::vector<std::byte> taken(const Room& room) const {
    if (result_.status != 0) return {};
    return {room.data(), room.data() + result_.bytes};
  }
  // Provides scratch memory as a pool does: it is used again without being cleared.
  void use(std::size_t count);
  planes::cuda::CallMemory place();

  ShimLauncher launcher_;
  Bound bound_;
  planes::Quantiser<T> z_;
  std::unique_ptr<Room> scratch_;
  planes::cuda::CallResult result_{};
};

}  // namespace taut
