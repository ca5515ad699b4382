// Frames of one value type: chunk by chunk through the kernels, with the general path for what they do not
// take.
#pragma once

#include "codecs/planes/estimate.hpp"
#include "codecs/planes/general/general.hpp"
#include "codecs/planes/lags/lag_window.hpp"
#include "core/codec.hpp"

namespace taut::planes {

// Largest frame of a sum of `addends`. A chunk takes no more than its values, padded to blocks, and 12 bytes;
// of halves also 16 bits a block, for the bit by which second differences of small integers may be longer
// than they are and for the table of widths. In a sum of one prediction the widths of a block add up at most
// and runs stay as many; but in 64-bit records these are longer (14 for 10, 16 for 12, 20 for 16 bytes), and
// the table of widths may go from nibbles to bytes. Where predictions differ, integers that one of them made
// small may take all their bits in the sum, beside all runs.
constexpr std::size_t max_frame_bytes(std::size_t value_bytes, std::size_t count,
                                      std::uint32_t addends) noexcept {
  const std::size_t table = value_bytes == 2 ? 2 * blocks_of(count) : 0;
  const std::size_t records = 12 * chunks_of(count) + blocks_of(count) * block_values * value_bytes + table;
  const bool may_be_wide = value_bytes == 8 || addends >= 256;
  const std::size_t longer = !may_be_wide ? 0 : value_bytes == 2 ? records / 2 : records / 3;
  const std::size_t integers = blocks_of(count) * block_values * (may_be_wide ? 8 : 4);
  const std::size_t sum = addends * (records + longer) + integers + 640 * chunks_of(count);
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

  // The same codec, encoding with that prediction.
  TypedCodec with(const Prediction& prediction) const noexcept {
    TypedCodec other = *this;
    other.z_.predictor = prediction.inner;
    other.lags_ = prediction.lags;
    return other;
  }

  // Slices are of T, or of complex numbers of them. `out` holds max_frame_bytes; returns the frame's bytes.
  std::size_t encode(ConstSlice values, FrameHeader header, Bytes out) const {
    header.step = static_cast<double>(z_.step);
    const ConstSlice parts{values.components()};
    const T* const data = static_cast<const T*>(parts.data);
    const Lags lags = lags_.within(parts.count);
    if (lags.any() && z_.step != 0)
      if (const std::size_t bytes = with({z_.predictor, lags}).encode_lagged(data, parts.count, header, out))
        return bytes;
    return encode_likely(Form::simple, 8, data, parts.count, header, out);
  }
  // As estimate.hpp says, of the components.
  std::size_t estimate(ConstSlice values, std::span<const Prediction> predictions,
                       std::span<std::size_t> bytes) const noexcept {
    const ConstSlice parts{values.components()};
    return planes::estimate(static_cast<const T*>(parts.data), parts.count, z_, kernels_, predictions, bytes);
  }

  Status decode(ConstBytes in, Slice values) const;
  Status reduce(ConstBytes in, Slice values, Reduction op) const;

  // Write as far as `out` reaches; buffer_too_small beyond.
  Sized sum(std::span<const ConstBytes> frames, Bytes out) const;
  Sized accumulate(ConstBytes frame, ConstSlice values, Bytes out) const;

 private:
  // One chunk of a frame that takes part in a decoding or a sum.
  struct Operand {
    Record<T> record;
    Predictor predictor = Predictor::delta;
    const std::byte* raw = nullptr;          // of a stored frame
    const std::int32_t* integers = nullptr;  // of a record with lags, once these are resolved
    Padding padding;
    Lags lags;
    LagWindow history;
    std::int32_t* room = nullptr;  // in it, for the integers of this chunk

    // From now on chunk after chunk is read of a frame whose lags, if any, are resolved on the way: of each
    // chunk by resolve, or by a kernel that fills the room.
    void follow_lags(const FrameReader<T>& frame);
    void resolve(const KernelSet& kernels) noexcept;
    Status read(const FrameReader<T>& frame, std::size_t i, const KernelSet& kernels) noexcept;
    bool simple() const noexcept { return raw == nullptr && integers == nullptr && record.simple(); }
    std::uint8_t size_flag() const noexcept { return raw == nullptr ? record.header.flags & large : 0; }
    Part<T> part() const noexcept { return {&record, predictor, raw, integers}; }
  };

  // Threads that a frame is worked on by: one where chunks need those before them.
  std::size_t parts_for(std::size_t chunks, const Prediction& prediction) const noexcept {
    return prediction.lags.any() ? 1 : parts_of(threads_, chunks);
  }
  template <class Use>
  Status for_chunks(const FrameReader<T>& frame, const Use& use) const;

  // Up to 2^24 a float holds every integer: one product in float is correctly rounded, of halves even exact.
  static constexpr bool exact_in_type(std::uint8_t flags, std::uint32_t addends) noexcept {
    return sizeof(T) == 8 || greatest_sum(flags, addends) <= std::uint64_t{1} << 24;
  }

  enum class Form { simple, general, layer };
  // `before`: the form of the chunk before, and likely of this one; no matter for the bytes.
  Form encode_chunk(const T* values, std::size_t n, Form before, unsigned& width_class,
                    Records& writer) const;
  std::size_t encode_likely(Form form, unsigned width_class, const T* values, std::size_t count,
                            FrameHeader header, Bytes out) const;

  // ---- With lags (lagged.cpp)

  // 0: the frame has to do without.
  std::size_t encode_lagged(const T* values, std::size_t count, FrameHeader header, Bytes out) const;
  // False: so does it, or `writer` is full.
  bool encode_lagged_chunk(const T* values, std::size_t n, std::int32_t* q, Form& form, unsigned& width_class,
                           Records& writer) const;
  bool write_lagged(std::int32_t* q, std::size_t n, std::uint8_t flags, unsigned& width_class,
                    Records& writer) const;
  // Writes the integers of a chunk to a LagWindow; false: some value has none, `marks` names them.
  bool quantise_chunk(const T* values, std::size_t n, Form& form, std::int32_t* q, Marks& marks,
                      std::uint8_t& flags) const;

  enum class Lagged { done, not_lagged, full };  // not_lagged: the sum has to do without
  Sized accumulate_lagged(const FrameReader<T>& frame, const T* values, FrameHeader total, Bytes out,
                          Lagged& outcome) const;
  Lagged accumulate_lagged_chunk(const Operand& operand, const T* values, std::size_t n, std::int32_t* q,
                                 std::uint32_t addends, Form& form, unsigned& width_class,
                                 Records& writer) const;

  // Whether packed integers among the values may keep the kernels for small chunks from being used. Those
  // beyond the zone of numbers are for these kernels what other outliers are.
  bool may_hold_packed(const T* values, std::size_t n) const noexcept {
    return z_.exact_bits && (z_.step >= coarse_step<T> || kernels_.of<T>().any_tiny(values, n));
  }

  // Leaves in planes.width_class what would have served.
  bool commit_planes(PlanesOut& planes, std::uint8_t flags, std::size_t n, Records& writer) const noexcept;

  bool accumulate_planes(const Record<T>& record, const T* whole, std::size_t groups,
                         PlanesOut& out) const noexcept;

  void decode_chunk(Operand& operand, std::uint32_t addends, const Quantiser<T>& z, T* values,
                    std::size_t n) const;
  void decode_groups(const Operand& operand, std::uint32_t addends, const Quantiser<T>& z, T* whole,
                     std::size_t groups) const;

  bool sum_chunk(std::span<const Operand* const> operands, std::size_t n, std::uint32_t addends,
                 Predictor predictor, Records& writer) const;
  bool accumulate_chunk(const Operand& operand, const T* values, std::size_t n, std::uint32_t addends,
                        unsigned& width_class, Records& writer) const;
  bool accumulate_general(const Operand& operand, const T* values, std::size_t n, std::uint32_t addends,
                          Records& writer) const;
  // Adds a chunk that stands in a frame of its own.
  bool add_chunk(const Operand& operand, ConstBytes own_frame, std::size_t n, std::uint32_t addends,
                 Records& writer) const;
  // Of one addend.
  static constexpr std::size_t most_record_bytes =
      max_frame_bytes(sizeof(T), 2 * chunk_values, 1) - max_frame_bytes(sizeof(T), chunk_values, 1) - 4;
  static constexpr std::size_t own_chunk_bytes =
      max_frame_bytes(sizeof(T), chunk_values, 1) + max_plane_record<std::int64_t>;
  FrameHeader chunk_header(std::size_t n) const noexcept {
    return {.codec = frame_id, .type = dtype_of<T>, .count = n, .step = static_cast<double>(z_.step)};
  }

  Sized accumulate(const FrameReader<T>& frame, const T* values, Bytes out) const;

  Quantiser<T> z_;
  Lags lags_;
  int threads_;
  const KernelSet& kernels_;
  GeneralPath<T> general_;
};

// A chunk's values, completed to whole groups so that no difference arises beyond them.
template <class T>
const T* whole_groups(const T* values, std::size_t n, Predictor predictor,
                      T (&padded)[chunk_values]) noexcept {
  if (n % group_values == 0) return values;
  const std::size_t back = lag(predictor);
  std::memcpy(padded, values, n * sizeof(T));
  for (std::size_t i = n; i < groups_of(n) * group_values; ++i)
    padded[i] = back == 0 ? T{} : padded[i < back ? 0 : i - back];
  return padded;
}

}  // namespace taut::planes
