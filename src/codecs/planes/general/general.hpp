// The general path: chunks with everything the format allows, exact values, raw layers, 64-bit integers. No
// memory is taken; what a chunk needs stands on the stack.
#pragma once

#include "codecs/planes/format/frame_io.hpp"
#include "codecs/planes/general/general_kernels.hpp"
#include "codecs/planes/record/run_merge.hpp"

namespace taut::planes {

template <class T>
class GeneralPath {
 public:
  GeneralPath(const KernelSet& kernels) noexcept : kernels_(kernels), general_(kernels.general()) {}

  // False: the kernel for small chunks would refuse these values. A look ahead, where that is likely.
  bool may_be_small(const T* values, std::size_t n, const Quantiser<T>& z) const noexcept {
    return general_.of<T>().all_below(values, n, z.step * (1 << (small_bits + 1)));
  }

  // Integers for values beyond the small range; where that is not complete, go on with encode.
  Quantised quantise(const T* whole, std::size_t n, const Quantiser<T>& z, std::int32_t* q,
                     Marks& marks) const noexcept {
    Quantised found = general_.of<T>().quantise(whole, groups_of(n), z, q, marks);
    if (z.exact_bits) found.complete &= !mark_packed(whole, groups_of(n) * group_values, marks);
    return found;
  }

  // Writes the record of a chunk of n values, `q` and `marks` being what quantise gave and `flags` large or
  // not. False: a layer took no more bytes and was written instead. `writer` has room for either.
  bool encode(const T* values, std::size_t n, std::int32_t* q, Marks& marks, std::uint8_t flags,
              const Quantiser<T>& z, Records& writer) const;

  // The same with lags, `q` standing in a LagWindow. False: nothing was written, because in such a frame, or
  // in what becomes of it in a sum without lags, the chunk would take more bytes than a layer.
  bool encode_lagged(const T* values, std::size_t n, std::int32_t* q, Marks& marks, std::uint8_t flags,
                     const Quantiser<T>& z, const Lags& lags, Records& writer) const;

  void decode(const Record<T>& record, const Quantiser<T>& z, T* values) const;

  // The same once the integers are known.
  void decode_integers(const Record<T>& record, const std::int32_t* q, const Quantiser<T>& z,
                       T* values) const;

  // The record of a sum of up to max_operands chunks, which makes `addends` in all; false when it does not
  // fit.
  bool sum(std::span<const Part<T>> parts, std::size_t n, std::uint32_t addends, Predictor predictor,
           Records& writer) const;

 private:
  template <class Int>
  void decode_as(const Record<T>& record, const Quantiser<T>& z, T* values) const;
  void integers(const Record<T>& record, const Quantiser<T>& z, std::int32_t* q, T* values) const;
  void integers(const Record<T>& record, const Quantiser<T>& z, std::int64_t* q, T* values) const;
  void multiply(const std::int32_t* q, std::size_t n, const Quantiser<T>& z, T* values) const;

  void write_layer(const T* values, std::size_t n, const std::int32_t* q, const Marks& marks,
                   const Quantiser<T>& z, Records& writer) const noexcept;
  bool becomes_wide(const T* values, std::size_t n, const Quantiser<T>& z, std::int64_t* q,
                    Marks& marks) const noexcept;
  std::size_t pack_narrow(std::int32_t* q, std::size_t n, std::uint8_t flags, Predictor predictor,
                          std::byte* out) const noexcept;
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

// A few values of a chunk that is not wide may have integers of 64 bits, and where values snap, all of them
// do: they travel as what these come to.
template <class T>
void put_as_decoded(std::byte* runs, std::size_t count, std::size_t run_bytes,
                    const Quantiser<T>& z) noexcept {
  const bool by_integers = sizeof(T) == 8 || z.snaps;
  for (std::size_t i = 0; by_integers && i < count; ++i) {
    std::byte* const value = runs + (i + 1) * run_bytes - sizeof(T);
    store(value, as_decoded(load<T>(value), z));
  }
}

extern template class GeneralPath<float>;
extern template class GeneralPath<double>;
extern template class GeneralPath<f16>;
extern template class GeneralPath<bf16>;

}  // namespace taut::planes
