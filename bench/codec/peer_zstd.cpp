#include <zstd.h>

#include "peers.hpp"

namespace bench {
namespace {

class Zstd final : public Peer {
 public:
  Zstd() : Peer({taut::Bound{}, false, false}) {}

  std::size_t max_bytes(taut::DType type, std::size_t count, std::uint32_t) const noexcept override {
    return ZSTD_compressBound(count * size_of(type));
  }
  taut::Sized encode(taut::ConstSlice values, taut::Bytes out) const noexcept override {
    const std::size_t bytes =
        ZSTD_compressCCtx(encoder_.get(), out.data(), out.size(), values.data, values.bytes(), 1);
    return {ZSTD_isError(bytes) ? taut::Status::internal : taut::Status::ok, bytes};
  }
  taut::Status decode(taut::ConstBytes in, taut::Slice values) const noexcept override {
    const std::size_t bytes =
        ZSTD_decompressDCtx(decoder_.get(), values.data, values.bytes(), in.data(), in.size());
    return bytes == values.bytes() ? taut::Status::ok : taut::Status::corrupt_frame;
  }

 private:
  struct Free {
    void operator()(ZSTD_CCtx* context) const noexcept { ZSTD_freeCCtx(context); }
    void operator()(ZSTD_DCtx* context) const noexcept { ZSTD_freeDCtx(context); }
  };
  std::unique_ptr<ZSTD_CCtx, Free> encoder_{ZSTD_createCCtx()};
  std::unique_ptr<ZSTD_DCtx, Free> decoder_{ZSTD_createDCtx()};
};

}  // namespace

Coder zstd() {
  return {.name = "libzstd",
          .codec = "libzstd",
          .kind = taut::Bound::Kind::exact,
          .peer = true,
          .serves =
              [](taut::DType type, taut::Bound::Kind kind) noexcept {
                return (type == taut::DType::f32 || type == taut::DType::f64) &&
                       kind == taut::Bound::Kind::exact;
              },
          .make = [](taut::Bound) { return std::make_unique<Zstd>(); }};
}

}  // namespace bench
