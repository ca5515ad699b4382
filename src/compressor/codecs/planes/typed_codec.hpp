// Encoding, decoding and sums of frames of one value type. Chunks are processed by the kernels, and by the
// general path where a kernel does not support them.
#pragma once

#include "compressor/codecs/planes/format/lags.hpp"
#include "compressor/codecs/planes/prediction_source.hpp"
#include "compressor/frame/codec.hpp"
#include "compressor/values/value_statistics.hpp"

namespace taut::planes {

// Estimates the bytes that a message takes under each prediction, from a few of its pieces. Unlike an
// encoding of the pieces alone, the estimate has the values a lag before each piece, and the values of
// references. `references`: as many as any of the predictions needs. Sets bytes[k] to the bytes of the
// pieces' records under predictions[k], with a surcharge for slow predictions. Returns the bytes of the
// pieces' values. Returns 0 if the integers allow no estimate, because many need 64 bits or there are none.
template <class T>
std::size_t estimate(const T* values, std::size_t count, const Quantiser<T>& z, const KernelSet& kernels,
                     const ReferenceIntegers<T>& references, std::span<const Prediction> predictions,
                     std::span<std::size_t> bytes) noexcept;

// Size of the largest frame of a sum of `addends`. A chunk takes no more than its values, padded to blocks,
// and 12 bytes. A chunk of halves takes 16 bits a block more, for the additional bit of second differences of
// small integers and for the width table. In a sum of frames with the same prediction, the widths of a block
// at most add up, and the number of runs does not grow. But in 64-bit records the runs are longer (14 for 10,
// 16 for 12, 20 for 16 bytes), and the width table may change from nibbles to bytes. If the predictions
// differ, integers that one of them made small may take all their bits in the sum, in addition to all runs.
constexpr std::size_t max_frame_bytes(std::size_t value_bytes, std::size_t count,
                                      std::uint32_t addends) noexcept {
  const std::size_t table = value_bytes == 2 ? 2 * blocks_of(count) : 0;
  const std::size_t records = 12 * chunks_of(count) + blocks_of(count) * block_values * value_bytes + table;
  const bool may_be_wide = value_bytes == 8 || addends >= 256;
  const std::size_t longer = !may_be_wide ? 0 : value_bytes == 2 ? records / 2 : records / 3;
  const std::size_t integers = blocks_of(count) * block_values * (may_be_wide ? 8 : 4);
  std::size_t sum = 0;
  const std::size_t others = integers + 640 * chunks_of(count);
  const bool too_many = __builtin_mul_overflow(records + longer, addends, &sum) ||
                        sum > SIZE_MAX / 2 - others;  // no memory holds them, and no sum of sizes wraps
  if (too_many) return SIZE_MAX / 2;
  sum += others;
  const std::size_t all = addends == 1 ? records : sum;
  return frame_header_bytes + 4 * (chunks_of(count) + 1) + all;
}

template <class T>
class TypedCodec {
 public:
  TypedCodec(const Bound& bound, PackedBits bits, const KernelSet& kernels, int threads)
      : quantiser_(Quantiser<T>::make(bound, Predictor::delta, bits)),
        threads_(threads),
        kernels_(kernels),
        general_(kernels) {}

  // Returns a copy of the codec that encodes with `prediction`, and with the references that it needs of
  // those given.
  TypedCodec with(const Prediction& prediction, References references = {}) const noexcept {
    TypedCodec copy = *this;
    copy.quantiser_.predictor = prediction.inner;
    copy.lags_ = prediction.lags;
    copy.references_ = references.first(prediction.references);
    copy.by_addend_ = prediction.by_addend;
    return copy;
  }

