// Encoding, decoding and sums of frames of one value type. Chunks are processed by the kernels, and by the
// general path where a kernel does not support them.
#pragma once

#include "compressor/codecs/planes/format/lags.hpp"
#include "compressor/codecs/planes/prediction_source.hpp"
#include "compressor/frame/codec.hpp"
#include "compressor/values/value_statistics.hpp"

namespace taut::planes {

// Estimates the bytes that a message takes under each prediction, from a few of its pieces. The values a lag
// before a piece are looked up in the message, and those of references in these; encoding the pieces alone
// could not use them. `references`: as many as any of the predictions needs.
// Sets bytes[k] to the bytes of the pieces' records under predictions[k], with a surcharge for slow
// predictions. Returns the bytes of the pieces' values. Returns 0 if the integers allow no estimate, because
// many need 64 bits or there are none.
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
      : z_(Quantiser<T>::make(bound, Predictor::delta, bits)),
        threads_(threads),
        kernels_(kernels),
        general_(kernels) {}

  // Returns a copy of the codec that encodes with `prediction`, and with the references that it needs of
  // those given.
  TypedCodec with(const Prediction& prediction, References references = {}) const noexcept {
    TypedCodec other = *this;
    other.z_.predictor = prediction.inner;
    other.lags_ = prediction.lags;
    other.references_ = references.first(prediction.references);
    other.by_addend_ = prediction.by_addend;
    return other;
  }

  // Slices have type T or complex values with parts of type T. `out` holds max_frame_bytes. Returns the
  // frame's bytes.
  std::size_t encode(ConstSlice values, FrameHeader header, Bytes out) const {
    header.step = static_cast<double>(z_.step);
    const ConstSlice parts{values.components()};
    const T* const data = static_cast<const T*>(parts.data);
    Prediction usable = prediction();
    usable.lags = lags_.within(parts.count);
    if ((usable.lags.any() || !references_.empty()) && z_.step != 0 && parts.count > 0) {
      const std::size_t bytes = with(usable, references_).encode_residuals(data, parts.count, header, out);
      if (bytes > 0 || by_addend_) return bytes;
    }
    return encode_likely(Form::simple, 8, data, parts.count, header, out);
  }
  // Estimates the bytes of the components under each prediction, from a sample.
  std::size_t estimate(ConstSlice values, References references, std::span<const Prediction> predictions,
                       std::span<std::size_t> bytes) const noexcept {
    const ConstSlice parts{values.components()};
    const ReferenceIntegers<T> integers(references, own_header(), kernels_);
    return planes::estimate(static_cast<const T*>(parts.data), parts.count, z_, kernels_, integers,
                            predictions, bytes);
  }

  Status decode(ConstBytes in, References references, Slice values) const;
  Status reduce(ConstBytes in, References references, Slice values, Reduction op) const;

  // Write up to the end of `out`; return buffer_too_small if the result does not fit.
  SizeOrStatus sum(std::span<const ConstBytes> frames, Bytes out) const;
  SizeOrStatus accumulate(ConstBytes frame, ConstSlice values, References references, Bytes out) const;

  // Returns true if every value has an integer of at most 22 bits.
  bool has_integers(ConstSlice values) const;

  // Multiplies a frame by a number other than 0; see scale.cpp.
  SizeOrStatus scale(ConstBytes frame, double factor, Bytes out) const;
  Status summarize(ConstBytes frame, ValueStatistics& statistics) const;

 private:
  // One chunk of a frame that is decoded or summed.
  struct Operand {
    Record<T> record;
    Predictor predictor = Predictor::delta;
    const std::byte* raw = nullptr;          // values of a chunk of a stored frame
    const std::int32_t* integers = nullptr;  // integers of a record of residuals, after resolve
    Padding padding;
    PredictionSource<T> source;
    std::int32_t* room = nullptr;  // in `source`: room for the integers of this chunk

