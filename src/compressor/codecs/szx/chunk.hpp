// Conversion of a chunk of values to its record in the frame, and back. Layout: spec.md.
#pragma once

#include "compressor/codecs/szx/kernels.hpp"
#include "compressor/values/reduction.hpp"

namespace taut::szx {

// Writes the record of `n` values. Returns its bytes: a multiple of 4, at most raw_record_bytes, 0 for a
// chunk of zeros. `to` has room for max_record_bytes<T>.
template <class T>
std::size_t encode_chunk(const T* values, std::size_t n, const Grid<T>& grid, const Kernels<T>& kernels,
                         std::byte* to) noexcept;

// Returns the bytes of a raw record of n values.
template <class T>
constexpr std::size_t raw_record_bytes(std::size_t n) noexcept {
  return raw_head_bytes + n * sizeof(T);
}

// decode_chunk() writes the values of a record; reduce_chunk() computes values <- values op record. Both
// return false for a damaged record; `values` may then hold anything.
template <class T>
bool decode_chunk(ConstBytes record, std::size_t n, const Grid<T>& grid, const Kernels<T>& kernels,
                  T* values) noexcept;
template <class T>
bool reduce_chunk(ConstBytes record, std::size_t n, const Grid<T>& grid, const Kernels<T>& kernels, T* values,
                  Reduction op) noexcept;

}  // namespace taut::szx