  // Encodes values of type T, or complex values with parts of type T, into a frame. `out` holds
  // max_frame_bytes. Returns the frame's bytes; 0: no memory.
  std::size_t encode(ConstSlice values, FrameHeader header, Bytes out) const {
    header.step = static_cast<double>(quantiser_.step);
    const ConstSlice components{values.components()};
    const T* const data = static_cast<const T*>(components.data);
    Prediction usable = prediction();
    usable.lags = lags_.within(components.count);
    if ((usable.lags.any() || !references_.empty()) && quantiser_.step != 0 && components.count > 0) {
      const std::size_t bytes =
          with(usable, references_).encode_residuals(data, components.count, header, out);
      if (bytes > 0 || by_addend_) return bytes;
    }
    return encode_without_residuals(CodingPath::small_kernel, 8, data, components.count, header, out);
  }
  // Estimates the bytes of the components under each prediction, from a sample.
  std::size_t estimate(ConstSlice values, References references, std::span<const Prediction> predictions,
                       std::span<std::size_t> bytes) const noexcept {
    const ConstSlice components{values.components()};
    const ReferenceIntegers<T> integers(references, own_header(), kernels_);
    return planes::estimate(static_cast<const T*>(components.data), components.count, quantiser_, kernels_,
                            integers, predictions, bytes);
  }

  // decode() decodes a frame; reduce() combines values with those of a frame.
  Status decode(ConstBytes in, References references, Slice values) const;
  Status reduce(ConstBytes in, References references, Slice values, Reduction op) const;

  // sum() adds frames, accumulate() adds values to a frame. Both return buffer_too_small if the result does
  // not fit `out`.
  SizeOrStatus sum(std::span<const ConstBytes> frames, Bytes out) const;
  SizeOrStatus accumulate(ConstBytes frame, ConstSlice values, References references, Bytes out) const;

  // Returns true if every value has an integer of at most 22 bits.
  bool has_integers(ConstSlice values) const;

  // Multiplies a frame by a factor other than 0; see scale.cpp.
  SizeOrStatus scale(ConstBytes frame, double factor, Bytes out) const;

  // Adds the decoded values of a frame to `statistics`.
  Status summarize(ConstBytes frame, ValueStatistics& statistics) const;

 private:
  // Reader of the chunks of a frame that is decoded or summed, one chunk at a time.
  struct Operand {
    Record<T> record;
    Predictor predictor = Predictor::delta;
    const std::byte* stored_values = nullptr;  // values of a chunk of a stored frame
    // After compute_integers(), of a record of residuals, as in ChunkOperand.
    const std::int32_t* integers = nullptr;
    const std::int64_t* predicted = nullptr;
    PaddedPlanes padding;
    PredictionSource<T> source;
    std::int32_t* integer_room = nullptr;  // memory in `source` for the integers of this chunk

    // Prepare to read the chunks of `frame`; prepare_lags() serves frames without references. Chunks of a
    // frame with lags are read in order, and the integers of each one are computed, by compute_integers() or
    // by a kernel that fills integer_room. In a frame with references, only the integers that are used have
    // to be computed.
    void prepare_lags(const FrameReader<T>& frame);
    Status prepare(const FrameReader<T>& frame, const ReferenceIntegers<T>& references);
    void compute_integers(const KernelSet& kernels) noexcept;
    Status read(const FrameReader<T>& frame, std::size_t i, const KernelSet& kernels) noexcept;
    bool only_narrow_integers() const noexcept {
      return stored_values == nullptr && integers == nullptr && record.only_narrow_integers();
    }
    std::uint8_t range_flag() const noexcept {
      return stored_values == nullptr ? record.header.flags & large : 0;
    }
    ChunkOperand<T> chunk_operand() const noexcept {
      return {&record, predictor, stored_values, integers, predicted};
    }
  };

  Prediction prediction() const noexcept {
    return {quantiser_.predictor, lags_, static_cast<unsigned>(references_.size()), by_addend_};
  }

  // Returns true if a frame has no references, or `references` begins with those of the frame.
  static bool references_match(const FrameReader<T>& frame, References references) noexcept {
    if (!frame.states().any()) return true;
    const auto count = static_cast<std::size_t>(frame.header().count);
    return begin_with_named(references, frame.states(), {{nullptr, count, frame.header().type}});
  }

  // Returns the number of parts of a frame that threads process: one if chunks depend on earlier chunks.
  std::size_t parts_for(std::size_t chunks, const Prediction& prediction) const noexcept {
    return prediction.lags.any() ? 1 : useful_threads(threads_, chunks);
  }
  // Calls use(operand, i) for each chunk i of a frame, on several threads.
  template <class Use>
  Status for_chunks(const FrameReader<T>& frame, References references, const Use& use) const;

