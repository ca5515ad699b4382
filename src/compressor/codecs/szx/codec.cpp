// The szx codec: stores blocks that are constant within the bound as one value, and the significant bits of
// the other blocks. After X. Yu, S. Di, K. Zhao, J. Tian, D. Tao, X. Liang, F. Cappello, "Ultrafast
// Error-bounded Lossy Compression for Scientific Datasets", HPDC 2022. Chunks with their sizes in front
// follow PIPE-SZx of C-Coll. Format: spec.md beside this file.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "compressor/base/float_environment.hpp"
#include "compressor/codecs/szx/chunk.hpp"
#include "compressor/codecs/szx/frame.hpp"
#include "compressor/frame/codec.hpp"
#include "compressor/simd/kernel_choice.hpp"

namespace taut {
namespace szx {

std::span<const KernelSet* const> kernel_sets() noexcept { return built_kernels<KernelSet>(); }
namespace {

class Szx final : public Codec {
 public:
  Szx(const Coding& coding, const KernelSet& kernels)
      : contract_{.bound = coding.bound, .idempotent = true},
        checksum_(coding.checksum),
        threads_(coding.thread_count()),
        kernels_(kernels),
        f32_(Grid<float>::make(coding.bound.value)),
        f64_(Grid<double>::make(coding.bound.value)) {
    f32_.exact_bits = f64_.exact_bits = coding.bits == PackedBits::exact;
  }

  const Contract& contract() const noexcept override { return contract_; }

  std::size_t max_bytes(DType type, std::size_t count, std::uint32_t) const noexcept override {
    return max_frame_bytes(size_of(type), count);
  }

  SizeOrStatus encode(ConstSlice values, References, Bytes out) const noexcept override {
    if (values.count > max_count) return {Status::invalid_count};
    if (out.size() < max_bytes(values.type, values.count, 1)) return {Status::buffer_too_small};
    return typed<SizeOrStatus>(values.type, [&](const auto& grid) { return encode_on(grid, values, out); });
  }

  Status decode(ConstBytes in, References, Slice values) const noexcept override {
    return typed<Status>(values.type, [&]<class T>(const Grid<T>&) {
      FrameReader<T> frame;
      if (const Status s = open(frame, in, values); s != Status::ok) return s;
      if (frame.stored()) {
        if (values.count != 0) std::memcpy(values.data, frame.payload().data(), values.bytes());
        return Status::ok;
      }
      return for_chunks(frame, values, [&](ConstBytes record, T* to, std::size_t n) {
        return decode_chunk(record, n, frame.grid(), kernels_.for_type<T>(), to);
      });
    });
  }

  Status reduce(ConstBytes in, References, Slice values, Reduction op) const noexcept override {
    return typed<Status>(values.type, [&]<class T>(const Grid<T>&) {
      FrameReader<T> frame;
      if (const Status s = open(frame, in, values); s != Status::ok) return s;
      if (frame.stored()) return reduce_payload(values, frame.payload().data(), op), Status::ok;
      return for_chunks(frame, values, [&](ConstBytes record, T* to, std::size_t n) {
        return reduce_chunk(record, n, frame.grid(), kernels_.for_type<T>(), to, op);
      });
    });
  }

 private:
  // Runs `action` with the grid of the type, in the floating-point environment that the bound's proof
  // assumes.
  template <class Result, class Action>
  Result typed(DType type, Action action) const noexcept {
    const FloatEnvironment environment;
    if (type == DType::f32) return action(f32_);
    if (type == DType::f64) return action(f64_);
    return Result{Status::invalid_type};
  }

  template <class T>
  SizeOrStatus encode_on(const Grid<T>& grid, ConstSlice values, Bytes out) const noexcept {
    FrameHeader header{.codec = frame_id,
                       .type = values.type,
                       .count = values.count,
                       .bound = contract_.bound,
                       .step = static_cast<double>(grid.step)};
    if (checksum_) header.flags = FrameHeader::checksummed;
    const auto* data = static_cast<const T*>(values.data);
    using Writer = RecordWriter<max_record_bytes<T>>;
    const RecordRoom room = record_room<T>(out, values.count);
    const auto write = [&](Range chunks, Writer& writer) {
      for (std::size_t i = chunks.first; i < chunks.first + chunks.count; ++i) {
        const std::size_t first = i * chunk_values, n = std::min(chunk_values, values.count - first);
        if (!writer.commit(encode_chunk(data + first, n, grid, kernels_.for_type<T>(), writer.room())))
          return Status::buffer_too_small;
      }
      return Status::ok;
    };
    if (grid.step > 0) {
      const SizeOrStatus records = write_records<Writer>(useful_threads(threads_, room.chunks), room, write);
      if (records.status == Status::ok)
        return {Status::ok, seal_frame(header, out.data(), 4 * room.chunks + records.bytes)};
    }
    return {Status::ok, write_stored(header, values.as_bytes(), out)};
  }

  template <class T>
  static Status open(FrameReader<T>& frame, ConstBytes in, const Slice& values) noexcept {
    if (const Status s = frame.open(in); s != Status::ok) return s;
    return frame.count() == values.count ? Status::ok : Status::frame_mismatch;
  }

  template <class T, class Action>
  Status for_chunks(const FrameReader<T>& frame, Slice values, const Action& action) const noexcept {
    auto* data = static_cast<T*>(values.data);
    return taut::for_chunks(threads_, frame.chunks(), [&](std::size_t i) {
      const bool good = action(frame.record(i), data + i * chunk_values, frame.chunk_count(i));
      return good ? Status::ok : Status::corrupt_frame;
    });
  }

  Contract contract_;
  bool checksum_;
  int threads_;
  const KernelSet& kernels_;
  Grid<float> f32_;
  Grid<double> f64_;
};

bool serves(DType type, Bound::Kind kind) noexcept {
  return (type == DType::f32 || type == DType::f64) && kind == Bound::Kind::absolute;
}

std::unique_ptr<Codec> make(const Coding& coding) {
  if (coding.bound.kind != Bound::Kind::absolute || !(coding.bound.value > 0) ||
      !std::isfinite(coding.bound.value))
    throw Error(Status::invalid_argument, "the szx codec needs a finite absolute bound above 0");
  const KernelSet& kernels = require_kernels(kernel_sets(), coding.kernels);
  const FloatEnvironment environment;  // gives the same step on ranks with different rounding modes
  return std::make_unique<Szx>(coding, kernels);
}

}  // namespace
}  // namespace szx

namespace codecs {

extern constinit const CodecInfo szx{
    .name = "szx",
    .frame_id = taut::szx::frame_id,
    .since = "0.2",
    .summary = "blocks constant within an absolute bound, significant bits of the others; fast",
    .serves = taut::szx::serves,
    .make = taut::szx::make,
    // codec=auto compares bytes only, and planes takes fewer bytes on every field measured.
    .priority = [](Bound::Kind) noexcept { return CodecInfo::only_by_name; },
    .idempotent = true,
};

}  // namespace codecs
}  // namespace taut
