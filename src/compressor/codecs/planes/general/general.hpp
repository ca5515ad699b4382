// The general path of the planes codec: encodes, decodes and sums any chunk, also one with exact values, raw
// layers or 64-bit integers. The data of a chunk is on the stack.
#pragma once

#include "compressor/codecs/planes/kernels/general_kernels.hpp"
#include "compressor/codecs/planes/record/frame_io.hpp"
#include "compressor/codecs/planes/record/run_merge.hpp"

namespace taut::planes {

// Returns a chunk's values, padded to whole groups: by the last value, with Predictor::pairs by the last two
// in turn, without a predictor by zeros.
template <class T>
const T* whole_groups(const T* values, std::size_t n, Predictor predictor,
                      T (&padded)[chunk_values]) noexcept {
  if (n % group_values == 0) return values;
  const std::size_t back = predictor_distance(predictor);
  std::memcpy(padded, values, n * sizeof(T));
  for (std::size_t i = n; i < groups_of(n) * group_values; ++i)
    padded[i] = back == 0 ? T{} : padded[i < back ? 0 : i - back];
  return padded;
}

// Returns the size in bytes of the largest record of n values without lags and runs. `flags`: large or 0.
inline std::size_t max_plane_bytes(std::size_t n, std::uint8_t flags) noexcept {
  constexpr std::size_t signs = 3;  // the integer's sign, and a bit for each of two differences
  const std::size_t bits = ((flags & large) != 0 ? large_bits : small_bits) + signs;
  return RecordHeader{}.bytes() + blocks_of(n) * (bits + 1) + sizeof(std::uint32_t);
}

template <class T>
class GeneralPath {
 public:
  GeneralPath(const KernelSet& kernels) noexcept : kernels_(kernels), general_(kernels.general()) {}

  // Returns false if some value is certain to have no small integer, so that the kernel for small chunks
  // would refuse the chunk. The check is cheaper than the refusal.
  bool may_fit_small_kernel(const T* values, std::size_t n, const Quantiser<T>& z) const noexcept {
    return general_.for_type<T>().all_below(values, n, z.step * (1 << (small_bits + 1)));
  }

  // Returns true if packed integers may be among the values, apart from those without an integer under this
  // step.
  bool may_hold_packed(const T* values, std::size_t n, const Quantiser<T>& z) const noexcept {
    return z.exact_bits &&
           (z.step >= safe_step_limit<T> || kernels_.for_type<T>().any_below_numbers(values, n));
  }

  // Returns true if the integers of all values have up to `bits` bits beside the sign, and there is no NaN.
  bool all_within(const T* values, std::size_t n, const Quantiser<T>& z, int bits) const noexcept {
    return general_.for_type<T>().all_below(values, n, z.step * static_cast<ComputedIn<T>>((1 << bits) - 1));
  }

  // Returns false if this kernel set has no kernels for large chunks, or they are certain to refuse the
  // values. `likely`: the kernels are likely to accept the values, which are then not examined.
  bool may_fit_large_kernel(const T* values, std::size_t n, const Quantiser<T>& z,
                            bool likely) const noexcept {
    return kernels_.for_type<T>().encode_large != nullptr &&
           (likely || general_.for_type<T>().all_below(values, n, z.step * (1 << unchecked_bits<T>)));
  }

  // Quantises values to integers of the large range. Unless all have one, encode() has to write the chunk.
  QuantisedChunk quantise(const T* whole, std::size_t n, const Quantiser<T>& z, std::int32_t* q,
                          ChunkMask& marks) const noexcept {
    QuantisedChunk found = general_.for_type<T>().quantise(whole, groups_of(n), z, q, marks);
    if (may_hold_packed(whole, groups_of(n) * group_values, z))
      found.all_have_integers &= !mark_packed(whole, groups_of(n) * group_values, marks);
    return found;
  }

  // Writes the record of a chunk of n values. `q` and `marks` are the results of quantise; `flags` is `large`
  // or 0. Returns false if a raw layer took no more bytes and was written instead. `writer` has room for both
  // forms.
  bool encode(const T* values, std::size_t n, std::int32_t* q, ChunkMask& marks, std::uint8_t flags,
              const Quantiser<T>& z, PlaneRecordWriter& writer) const;

  // Writes a chunk if it is certain to become a raw layer in encode(). Returns false and writes no record in
  // any other case. The check is cheap where raw layers are likely.
  bool encode_if_surely_raw_layer(const T* values, std::size_t n, const Quantiser<T>& z,
                                  PlaneRecordWriter& writer) const;

  // Writes the sum of a chunk that consists of raw layers, and of values that encode() is certain to write as
  // one. Returns false and writes no record in any other case.
  bool accumulate_if_surely_raw_layer(const ChunkOperand<T>& operand, const T* values, std::size_t n,
                                      const Quantiser<T>& z, PlaneRecordWriter& writer) const;

  // Writes the sum of a chunk and of values, some without an integer, that encode() is certain to write as
  // planes. Returns false and writes no record in any other case.
  bool accumulate_runs(const ChunkOperand<T>& operand, const T* values, std::size_t n, std::uint32_t addends,
                       const Quantiser<T>& z, PlaneRecordWriter& writer) const;

  // Writes a chunk as a raw layer of these values.
  void write_layer_of(const T* values, std::size_t n, PlaneRecordWriter& writer) const noexcept;

