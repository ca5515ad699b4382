// Sources of integers (loops.hpp) for kernels that process whole chunks: read(groups, room) returns the
// integers of a chunk, which may be in `room`. The compiler vectorises these loops for each kernel set.
#pragma once

#include "compressor/codecs/planes/kernels/kernels.hpp"

namespace taut::planes {
namespace {  // one copy for each kernel set, compiled with its instructions

// Residuals of integers; without a prediction, the integers themselves.
class ChunkResiduals {
 public:
  ChunkResiduals(const std::int32_t* q, const EarlierIntegers& earlier) : q_(q), earlier_(earlier) {}

  // Returns the residuals, in `room` if they have to be computed.
  const std::int32_t* read(std::size_t groups, std::int32_t* room) const noexcept {
    if (!earlier_.any()) return q_;
    const std::int32_t *q = q_, *a = earlier_.near, *b = earlier_.far, *both = earlier_.both;
    const std::size_t n = groups * group_values;
    room[0] = subtract_wrapping(*q, earlier_[0]);  // else GCC warns that `room` may be uninitialised
    if (b == nullptr) {
      for (std::size_t i = 0; i < n; ++i) room[i] = subtract_wrapping(q[i], a[i]);
    } else {
      for (std::size_t i = 0; i < n; ++i)
        room[i] = subtract_wrapping(add_wrapping(q[i], both[i]), add_wrapping(a[i], b[i]));
    }
    return room;
  }

 private:
  const std::int32_t* q_;
  EarlierIntegers earlier_;
};

// Quantised values.
template <class Isa, class T>
struct ChunkValues {
  const T* values;
  const Quantiser<T>& z;

  ChunkValues(const T* x, const Quantiser<T>& quantiser) : values(x), z(quantiser) {}

  // Returns null if a value is not small.
  const std::int32_t* read(std::size_t groups, std::int32_t* room) const noexcept {
    return Isa::quantise(values, groups, z, room) ? room : nullptr;
  }
};

// Values quantised by the LargeRounder of registers R (slices/slices.hpp).
template <class R, class T>
struct ChunkLargeValues {
  const T* values;
  const Quantiser<T>& z;

  ChunkLargeValues(const T* x, const Quantiser<T>& quantiser) : values(x), z(quantiser) {}

  // Returns null if a value has no integer of at most unchecked_bits<T>.
  const std::int32_t* read(std::size_t groups, std::int32_t* room) const noexcept {
    typename R::template LargeRounder<T> round(z);
    for (std::size_t i = 0; i < groups * group_values; i += block_values)
      R::store_ints(room + i, round(values + i));
    return round.unchecked() ? room : nullptr;
  }
};

}  // namespace
}  // namespace taut::planes
