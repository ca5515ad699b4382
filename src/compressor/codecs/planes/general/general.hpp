// The general path of the planes codec: encodes, decodes and sums chunks with everything that the format
// allows: exact values, raw layers, 64-bit integers. It allocates no memory; the data of a chunk is on the
// stack.
#pragma once

#include "compressor/codecs/planes/kernels/general_kernels.hpp"
#include "compressor/codecs/planes/record/frame_io.hpp"
#include "compressor/codecs/planes/record/run_merge.hpp"

namespace taut::planes {

// Returns a chunk's values, padded to whole groups so that the padding causes no difference.
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

// Returns the most bytes that a record of n values takes without lags and without runs. `flags`: large or 0.
inline std::size_t most_plane_bytes(std::size_t n, std::uint8_t flags) noexcept {
  constexpr std::size_t signs = 3;  // sign bits of the integer, the difference and the second difference
  const std::size_t bits = ((flags & large) != 0 ? large_bits : small_bits) + signs;
  return RecordHeader{}.bytes() + blocks_of(n) * (bits + 1) + sizeof(std::uint32_t);
}

template <class T>
class GeneralPath {
 public:
  GeneralPath(const KernelSet& kernels) noexcept : kernels_(kernels), general_(kernels.general()) {}

  // Returns false if the kernel for small chunks is certain to refuse these values. It is a cheap check in
  // advance where a refusal is likely.
  bool may_be_small(const T* values, std::size_t n, const Quantiser<T>& z) const noexcept {
    return general_.of<T>().all_below(values, n, z.step * (1 << (small_bits + 1)));
  }

  // Returns true if packed integers may be among the values other than those that have no integer anyway.
  bool may_hold_packed(const T* values, std::size_t n, const Quantiser<T>& z) const noexcept {
    return z.exact_bits && (z.step >= safe_step_limit<T> || kernels_.of<T>().any_below_numbers(values, n));
  }

  // Returns true if the integers of all values have up to `bits` bits beside the sign, and there is no NaN.
  bool all_within(const T* values, std::size_t n, const Quantiser<T>& z, int bits) const noexcept {
    return general_.of<T>().all_below(values, n, z.step * static_cast<ComputedIn<T>>((1 << bits) - 1));
  }

  // Returns false if the kernels for large chunks are certain to refuse these values, or there are none. The
  // values are not examined if they are likely to be accepted.
  bool may_be_unchecked(const T* values, std::size_t n, const Quantiser<T>& z, bool likely) const noexcept {
    return kernels_.of<T>().encode_large != nullptr &&
           (likely || general_.of<T>().all_below(values, n, z.step * (1 << unchecked_bits<T>)));
  }

  // Quantises values for the large range. If the result is not complete, the chunk has to be written by
  // encode.
  Quantised quantise(const T* whole, std::size_t n, const Quantiser<T>& z, std::int32_t* q,
                     Marks& marks) const noexcept {
    Quantised found = general_.of<T>().quantise(whole, groups_of(n), z, q, marks);
    if (may_hold_packed(whole, groups_of(n) * group_values, z))
      found.complete &= !mark_packed(whole, groups_of(n) * group_values, marks);
    return found;
  }

  // Writes the record of a chunk of n values. `q` and `marks` are the results of quantise; `flags` is `large`
  // or 0. Returns false if a layer took no more bytes and was written instead. `writer` has room for both
  // forms.
  bool encode(const T* values, std::size_t n, std::int32_t* q, Marks& marks, std::uint8_t flags,
              const Quantiser<T>& z, Records& writer) const;

  // Writes a chunk as a layer if that is certain to be its form. It is a cheap check where layers are likely.
  bool encode_certain_layer(const T* values, std::size_t n, const Quantiser<T>& z, Records& writer) const;

  // Writes the sum of a chunk that consists of layers and of values that are certain to be a layer. Returns
  // false and writes no record in any other case.
  bool accumulate_certain_layer(const Part<T>& part, const T* values, std::size_t n, const Quantiser<T>& z,
                                Records& writer) const;

  // Writes the sum of a chunk and of values whose own record is certain to have planes, with or without runs.
  // Returns false and writes no record in any other case.
  bool accumulate_runs(const Part<T>& part, const T* values, std::size_t n, std::uint32_t addends,
                       const Quantiser<T>& z, Records& writer) const;