  // Writes the record of a chunk in a frame with lags or references. Returns false and writes nothing if the
  // chunk could take more bytes than a raw layer, either in this frame or after a sum drops lags or
  // references.
  bool encode_residuals(const T* values, std::size_t n, std::int32_t* q, ChunkMask& marks, std::uint8_t flags,
                        const Quantiser<T>& z, const EarlierIntegers& earlier,
                        PlaneRecordWriter& writer) const;

  // Returns true if many more values have a wide integer than a large one, whose lack `marks` marks. `q` then
  // has the wide integers, and `marks` marks the values without one.
  bool becomes_wide(const T* values, std::size_t n, const Quantiser<T>& z, std::int64_t* q,
                    ChunkMask& marks) const noexcept;

  // Writes a wide record of differences from `predicted`, of a chunk of which becomes_wide() returned `q` and
  // `marks`. Returns false and writes nothing if the record does not fit, or is not smaller than a raw layer.
  bool encode_wide_residuals(const T* values, std::size_t n, std::int64_t* q, const ChunkMask& marks,
                             const Quantiser<T>& z, const std::int64_t* predicted,
                             PlaneRecordWriter& writer) const;

  // Decodes any record.
  void decode(const Record<T>& record, const Quantiser<T>& z, T* values) const;

  // values <- values + operand, for real values.
  void add_values(T* values, const T* operand, std::size_t n) const noexcept {
    general_.for_type<T>().add(values, operand, n);
  }

  // Decodes a record whose integers are in `q`.
  void decode_integers(const Record<T>& record, const std::int32_t* q, const Quantiser<T>& z,
                       T* values) const;

  // Decodes a wide record, whose integers are added to those at `q`, in whole blocks.
  void decode_wide(const Record<T>& record, std::int64_t* q, const Quantiser<T>& z, T* values) const;

  // Writes the record of the sum of up to max_operands chunks, with `addends` in total. Returns false if the
  // record does not fit.
  bool sum(std::span<const ChunkOperand<T>> operands, std::size_t n, std::uint32_t addends,
           Predictor predictor, PlaneRecordWriter& writer) const;

 private:
  // Decodes the record with integers of type Int; decode_planes() leaves out exact values.
  template <class Int>
  void decode_as(const Record<T>& record, const Quantiser<T>& z, T* values) const;
  void decode_planes(const Record<T>& record, const Quantiser<T>& z, std::int32_t* q, T* values) const;
  void decode_planes(const Record<T>& record, const Quantiser<T>& z, std::int64_t* q, T* values) const;
  void dequantise_all(const std::int32_t* q, std::size_t n, const Quantiser<T>& z, T* values) const;

  bool write_if_surely_raw_layers(const std::byte* before, std::size_t layers, const T* values, std::size_t n,
                                  const Quantiser<T>& z, PlaneRecordWriter& writer) const;
  void write_layer(const T* values, std::size_t n, const ChunkMask& unchanged, const Quantiser<T>& z,
                   PlaneRecordWriter& writer) const noexcept;
  // These write header, planes and widths of a record to `out`, and return the bytes written. Narrow integers
  // have 32 bits, wide ones 64.
  std::size_t write_narrow(std::int32_t* q, std::size_t n, std::uint8_t flags,
                           const ChunkPrediction& prediction, std::byte* out) const noexcept;
  std::size_t add_narrow(const Record<T>& record, const std::int32_t* q, std::size_t n, std::uint8_t flags,
                         Predictor predictor, std::byte* out) const noexcept;
  std::size_t finish_narrow(PlanesOut& planes, RecordHeader h, std::size_t n, std::byte* out) const noexcept;
  std::size_t write_wide(std::int64_t* q, std::size_t n, std::uint8_t flags, Predictor predictor,
                         std::byte* out) const noexcept;
  std::size_t sum_narrow(std::span<const ChunkOperand<T>> operands, std::size_t n, std::uint8_t flags,
                         std::byte* out) const noexcept;
  std::size_t sum_integers(std::span<const ChunkOperand<T>> operands, std::size_t n, std::uint8_t flags,
                           Predictor predictor, std::byte* out) const noexcept;
  std::size_t sum_wide(std::span<const ChunkOperand<T>> operands, std::size_t n, std::uint8_t flags,
                       Predictor predictor, std::byte* out) const noexcept;

  const KernelSet& kernels_;
  const GeneralKernels& general_;
};

// Returns true if a value without a 22-bit integer may decode to another value: that of a 64-bit integer, or
// a multiple of the step.
template <class T>
bool decodes_otherwise(const Quantiser<T>& z) noexcept {
  return sizeof(T) == 8 || z.snaps;
}

// Replaces the values of `runs` by their decoded forms. They differ for values with a 64-bit integer, of
// which a float64 chunk that is not wide may have a few, and under a snapping bound.
template <class T>
void replace_by_decoded(std::byte* runs, std::size_t count, std::size_t run_bytes,
                        const Quantiser<T>& z) noexcept {
  for (std::size_t i = 0; decodes_otherwise(z) && i < count; ++i) {
    std::byte* const value = runs + (i + 1) * run_bytes - sizeof(T);
    store(value, as_decoded(load<T>(value), z));
  }
}

}  // namespace taut::planes
