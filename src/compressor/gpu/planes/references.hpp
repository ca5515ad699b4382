// The integers of references, from which those of a frame are predicted, as ReferenceIntegers of
// prediction_source.hpp computes them.
#pragma once

#include "compressor/frame/references.hpp"
#include "compressor/gpu/planes/integers.hpp"
#include "compressor/gpu/planes/values.hpp"
#include "compressor/gpu/simt/load.hpp"

namespace taut::planes::cuda {

// Words of a state number.
inline constexpr unsigned state_words = sizeof(std::uint64_t) / 4;

// Arrays as long as the values of a frame.
template <class T>
struct ReferenceArrays {
  const T *newest, *before;  // null: the frame does not name it
};

// Converts values of references to integers on the grid of a frame.
template <class T>
struct ReferenceGrid {
  Quantiser<T> z;  // of which `inverse` is used
  double reciprocal;

  TAUT_DEVICE static ReferenceGrid of(double step) {
    const double reciprocal = 1 / step;
    Quantiser<T> z{};
    z.inverse = static_cast<ComputedIn<T>>(reciprocal);
    return {z, reciprocal};
  }

  // Returns the integer whose multiple is nearest to a value, also if it is not within the bound. Returns 0
  // if that integer has more than 22 bits (as std::int64_t: 43), and for NaN.
  template <class Int>
  TAUT_DEVICE Int integer(T x) const {
    std::int32_t q = 0;
    if (quantise_small(x, z, q)) return q;
    const double shifted = static_cast<double>(x) * reciprocal + 0x1.8p52, integer = shifted - 0x1.8p52;
    constexpr double range = std::int64_t{1} << (sizeof(Int) == 8 ? wide_bits : large_bits);
    return integer < range && integer >= -range ? static_cast<Int>(integer_in(shifted)) : 0;
  }
};

// The prediction of a thread's integers: newest, or 2 * newest - before.
template <class T>
class ReferencePrediction {
 public:
  // `references`: number of arrays that the frame names. `first`: index of the thread's first value.
  TAUT_DEVICE ReferencePrediction(const ReferenceArrays<T>& arrays, unsigned references,
                                  const ReferenceGrid<T>& grid, std::uint64_t first, unsigned values)
      : arrays_(arrays), references_(references), grid_(grid), first_(first), values_(values) {}

  // Adds the prediction to q `times` times, modulo 2^32 or, for a wide record, 2^64.
  template <class Int>
  TAUT_DEVICE void add_to(Int (&q)[block_values], std::make_unsigned_t<Int> times) const {
    add(arrays_.newest, references_ == 2 ? 2 * times : times, q);
    if (references_ == 2) add(arrays_.before, 0 - times, q);
  }

 private:
  template <class Int>
  TAUT_DEVICE void add(const T* array, std::make_unsigned_t<Int> times, Int (&q)[block_values]) const {
    using Bits = std::make_unsigned_t<Int>;
    T x[block_values];
    load_block(array + first_, values_, x);
    TAUT_UNROLLED_BY(at_a_time<Int>)
    for (unsigned i = 0; i < block_values; ++i)
      q[i] = static_cast<Int>(static_cast<Bits>(q[i]) +
                              times * static_cast<Bits>(grid_.template integer<Int>(x[i])));
  }

  const ReferenceArrays<T>& arrays_;
  unsigned references_;
  const ReferenceGrid<T>& grid_;
  std::uint64_t first_;
  unsigned values_;
};

}  // namespace taut::planes::cuda