  // Writes a chunk as a layer of these values.
  void write_values(const T* values, std::size_t n, Records& writer) const noexcept;

  // Writes the record of a chunk in a frame with lags or references. Returns false and writes nothing if the
  // chunk could take more bytes than a layer, either in this frame or after a sum drops lags or references.
  bool encode_residuals(const T* values, std::size_t n, std::int32_t* q, Marks& marks, std::uint8_t flags,
                        const Quantiser<T>& z, const Earlier& earlier, Records& writer) const;

  void decode(const Record<T>& record, const Quantiser<T>& z, T* values) const;

  // values <- values + operand, for real values.
  void add_values(T* values, const T* operand, std::size_t n) const noexcept {
    general_.of<T>().add(values, operand, n);
  }

  // Decodes a record whose integers are known.
  void decode_integers(const Record<T>& record, const std::int32_t* q, const Quantiser<T>& z,
                       T* values) const;

  // Decodes a wide record, to whose integers others are added.
  void decode_wide(const Record<T>& record, const std::int32_t* others, const Quantiser<T>& z,
                   T* values) const;

  // Writes the record of the sum of up to max_operands chunks, with `addends` in total. Returns false if the
  // record does not fit.
  bool sum(std::span<const Part<T>> parts, std::size_t n, std::uint32_t addends, Predictor predictor,
           Records& writer) const;

 private:
  template <class Int>
  void decode_as(const Record<T>& record, const Quantiser<T>& z, T* values) const;
  void integers(const Record<T>& record, const Quantiser<T>& z, std::int32_t* q, T* values) const;
  void integers(const Record<T>& record, const Quantiser<T>& z, std::int64_t* q, T* values) const;
  void multiply(const std::int32_t* q, std::size_t n, const Quantiser<T>& z, T* values) const;

  bool write_certain_layers(const std::byte* before, std::size_t layers, const T* values, std::size_t n,
                            const Quantiser<T>& z, Records& writer) const;
  void write_layer(const T* values, std::size_t n, const Marks& unchanged, const Quantiser<T>& z,
                   Records& writer) const noexcept;
  bool becomes_wide(const T* values, std::size_t n, const Quantiser<T>& z, std::int64_t* q,
                    Marks& marks) const noexcept;
  std::size_t pack_narrow(std::int32_t* q, std::size_t n, std::uint8_t flags,
                          const ChunkPrediction& prediction, std::byte* out) const noexcept;
  std::size_t add_narrow(const Record<T>& record, const std::int32_t* q, std::size_t n, std::uint8_t flags,
                         Predictor predictor, std::byte* out) const noexcept;
  std::size_t finish_narrow(PlanesOut& planes, RecordHeader h, std::size_t n, std::byte* out) const noexcept;
  std::size_t pack_wide(std::int64_t* q, std::size_t n, std::uint8_t flags, Predictor predictor,
                        std::byte* out) const noexcept;
  std::size_t sum_narrow(std::span<const Part<T>> parts, std::size_t n, std::uint8_t flags,
                         std::byte* out) const noexcept;
  std::size_t sum_integers(std::span<const Part<T>> parts, std::size_t n, std::uint8_t flags,
                           Predictor predictor, std::byte* out) const noexcept;
  std::size_t sum_wide(std::span<const Part<T>> parts, std::size_t n, std::uint8_t flags, Predictor predictor,
                       std::byte* out) const noexcept;

  const KernelSet& kernels_;
  const GeneralKernels& general_;
};

// True if a value without a 22-bit integer may have another decoded form than itself: a 64-bit integer, or a
// multiple of the step.
template <class T>
bool decodes_otherwise(const Quantiser<T>& z) noexcept {
  return sizeof(T) == 8 || z.snaps;
}

// Replaces each value of `runs` that has a 64-bit integer by the value that decoding that integer gives. This
// is true of a few values of a float64 chunk that is not wide, and of all values under a snapping bound.
template <class T>
void replace_by_decoded(std::byte* runs, std::size_t count, std::size_t run_bytes,
                        const Quantiser<T>& z) noexcept {
  for (std::size_t i = 0; decodes_otherwise(z) && i < count; ++i) {
    std::byte* const value = runs + (i + 1) * run_bytes - sizeof(T);
    store(value, as_decoded(load<T>(value), z));
  }
}

}  // namespace taut::planes