  // Returns true if a product with the step is correctly rounded in the arithmetic of T: a float holds every
  // integer up to 2^24. For halves such a product is exact.
  static constexpr bool exact_in_type(std::uint8_t flags, std::uint32_t addends) noexcept {
    return sizeof(T) == 8 || max_sum(flags, addends) <= std::uint64_t{1} << 24;
  }

  // Code that encodes a chunk: the kernels of the small or of the large range, the general path
  // (general/general.hpp), or none for a raw layer. The path and the width class of a chunk are a guess for
  // the next one; guesses do not affect the bytes written.
  enum class CodingPath { small_kernel, large_kernel, general, raw_layer };
  // Encodes a chunk; returns its path. `previous`: path of the previous chunk.
  CodingPath encode_chunk(const T* values, std::size_t n, CodingPath previous, unsigned& width_class,
                          PlaneRecordWriter& writer) const;
  // Encodes a frame without lags and references. `path`, `width_class`: guesses for the first chunk of each
  // thread.
  std::size_t encode_without_residuals(CodingPath path, unsigned width_class, const T* values,
                                       std::size_t count, FrameHeader header, Bytes out) const;

  // ---- With lags or references (residuals.cpp)

  // Returns the source of predictions for a frame with the lags or references of this codec.
  PredictionSource<T> source_of_predictions(const ReferenceIntegers<T>& references, std::size_t count) const {
    return references_.empty() ? PredictionSource<T>(lags_, count)
                               : PredictionSource<T>(lags_, references, count);
  }
  // Encodes a frame with lags or references. Returns 0 if the frame has to be encoded without them; for an
  // addend, if there is no memory.
  std::size_t encode_residuals(const T* values, std::size_t count, FrameHeader header, Bytes out) const;
  // Encodes a chunk by a kernel that takes the values of references. Returns false if no kernel serves it.
  bool encode_from_references(const T* values, std::size_t n, PredictionSource<T>& source, CodingPath path,
                              unsigned& width_class, PlaneRecordWriter& writer) const;
  // Encodes a chunk as residuals; `q` is memory for its integers. Returns false if the frame has to be
  // encoded without lags and references, or `writer` is full.
  bool encode_residual_chunk(const T* values, std::size_t n, PredictionSource<T>& source, std::int32_t* q,
                             CodingPath& path, unsigned& width_class, PlaneRecordWriter& writer) const;
  // Writes the record of a chunk with the integers `q`. Returns false if `writer` is full.
  bool write_residuals(std::int32_t* q, std::size_t n, const EarlierIntegers& earlier, std::uint8_t flags,
                       unsigned& width_class, PlaneRecordWriter& writer) const;
  // Writes the integers of a chunk to `q`; sets `path`, and `flags` to the range of the integers, 0 (small)
  // or large. Returns false if the general path has to encode the chunk: some value has no integer (its bit
  // in `marks` is set), or the values are halves with large integers.
  bool quantise_chunk(const T* values, std::size_t n, CodingPath& path, std::int32_t* q, ChunkMask& marks,
                      std::uint8_t& flags) const;

  // Encodes a chunk of an addend whatever its values are: as the sum of its record and of one with the
  // negative prediction. Returns false if `writer` is full.
  bool encode_chunk_as_sum(const T* values, std::size_t n, const EarlierIntegers& earlier,
                           PlaneRecordWriter& writer) const;

  // Outcome of adding values to a frame of residuals. needs_full_integers: the sum has to be written without
  // lags and references.
  enum class ResidualOutcome { done, needs_full_integers, no_room };
  SizeOrStatus accumulate_residuals(const FrameReader<T>& frame, const T* values, FrameHeader total,
                                    Bytes out, bool& needs_full_integers) const;
  ResidualOutcome accumulate_residual_chunk(const Operand& operand, const T* values, std::size_t n,
                                            const EarlierIntegers& earlier, std::int32_t* q,
                                            std::uint32_t addends, CodingPath& path, unsigned& width_class,
                                            PlaneRecordWriter& writer) const;

