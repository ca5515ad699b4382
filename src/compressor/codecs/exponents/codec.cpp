// The exponents codec: stores 16-bit floating-point values with short codes for their commonest exponents.
// Format: spec.md beside this file.
#include "compressor/frame/codec.hpp"
#include "compressor/codecs/exponents/frame_io.hpp"
#include "compressor/frame/sample.hpp"
#include "compressor/simd/kernel_choice.hpp"

namespace taut {
namespace exponents {

std::span<const KernelSet* const> kernel_sets() noexcept { return built_kernels<KernelSet>(); }
namespace {

bool serves(DType type, Bound::Kind kind) noexcept {
  return kind == Bound::Kind::exact && (type == DType::f16 || type == DType::bf16);
}

class Exponents final : public Codec {
 public:
  Exponents(const Coding& coding, const KernelSet& kernels)
      : contract_{.idempotent = true},
        checksum_(coding.checksum),
        threads_(coding.thread_count()),
        kernels_(kernels) {}

  const Contract& contract() const noexcept override { return contract_; }

  std::size_t max_bytes(DType type, std::size_t count, std::uint32_t) const noexcept override {
    return frame_header_bytes + count * size_of(type);
  }

  SizeOrStatus encode(ConstSlice values, References, Bytes out) const noexcept override {
    if (!serves(values.type, Bound::Kind::exact)) return {Status::invalid_type};
    if (values.count > max_count) return {Status::invalid_count};
    if (out.size() < max_bytes(values.type, values.count, 1)) return {Status::buffer_too_small};
    FrameHeader header{.codec = frame_id, .type = values.type, .count = values.count};
    if (checksum_) header.flags |= FrameHeader::checksummed;
    const Bytes payload = out.subspan(frame_header_bytes, values.bytes());
    const std::size_t bytes = write_chunks(values, kernels_, threads_, payload);
    if (bytes == 0) return {Status::ok, write_stored(header, values.as_bytes(), out)};
    return {Status::ok, seal_frame(header, out.data(), bytes)};
  }

  Status decode(ConstBytes in, References, Slice values) const noexcept override {
    if (!serves(values.type, Bound::Kind::exact)) return Status::invalid_type;
    FrameReader frame;
    if (const Status status = frame.open(in, values); status != Status::ok) return status;
    auto* const to = static_cast<std::byte*>(values.data);
    return for_chunks(threads_, frame.chunks(),
                      [&](std::size_t i) { return frame.read(i, kernels_, to + i * chunk_bytes); });
  }

  // Decodes and combines chunk by chunk, while the decoded values are in the cache.
  Status reduce(ConstBytes in, References, Slice values, Reduction op) const noexcept override {
    if (!serves(values.type, Bound::Kind::exact) || !is_defined(op, values.type)) return Status::invalid_type;
    FrameReader frame;
    if (const Status status = frame.open(in, values); status != Status::ok) return status;
    return for_chunks(threads_, frame.chunks(), [&](std::size_t i) {
      alignas(64) std::byte piece[chunk_bytes];
      if (const Status status = frame.read(i, kernels_, piece); status != Status::ok) return status;
      const std::size_t n = frame.values_of_chunk(i);
      reduce_values({values.part(i * chunk_values, n)}, {{piece, n, values.type}}, op);
      return Status::ok;
    });
  }

  // Encodes the pieces as one message, because the books take bytes in every chunk.
  Sample sample(ConstSlice values, Bytes) const noexcept override {
    const Pieces pieces(values.count);
    alignas(64) std::byte gathered[chunk_bytes], frame[frame_header_bytes + chunk_bytes];
    const std::size_t each = pieces.values * value_bytes, bytes = pieces.count * each;
    if (bytes > sizeof gathered) return {Status::internal};
    for (std::size_t i = 0; i < pieces.count; ++i)
      std::memcpy(gathered + i * each, values.part(pieces.first(i), pieces.values).data, each);
    const SizeOrStatus made = encode({{gathered, bytes / value_bytes, values.type}}, {}, frame);
    return {made.status, bytes, made.bytes - std::min(made.bytes, frame_header_bytes)};
  }

 private:
  Contract contract_;
  bool checksum_;
  int threads_;
  const KernelSet& kernels_;
};

std::unique_ptr<Codec> make(const Coding& coding) {
  if (!coding.bound.exact())
    throw Error(Status::invalid_argument, "the exponents codec is exact; it has no other bounds");
  return std::make_unique<Exponents>(coding, require_kernels(kernel_sets(), coding.kernels));
}

// Kernels on GPUs serve every coding without a checksum of the payload.
constexpr CodecOnDevices on_devices{
    .encodes = [](const Coding& coding) noexcept { return !coding.checksum; },
    .decoding = [](const FrameHeader& header, ConstBytes, const Coding&) -> std::optional<Coding> {
      return Coding{.bound = header.bound};
    },
};

}  // namespace
}  // namespace exponents

namespace codecs {

extern constinit const CodecInfo exponents{
    .name = "exponents",
    .frame_id = taut::exponents::frame_id,
    .since = "0.2",
    .summary = "16-bit floating-point values with short codes for the commonest exponents; exact",
    .serves = taut::exponents::serves,
    .make = taut::exponents::make,
    .priority = [](Bound::Kind) noexcept { return CodecInfo::second_priority; },
    .idempotent = true,
    .device = &taut::exponents::on_devices,
};

}  // namespace codecs
}  // namespace taut