    // Prepare to read the chunks of `frame`. If the frame has lags, they are read in order, and each chunk
    // has to be resolved on the way, either by resolve or by a kernel that fills `room`. If it has
    // references, the same is true of each chunk whose integers are needed; `references`: those of the frame.
    void follow_lags(const FrameReader<T>& frame);
    Status follow(const FrameReader<T>& frame, const ReferenceIntegers<T>& references);
    void resolve(const KernelSet& kernels) noexcept;
    Status read(const FrameReader<T>& frame, std::size_t i, const KernelSet& kernels) noexcept;
    bool simple() const noexcept { return raw == nullptr && integers == nullptr && record.simple(); }
    std::uint8_t size_flag() const noexcept { return raw == nullptr ? record.header.flags & large : 0; }
    Part<T> part() const noexcept { return {&record, predictor, raw, integers}; }
  };

  Prediction prediction() const noexcept {
    return {z_.predictor, lags_, static_cast<unsigned>(references_.size()), by_addend_};
  }

  // Returns true if the references begin with those of a frame, or it has none.
  static bool names(const FrameReader<T>& frame, References references) noexcept {
    if (!frame.states().any()) return true;
    const auto count = static_cast<std::size_t>(frame.header().count);
    return begin_with(references, frame.states(), {{nullptr, count, frame.header().type}});
  }

  // Returns the number of threads that process a frame: one if chunks depend on earlier chunks.
  std::size_t parts_for(std::size_t chunks, const Prediction& prediction) const noexcept {
    return prediction.lags.any() ? 1 : parts_of(threads_, chunks);
  }
  template <class Use>
  Status for_chunks(const FrameReader<T>& frame, References references, const Use& use) const;

  // A float holds every integer up to 2^24, so one product in float is correctly rounded. For halves it is
  // even exact.
  static constexpr bool exact_in_type(std::uint8_t flags, std::uint32_t addends) noexcept {
    return sizeof(T) == 8 || greatest_sum(flags, addends) <= std::uint64_t{1} << 24;
  }

  // Form in which a chunk is encoded. simple, unchecked: by the kernels of the small and of the large range.
  // general: by the general path (general/general.hpp). layer: as its values, uncoded.
  enum class Form { simple, unchecked, general, layer };
  // `before`: form of the previous chunk, used as a guess for this one; it does not affect the bytes written.
  Form encode_chunk(const T* values, std::size_t n, Form before, unsigned& width_class,
                    Records& writer) const;
  // Encodes a frame without lags and references. `form`, `width_class`: guesses for the first chunk of each
  // thread.
  std::size_t encode_likely(Form form, unsigned width_class, const T* values, std::size_t count,
                            FrameHeader header, Bytes out) const;

  // ---- With lags or references (residuals.cpp)

  // Returns the source of predictions for a frame with the lags or references of this codec.
  PredictionSource<T> source_of_predictions(const ReferenceIntegers<T>& references, std::size_t count) const {
    return references_.empty() ? PredictionSource<T>(lags_, count)
                               : PredictionSource<T>(lags_, references, count);
  }
  // Returns 0 if the frame has to be encoded without lags and references; of an addend, if there is no
  // memory.
  std::size_t encode_residuals(const T* values, std::size_t count, FrameHeader header, Bytes out) const;
  bool encode_from_references(const T* values, std::size_t n, PredictionSource<T>& source, Form form,
                              unsigned& width_class, Records& writer) const;
  // Returns false if the frame has to be encoded without them or `writer` is full.
  bool encode_residual_chunk(const T* values, std::size_t n, const Earlier& earlier, std::int32_t* q,
                             Form& form, unsigned& width_class, Records& writer) const;
  bool write_residuals(std::int32_t* q, std::size_t n, const Earlier& earlier, std::uint8_t flags,
                       unsigned& width_class, Records& writer) const;
  // Writes the integers of a chunk to `q`. Returns false if the general path has to encode the chunk:
  // some value has no integer (its bit in `marks` is set), or the values are halves with large integers.
  bool quantise_chunk(const T* values, std::size_t n, Form& form, std::int32_t* q, Marks& marks,
                      std::uint8_t& flags) const;

