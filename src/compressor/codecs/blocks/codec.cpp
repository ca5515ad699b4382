// The blocks codec: integers of 8, 6 or 4 bits with a scale for each 64 values, so that a frame's size
// follows from its count alone. Format: spec.md beside this file.
#include <algorithm>
#include <cstring>

#include "compressor/base/float_environment.hpp"
#include "compressor/codecs/blocks/kernels.hpp"
#include "compressor/frame/codec.hpp"
#include "compressor/frame/parallel_chunks.hpp"
#include "compressor/simd/kernel_choice.hpp"

namespace taut {
namespace blocks {

std::span<const KernelSet* const> kernel_sets() noexcept { return built_kernels<KernelSet>(); }
namespace {

// Values and blocks that a thread processes at a time.
constexpr std::size_t chunk_values = 4096, chunk_blocks = chunk_values / block_values;

bool usable(const Bound& bound) noexcept {
  const auto is_value = [&](unsigned bits) { return bound.value == bits; };
  return bound.kind == Bound::Kind::rate && std::ranges::any_of(rates, is_value);
}

bool serves(DType type, Bound::Kind kind) noexcept {
  return kind == Bound::Kind::rate && (type == DType::f32 || type == DType::f16 || type == DType::bf16);
}

// Payload of a frame, to read (Byte = const std::byte) or to write, and the addresses of its chunks.
template <class Byte>
struct Payload {
  std::span<Byte> bytes;
  std::size_t count;
  unsigned bits;

  std::size_t chunks() const noexcept { return (count + chunk_values - 1) / chunk_values; }
  std::size_t values_of(std::size_t chunk) const noexcept {
    return std::min(chunk_values, count - chunk * chunk_values);
  }
  Byte* scales(std::size_t chunk) const noexcept { return bytes.data() + 2 * chunk_blocks * chunk; }
  Byte* codes(std::size_t chunk) const noexcept {
    return bytes.data() + scales_bytes(blocks_of(count)) + chunk_blocks * chunk * code_bytes(bits);
  }
};

template <class T>
void encode_chunk(const Payload<std::byte>& payload, std::size_t i, const T* values,
                  const Kernels<T>& kernels) noexcept {
  const std::size_t n = payload.values_of(i), whole = n / block_values, rest = n % block_values;
  std::byte *const scales = payload.scales(i), *const codes = payload.codes(i);
  kernels.encode(values, whole, payload.bits, scales, codes);
  if (rest == 0) return;
  T last[block_values] = {};
  std::memcpy(last, values + whole * block_values, rest * sizeof(T));
  kernels.encode(last, 1, payload.bits, scales + 2 * whole, codes + whole * code_bytes(payload.bits));
}

template <class T>
bool decode_chunk(const Payload<const std::byte>& payload, std::size_t i, T* values,
                  const Kernels<T>& kernels) noexcept {
  const std::size_t n = payload.values_of(i), whole = n / block_values, rest = n % block_values;
  const std::byte *const scales = payload.scales(i), *const codes = payload.codes(i);
  if (!kernels.decode(scales, codes, whole, payload.bits, values)) return false;
  if (rest == 0) return true;
  T last[block_values];
  const bool good =
      kernels.decode(scales + 2 * whole, codes + whole * code_bytes(payload.bits), 1, payload.bits, last);
  std::memcpy(values + whole * block_values, last, rest * sizeof(T));
  return good;
}

class Blocks final : public Codec {
 public:
  Blocks(const Coding& coding, const KernelSet& kernels)
      : contract_{.bound = coding.bound, .fixed_size = true},
        checksum_(coding.checksum),
        threads_(coding.thread_count()),
        kernels_(kernels) {}

  const Contract& contract() const noexcept override { return contract_; }

  std::size_t max_bytes(DType, std::size_t count, std::uint32_t) const noexcept override {
    return frame_header_bytes + payload_bytes(count, bits());
  }

  SizeOrStatus encode(ConstSlice values, References, Bytes out) const noexcept override {
    if (values.count > max_count) return {Status::invalid_count};
    return typed<SizeOrStatus>(values.type, [&]<class T>(T) {
      const std::size_t frame_bytes = max_bytes(values.type, values.count, 1);
      if (out.size() < frame_bytes) return SizeOrStatus{Status::buffer_too_small};
      const Payload<std::byte> payload{out.subspan(frame_header_bytes, frame_bytes - frame_header_bytes),
                                       values.count, bits()};
      const std::size_t blocks = blocks_of(values.count);
      std::fill_n(payload.scales(0) + 2 * blocks, scales_bytes(blocks) - 2 * blocks, std::byte{0});
      const auto* from = static_cast<const T*>(values.data);
      for_each_part(useful_threads(threads_, payload.chunks()), payload.chunks(),
                    [&](std::size_t, Range chunks) {
                      for (std::size_t i = chunks.first; i < chunks.first + chunks.count; ++i)
                        encode_chunk(payload, i, from + i * chunk_values, kernels_.for_type<T>());
                    });
      FrameHeader header{
          .codec = frame_id, .type = values.type, .count = values.count, .bound = contract_.bound};
      if (checksum_) header.flags |= FrameHeader::checksummed;
      return SizeOrStatus{Status::ok, seal_frame(header, out.data(), payload.bytes.size())};
    });
  }