  // Returns true if packed integers may be among the values, so that the kernels for small chunks cannot be
  // used. Those kernels treat packed integers beyond the zone of numbers like other outliers.
  bool may_hold_packed(const T* values, std::size_t n) const noexcept {
    return general_.may_hold_packed(values, n, quantiser_);
  }

  // Completes the record of planes that were written to writer.room(), and sets planes.width_class to the
  // smallest class that holds the chunk's differences. Returns false if `writer` is full.
  bool commit_planes(PlanesOut& planes, std::uint8_t flags, std::size_t n,
                     PlaneRecordWriter& writer) const noexcept;

  // Adds the values of a chunk to the planes of a record, by kernels. `range`: that of the values' integers,
  // 0 (small) or large. Returns false if an integer is beyond the range.
  bool accumulate_planes(const Record<T>& record, const T* whole, std::size_t groups, std::uint8_t range,
                         PlanesOut& out) const noexcept;

  // Adds the values by the general quantiser. Returns false if some value has no integer, and for halves.
  bool accumulate_integers(const Record<T>& record, const T* whole, std::size_t n,
                           PlanesOut& out) const noexcept;

  void decode_chunk(Operand& operand, std::uint32_t addends, const Quantiser<T>& z, T* values,
                    std::size_t n) const;
  bool decode_from_references(Operand& operand, const Quantiser<T>& z, T* whole, std::size_t groups) const;
  void decode_groups(Operand& operand, std::uint32_t addends, const Quantiser<T>& z, T* whole,
                     std::size_t groups) const;

  // Returns true if all records of a chunk are wide, or none is.
  static bool alike_in_width(std::span<const Operand> operands) noexcept;
  bool sum_chunk(std::span<const Operand* const> operands, std::size_t n, std::uint32_t addends,
                 Predictor predictor, PlaneRecordWriter& writer) const;
  // Writes the sum of a chunk and of values. `path`: path of the previous chunk; on return, of this one.
  bool accumulate_chunk(const Operand& operand, const T* values, std::size_t n, std::uint32_t addends,
                        CodingPath& path, unsigned& width_class, PlaneRecordWriter& writer) const;
  bool accumulate_general(const Operand& operand, const T* values, std::size_t n, std::uint32_t addends,
                          PlaneRecordWriter& writer) const;
  // Writes the sum of a chunk and of one that is encoded in a frame of its own.
  bool add_chunk(const Operand& operand, ConstBytes own_frame, std::size_t n, std::uint32_t addends,
                 PlaneRecordWriter& writer) const;
  // Size in bytes of the largest record with one addend, and of memory for a frame of one chunk.
  static constexpr std::size_t max_record_bytes =
      max_frame_bytes(sizeof(T), 2 * chunk_values, 1) - max_frame_bytes(sizeof(T), chunk_values, 1) - 4;
  static constexpr std::size_t own_chunk_bytes =
      max_frame_bytes(sizeof(T), chunk_values, 1) + max_plane_record<std::int64_t>;
  FrameHeader chunk_header(std::size_t n) const noexcept {
    return {.codec = frame_id, .type = dtype_of<T>, .count = n, .step = static_cast<double>(quantiser_.step)};
  }
  // Returns a header of which ReferenceIntegers reads the step and the addends: this codec's step, one
  // addend.
  FrameHeader own_header() const noexcept { return {.step = static_cast<double>(quantiser_.step)}; }

  SizeOrStatus accumulate(const FrameReader<T>& frame, const T* values, Bytes out) const;

  // ---- Scaling (scale.cpp)

  SizeOrStatus negate(const FrameReader<T>& frame, Bytes out) const;
  bool negate_chunk(Operand& operand, const FrameReader<T>& frame, PlaneRecordWriter& writer) const;
  std::size_t negate_planes(const Record<T>& record, std::byte* out) const noexcept;

  Quantiser<T> quantiser_;
  Lags lags_;
  References references_ = {};
  bool by_addend_ = false;  // the reference is of an addend: every frame of this codec refers to it
  int threads_;
  const KernelSet& kernels_;
  GeneralPath<T> general_;
};

}  // namespace taut::planes
