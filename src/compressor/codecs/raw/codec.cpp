// The raw codec: stores values unchanged behind a frame header. It is the baseline and the fallback of exact
// modes.
#include <cstring>

#include "compressor/frame/codec.hpp"

namespace taut {
namespace {

constexpr std::uint8_t raw_id = 1;

class Raw final : public Codec {
 public:
  explicit Raw(bool checksum) : checksum_(checksum) {}

  const Contract& contract() const noexcept override { return contract_; }

  std::size_t max_bytes(DType type, std::size_t count, std::uint32_t) const noexcept override {
    return frame_header_bytes + count * size_of(type);
  }

  SizeOrStatus encode(ConstSlice values, References, Bytes out) const noexcept override {
    if (values.count > max_frame_values) return {Status::invalid_count};
    const std::size_t bytes = max_bytes(values.type, values.count, 1);
    if (out.size() < bytes) return {Status::buffer_too_small};
    FrameHeader header{.codec = raw_id, .type = values.type, .count = values.count};
    if (checksum_) header.flags |= FrameHeader::checksummed;
    return {Status::ok, write_stored(header, values.as_bytes(), out)};
  }

  Status decode(ConstBytes in, References, Slice values) const noexcept override {
    ConstBytes payload;
    if (const Status status = open(in, values, payload); status != Status::ok) return status;
    if (values.count != 0) std::memcpy(values.data, payload.data(), payload.size());
    return Status::ok;
  }

  Status reduce(ConstBytes in, References, Slice values, Reduction op) const noexcept override {
    ConstBytes payload;
    if (!is_defined(op, values.type)) return Status::invalid_type;
    if (const Status status = open(in, values, payload); status != Status::ok) return status;
    reduce_payload(values, payload.data(), op);
    return Status::ok;
  }

 private:
  // Checks a whole frame of the type and count of `values` and returns its payload.
  static Status open(ConstBytes in, ConstSlice values, ConstBytes& payload) noexcept {
    FrameHeader header;
    if (const Status s = open_frame(in, raw_id, header, payload); s != Status::ok) return s;
    if (header.type != values.type || header.count != values.count) return Status::frame_mismatch;
    const bool good = header.has(FrameHeader::stored) && payload.size() == values.bytes();
    return good ? Status::ok : Status::corrupt_frame;
  }

  Contract contract_{.bound = {}, .fixed_size = true, .adds_frames = false, .idempotent = true};
  bool checksum_;
};

}  // namespace

namespace codecs {

extern constinit const CodecInfo raw{
    .name = "raw",
    .frame_id = raw_id,
    .since = "0.1",
    .summary = "values as they are",
    .serves = [](DType, Bound::Kind) noexcept { return true; },  // exact values satisfy any bound
    .make = [](const Coding& coding) -> std::unique_ptr<Codec> {
      return std::make_unique<Raw>(coding.checksum);
    },
    .priority = [](Bound::Kind) noexcept { return CodecInfo::last_resort; },
    .idempotent = true,
};

}  // namespace codecs
}  // namespace taut
