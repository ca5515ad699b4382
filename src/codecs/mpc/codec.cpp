// The mpc codec: stores differences between the bit patterns of the values, transposed to bit planes, without
// their zero bytes. Format: spec.md beside this file.
#include <cmath>
#include <string>
#include <string_view>

#include "codecs/mpc/frame_io.hpp"
#include "core/codec.hpp"
#include "core/kernel_choice.hpp"

namespace taut {
namespace mpc {
namespace {

bool serves(DType type, Bound::Kind kind) noexcept {
  return kind == Bound::Kind::exact ||
         (kind == Bound::Kind::pointwise && info_of(type).family != Family::integer);
}

class Mpc final : public Codec {
 public:
  // `distance` 0: each message gets the distance that is best on a sample of its values.
  Mpc(const CodecOptions& options, unsigned distance, const KernelSet& kernels)
      : contract_{.bound = options.bound, .idempotent = true},
        bits_(options.bits),
        distance_(distance),
        checksum_(options.checksum),
        threads_(options.threads),
        kernels_(kernels) {}

  const Contract& contract() const noexcept override { return contract_; }

  std::size_t max_bytes(DType type, std::size_t count, std::uint32_t) const noexcept override {
    return frame_header_bytes + count * size_of(type);
  }

  Sized encode(ConstSlice values, Bytes out) const noexcept override {
    if (!serves(values.type, contract_.bound.kind)) return {Status::invalid_type};
    if (values.count > max_count) return {Status::invalid_count};
    if (out.size() < max_bytes(values.type, values.count, 1)) return {Status::buffer_too_small};
    const Layout layout = layout_of(values);
    const Bytes payload = out.subspan(frame_header_bytes, values.bytes());
    FrameHeader header{
        .codec = frame_id, .type = values.type, .count = values.count, .bound = contract_.bound};
    header.parameters[0] = static_cast<std::uint8_t>(layout.distance);
    if (checksum_) header.flags |= FrameHeader::checksummed;
    std::size_t bytes = write_chunks(values.as_bytes(), layout, kernels_, threads_, payload);
    if (bytes == 0) {
      header.flags |= FrameHeader::stored;
      bytes = payload.size();
      write_rounded(values.as_bytes(), layout, kernels_, payload.data());
    }
    return {Status::ok, seal_frame(header, out.data(), bytes)};
  }

  Status decode(ConstBytes in, Slice values) const noexcept override {
    if (!serves(values.type, contract_.bound.kind)) return Status::invalid_type;
    FrameReader frame;
    if (const Status status = frame.open(in, values); status != Status::ok) return status;
    auto* const to = static_cast<std::byte*>(values.data);
    return for_chunks(frame, [&](std::size_t i) { return frame.read(i, kernels_, to + i * chunk_bytes); });
  }

  // Decodes and combines chunk by chunk, while the decoded values are in the cache.
  Status reduce(ConstBytes in, Slice values, Reduction op) const noexcept override {
    if (!serves(values.type, contract_.bound.kind) || !is_defined(op, values.type))
      return Status::invalid_type;
    FrameReader frame;
    if (const Status status = frame.open(in, values); status != Status::ok) return status;
    const std::size_t value_bytes = size_of(values.type);
    return for_chunks(frame, [&](std::size_t i) {
      alignas(64) std::byte piece[chunk_bytes];
      if (const Status status = frame.read(i, kernels_, piece); status != Status::ok) return status;
      const std::size_t n = frame.size_of_chunk(i) / value_bytes;
      reduce_values({values.part(i * (chunk_bytes / value_bytes), n)}, {{piece, n, values.type}}, op);
      return Status::ok;
    });
  }

 private:
  template <class Read>
  Status for_chunks(const FrameReader& frame, const Read& read) const noexcept {
    return first_failure(parts_of(threads_, frame.chunks()), frame.chunks(), [&](Range chunks) {
      for (std::size_t i = chunks.first; i < chunks.first + chunks.count; ++i)
        if (const Status status = read(i); status != Status::ok) return status;
      return Status::ok;
    });
  }

  Layout layout_of(ConstSlice values) const noexcept {
    const DType component = component_of(values.type);
    Layout layout{.word_bytes = size_of(component), .distance = distance_};
    if (contract_.bound.kind == Bound::Kind::pointwise && info_of(component).family == Family::real)
      layout.rounding = Rounding::within(contract_.bound.value, component, bits_);
    if (distance_ == 0) layout.distance = best_distance(values, layout);
    return layout;
  }

  // Returns the distance with the fewest bytes on a sample. Messages below 256 KiB are not sampled: the
  // sample has to be small compared with the message.
  unsigned best_distance(ConstSlice values, Layout layout) const noexcept {
    constexpr std::size_t least_bytes = std::size_t{1} << 18;
    auto best = static_cast<unsigned>(components_of(values.type));
    if (values.bytes() < least_bytes) return best;
    std::size_t least = ~std::size_t{0};
    for (layout.distance = 1; layout.distance <= max_distance; ++layout.distance) {
      const std::size_t bytes = sampled_bytes(values.as_bytes(), layout, kernels_);
      if (bytes < least) {
        best = layout.distance;
        least = bytes;
      }
    }
    return best;
  }

  Contract contract_;
  PackedBits bits_;
  unsigned distance_;
  bool checksum_;
  int threads_;
  const KernelSet& kernels_;
};

constexpr const char* distances[] = {"d1", "d2", "d3", "d4", "d5", "d6", "d7", "d8"};
static_assert(std::size(distances) == max_distance && max_distance <= max_predictors);

std::vector<std::string> predictors(const CodecOptions&) {
  return {std::begin(distances), std::end(distances)};
}

unsigned distance_named(std::string_view name) {
  if (name == "auto") return 0;
  for (unsigned d = 1; d <= max_distance; ++d)
    if (name == distances[d - 1]) return d;
  throw Error(Status::invalid_policy,
              "predictor '" + std::string(name) + "' is unknown; use auto, or d1 to d8");
}

std::unique_ptr<Codec> make(const CodecOptions& options) {
  const Bound bound = options.bound;
  if (!bound.exact() &&
      !(bound.kind == Bound::Kind::pointwise && bound.value > 0 && std::isfinite(bound.value)))
    throw Error(Status::invalid_argument,
                "the mpc codec is exact, or within a finite pointwise bound above 0; it has no other bounds");
  const KernelSet& kernels = require_kernels(kernel_sets(), options.kernels);
  return std::make_unique<Mpc>(options, distance_named(options.predictor), kernels);
}

}  // namespace
}  // namespace mpc

namespace codecs {

extern constinit const CodecInfo mpc{
    .name = "mpc",
    .frame_id = taut::mpc::frame_id,
    .since = "0.2",
    .summary = "differences of the values' bits as bit planes without zeros; exact, or mantissas rounded",
    .predictors = taut::mpc::predictors,
    .serves = taut::mpc::serves,
    .make = taut::mpc::make,
    .idempotent = true,
};

}  // namespace codecs
}  // namespace taut
