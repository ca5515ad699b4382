#include "compressor/values/reduction.hpp"

#include "compressor/base/float_environment.hpp"

namespace taut {
namespace {

template <class To, class From>
void convert(const From* from, To* to, std::size_t n) noexcept {
  for (std::size_t i = 0; i < n; ++i) to[i] = static_cast<To>(from[i]);
}

// Reduces piece after piece, so that the wide numbers stay in the caches.
template <class T>
void reduce_typed(const T* operands, std::size_t n, T* result, std::size_t count, Reduction op,
                  int divisor) noexcept {
  constexpr std::size_t piece_values = 256;
  constexpr DType wide_type = dtype_of<Wider<T>>;
  alignas(64) Wider<T> total[piece_values], operand[piece_values];
  for (std::size_t first = 0; first < count; first += piece_values) {
    const std::size_t m = std::min(piece_values, count - first);
    convert(operands + first, total, m);
    for (std::size_t k = 1; k < n; ++k) {
      convert(operands + k * count + first, operand, m);
      reduce_values({{total, m, wide_type}}, {{operand, m, wide_type}}, op);
    }
    if constexpr (std::is_floating_point_v<Wider<T>>)
      if (divisor != 1)
        for (std::size_t i = 0; i < m; ++i) total[i] /= static_cast<Wider<T>>(divisor);
    convert(total, result + first, m);
  }
}

}  // namespace

void reduce_widely(const void* operands, std::size_t n, Slice result, Reduction op, int divisor) noexcept {
  const FloatEnvironment environment;
  const Slice out{result.components()};
  with_dtype(out.type, [&]<class T>() {
    if constexpr (std::is_arithmetic_v<T> || is_half<T>)
      reduce_typed(static_cast<const T*>(operands), n, static_cast<T*>(out.data), out.count, op, divisor);
  });
}

}  // namespace taut
