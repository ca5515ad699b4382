#include "compressor/values/reduction.hpp"

#include <cstring>

#include "compressor/base/float_environment.hpp"
#include "compressor/values/add_values.hpp"

#ifdef __x86_64__
#include "compressor/simd/kernel_choice.hpp"
#include "compressor/values/avx2_halves.hpp"
#endif

namespace taut {
namespace {

#ifdef __x86_64__
// Adds halves, eight at a time. Returns the number of halves added: the last ones, fewer than eight, remain.
template <class Half>
[[gnu::target("avx2,f16c")]] std::size_t add_eights(Half* values, const Half* operand,
                                                    std::size_t count) noexcept {
  std::size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const __m256 sum = eight_sums(load_floats(values + i), load_floats(operand + i));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(values + i), narrowed(sum, values));
  }
  return i;
}

// Adds like add_values, whose loop is compiled for AVX2 here.
template <class T>
[[gnu::target("avx2,f16c"), gnu::flatten]] void add_by_avx2(T* values, const T* operand,
                                                            std::size_t count) noexcept {
  std::size_t i = 0;
  if constexpr (is_half<T>) i = add_eights(values, operand, count);
  add_values(values + i, operand + i, count - i);
}
#endif

template <class T>
void add(T* values, const T* operand, std::size_t count) noexcept {
#ifdef __x86_64__
  if (has_avx2()) return add_by_avx2(values, operand, count);
#endif
  add_values(values, operand, count);
}

// Computes minima or maxima in the standard floating-point environment, in which denormals are not flushed to
// 0 and a NaN raises no trap.
template <Reduction op, class T>
void choose_extremes(T* values, const T* operand, std::size_t count) noexcept {
  const FloatEnvironment environment;
  for (std::size_t i = 0; i < count; ++i) values[i] = combine(op, values[i], operand[i]);
}

template <class T>
void reduce_typed(Slice values, ConstSlice operand, Reduction op) noexcept {
  T* y = static_cast<T*>(values.data);
  const T* x = static_cast<const T*>(operand.data);
  switch (op) {
    case Reduction::sum: return add(y, x, values.count);
    case Reduction::min: return choose_extremes<Reduction::min>(y, x, values.count);
    case Reduction::max: return choose_extremes<Reduction::max>(y, x, values.count);
  }
}

}  // namespace

void reduce_values(Slice values, ConstSlice operand, Reduction op) noexcept {
  const Slice y{values.components()};
  const ConstSlice x{operand.components()};
  with_component(y.type, [&]<class T>() { reduce_typed<T>(y, x, op); });
}

void reduce_payload(Slice values, const std::byte* operand, Reduction op) noexcept {
  alignas(64) std::byte piece[4096];
  const std::size_t piece_values = sizeof piece / size_of(values.type);
  for (std::size_t first = 0; first < values.count; first += piece_values) {
    const Slice part{values.part(first, std::min(piece_values, values.count - first))};
    std::memcpy(piece, operand + first * size_of(values.type), part.bytes());
    reduce_values(part, {{piece, part.count, part.type}}, op);
  }
}

}  // namespace taut