  // Encodes a chunk of an addend whatever its values are: as the sum of its record and of one with the
  // negative prediction. Returns false if `writer` is full.
  bool encode_difference_chunk(const T* values, std::size_t n, const Earlier& earlier, Records& writer) const;

  // no_residuals: the sum has to be written without lags and references.
  enum class Residuals { done, no_residuals, full };
  SizeOrStatus accumulate_residuals(const FrameReader<T>& frame, const T* values, FrameHeader total,
                                    Bytes out, bool& no_residuals) const;
  Residuals accumulate_residual_chunk(const Operand& operand, const T* values, std::size_t n,
                                      const Earlier& earlier, std::int32_t* q, std::uint32_t addends,
                                      Form& form, unsigned& width_class, Records& writer) const;

  // Returns true if packed integers may be among the values, so that the kernels for small chunks cannot be
  // used. Those kernels treat packed integers beyond the zone of numbers like other outliers.
  bool may_hold_packed(const T* values, std::size_t n) const noexcept {
    return general_.may_hold_packed(values, n, z_);
  }

  // Sets planes.width_class to the smallest class that holds the chunk's differences.
  bool commit_planes(PlanesOut& planes, std::uint8_t flags, std::size_t n, Records& writer) const noexcept;

  // `size`: of the values' integers, 0 or large.
  bool accumulate_planes(const Record<T>& record, const T* whole, std::size_t groups, std::uint8_t size,
                         PlanesOut& out) const noexcept;

  bool accumulate_integers(const Record<T>& record, const T* whole, std::size_t n,
                           PlanesOut& out) const noexcept;

  void decode_chunk(Operand& operand, std::uint32_t addends, const Quantiser<T>& z, T* values,
                    std::size_t n) const;
  bool decode_from_references(Operand& operand, const Quantiser<T>& z, T* whole, std::size_t groups) const;
  void decode_groups(Operand& operand, std::uint32_t addends, const Quantiser<T>& z, T* whole,
                     std::size_t groups) const;

  bool sum_chunk(std::span<const Operand* const> operands, std::size_t n, std::uint32_t addends,
                 Predictor predictor, Records& writer) const;
  // `form`: of the chunk before, as a guess; on return, of this one.
  bool accumulate_chunk(const Operand& operand, const T* values, std::size_t n, std::uint32_t addends,
                        Form& form, unsigned& width_class, Records& writer) const;
  bool accumulate_general(const Operand& operand, const T* values, std::size_t n, std::uint32_t addends,
                          Records& writer) const;
  // Adds a chunk that is encoded in a frame of its own.
  bool add_chunk(const Operand& operand, ConstBytes own_frame, std::size_t n, std::uint32_t addends,
                 Records& writer) const;
  // Most bytes of a record with one addend.
  static constexpr std::size_t most_record_bytes =
      max_frame_bytes(sizeof(T), 2 * chunk_values, 1) - max_frame_bytes(sizeof(T), chunk_values, 1) - 4;
  static constexpr std::size_t own_chunk_bytes =
      max_frame_bytes(sizeof(T), chunk_values, 1) + max_plane_record<std::int64_t>;
  FrameHeader chunk_header(std::size_t n) const noexcept {
    return {.codec = frame_id, .type = dtype_of<T>, .count = n, .step = static_cast<double>(z_.step)};
  }
  // Returns what a frame of this codec, with one addend, says about the integers of references.
  FrameHeader own_header() const noexcept { return {.step = static_cast<double>(z_.step)}; }

  SizeOrStatus accumulate(const FrameReader<T>& frame, const T* values, Bytes out) const;

  // ---- Scaling (scale.cpp)

  SizeOrStatus negate(const FrameReader<T>& frame, Bytes out) const;
  bool negate_chunk(Operand& operand, const FrameReader<T>& frame, Records& writer) const;
  std::size_t negate_planes(const Record<T>& record, std::byte* out) const noexcept;

  Quantiser<T> z_;
  Lags lags_;
  References references_ = {};
  bool by_addend_ = false;  // the reference is of an addend: every frame of this codec refers to it
  int threads_;
  const KernelSet& kernels_;
  GeneralPath<T> general_;
};

}  // namespace taut::planes
