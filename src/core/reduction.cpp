#include "core/reduction.hpp"

#include <cstring>

namespace taut {
namespace {

template <class T, Reduction op>
void reduce_as(T* values, const T* operand, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i) values[i] = combine(op, values[i], operand[i]);
}

template <class T>
void reduce_typed(Slice values, ConstSlice operand, Reduction op) noexcept {
  T* y = static_cast<T*>(values.data);
  const T* x = static_cast<const T*>(operand.data);
  switch (op) {
    case Reduction::sum: return reduce_as<T, Reduction::sum>(y, x, values.count);
    case Reduction::min: return reduce_as<T, Reduction::min>(y, x, values.count);
    case Reduction::max: return reduce_as<T, Reduction::max>(y, x, values.count);
  }
}

}  // namespace

void reduce_values(Slice values, ConstSlice operand, Reduction op) noexcept {
  const Slice y{values.components()};
  const ConstSlice x{operand.components()};
  with_dtype(y.type, [&]<class T>() {
    if constexpr (std::is_arithmetic_v<T> || is_half<T>) reduce_typed<T>(y, x, op);
  });
}

void reduce_payload(Slice values, const std::byte* operand, Reduction op) noexcept {
  alignas(64) std::byte piece[4096];
  const std::size_t most = sizeof piece / size_of(values.type);
  for (std::size_t first = 0; first < values.count; first += most) {
    const Slice part{values.part(first, std::min(most, values.count - first))};
    std::memcpy(piece, operand + first * size_of(values.type), part.bytes());
    reduce_values(part, {{piece, part.count, part.type}}, op);
  }
}

}  // namespace taut
