#include <zfp.h>

#include "peers.hpp"

namespace bench {
namespace {

// A zfp stream over `bytes` with the tolerance set, and the zfp field that it codes.
class Stream {
 public:
  Stream(const void* values, std::size_t count, taut::DType type, double tolerance, void* bytes,
         std::size_t size)
      : field_(zfp_field_1d(const_cast<void*>(values),
                            type == taut::DType::f64 ? zfp_type_double : zfp_type_float, count)),
        stream_(zfp_stream_open(nullptr)),
        bits_(bytes == nullptr ? nullptr : stream_open(bytes, size)) {
    zfp_stream_set_accuracy(stream_, tolerance);
    if (bits_ != nullptr) zfp_stream_set_bit_stream(stream_, bits_);
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() {
    if (bits_ != nullptr) stream_close(bits_);
    zfp_stream_close(stream_);
    zfp_field_free(field_);
  }
  std::size_t most() const { return zfp_stream_maximum_size(stream_, field_); }
  std::size_t compress() const { return zfp_compress(stream_, field_); }
  std::size_t decompress() const { return zfp_decompress(stream_, field_); }

 private:
  zfp_field* field_;
  zfp_stream* stream_;
  bitstream* bits_;
};

class Zfp final : public Peer {
 public:
  explicit Zfp(double bound) : Peer({bound, false, false}), bound_(bound) {}

  std::size_t max_bytes(taut::DType type, std::size_t count, std::uint32_t) const noexcept override {
    return Stream(nullptr, count, type, bound_, nullptr, 0).most();
  }
  taut::Sized encode(taut::ConstSlice values, taut::Bytes out) const noexcept override {
    const Stream stream(values.data, values.count, values.type, bound_, out.data(), out.size());
    const std::size_t bytes = stream.compress();
    return {bytes != 0 ? taut::Status::ok : taut::Status::internal, bytes};
  }
  taut::Status decode(taut::ConstBytes in, taut::Slice values) const noexcept override {
    const Stream stream(values.data, values.count, values.type, bound_, const_cast<std::byte*>(in.data()),
                        in.size());
    return stream.decompress() != 0 ? taut::Status::ok : taut::Status::corrupt_frame;
  }

 private:
  double bound_;
};

}  // namespace

Coder zfp() {
  return {.name = "libzfp",
          .codec = "libzfp",
          .peer = true,
          .serves =
              [](taut::DType type, taut::Bound::Kind kind) noexcept {
                return (type == taut::DType::f32 || type == taut::DType::f64) &&
                       kind == taut::Bound::Kind::absolute;
              },
          .make = [](taut::Bound bound) { return std::make_unique<Zfp>(bound.value); }};
}

}  // namespace bench