  Status decode(ConstBytes in, References, Slice values) const noexcept override {
    return for_each_chunk(in, values, [&]<class T>(const auto& payload, std::size_t i, T* to) {
      return decode_chunk(payload, i, to, kernels_.for_type<T>());
    });
  }

  // Decodes and combines chunk by chunk, while the decoded values are in the cache.
  Status reduce(ConstBytes in, References, Slice values, Reduction op) const noexcept override {
    if (!is_defined(op, values.type)) return Status::invalid_type;
    return for_each_chunk(in, values, [&]<class T>(const auto& payload, std::size_t i, T* to) {
      alignas(64) T decoded[chunk_values];
      const bool good = decode_chunk(payload, i, decoded, kernels_.for_type<T>());
      const std::size_t n = payload.values_of(i);
      if (good) reduce_values({{to, n, values.type}}, {{decoded, n, values.type}}, op);
      return good;
    });
  }

 private:
  unsigned bits() const noexcept { return static_cast<unsigned>(contract_.bound.value); }

  // Runs `action` with a value of the type, in the floating-point environment that the kernels assume.
  template <class Result, class Action>
  static Result typed(DType type, Action action) noexcept {
    const FloatEnvironment environment;
    if (type == DType::f32) return action(float{});
    if (type == DType::f16) return action(f16{});
    if (type == DType::bf16) return action(bf16{});
    return Result{Status::invalid_type};
  }

  // Opens a frame of any of the rates and calls action(payload, i, values of chunk i) for each chunk.
  template <class Action>
  Status for_each_chunk(ConstBytes in, Slice values, Action action) const noexcept {
    return typed<Status>(values.type, [&]<class T>(T) {
      FrameHeader header;
      ConstBytes payload;
      if (const Status s = open_frame(in, frame_id, header, payload); s != Status::ok) return s;
      if (header.type != values.type || header.count != values.count) return Status::frame_mismatch;
      const bool known = !header.has(FrameHeader::stored) && header.addends == 1 && usable(header.bound);
      if (!known || payload.size() != payload_bytes(values.count, static_cast<unsigned>(header.bound.value)))
        return Status::corrupt_frame;
      const Payload<const std::byte> opened{payload, values.count, static_cast<unsigned>(header.bound.value)};
      auto* const to = static_cast<T*>(values.data);
      return for_chunks(threads_, opened.chunks(), [&](std::size_t i) {
        return action(opened, i, to + i * chunk_values) ? Status::ok : Status::corrupt_frame;
      });
    });
  }

  Contract contract_;
  bool checksum_;
  int threads_;
  const KernelSet& kernels_;
};

std::unique_ptr<Codec> make(const Coding& coding) {
  if (!usable(coding.bound))
    throw Error(Status::invalid_argument, "the blocks codec has 8, 6 or 4 bits a value: use block:8");
  if (coding.bits == PackedBits::exact)
    throw Error(Status::invalid_argument,
                "the blocks codec rounds every value, packed integers too: use bits=rounded");
  return std::make_unique<Blocks>(coding, require_kernels(kernel_sets(), coding.kernels));
}

constexpr CodecOnDevices on_devices{
    .encodes = [](const Coding& coding) noexcept { return usable(coding.bound) && !coding.checksum; },
    .decoding = [](const FrameHeader& header, ConstBytes, const Coding&) -> std::optional<Coding> {
      return Coding{.bound = header.bound};
    },
};

}  // namespace
}  // namespace blocks

namespace codecs {

extern constinit const CodecInfo blocks{
    .name = "blocks",
    .frame_id = taut::blocks::frame_id,
    .since = "0.2",
    .summary = "integers of 8, 6 or 4 bits with a scale for each 64 values; the size follows from the count",
    .serves = taut::blocks::serves,
    .make = taut::blocks::make,
    .priority = [](Bound::Kind) noexcept { return CodecInfo::only_by_name; },
    .device = &taut::blocks::on_devices,
};

}  // namespace codecs
}  // namespace taut
