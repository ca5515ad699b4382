#include "communication/team/mean.hpp"

#include "compressor/values/half.hpp"

namespace taut {
namespace {

template <class T>
void divide(T* values, std::size_t count, int n) noexcept {
  using Computed = ComputedIn<T>;
  const auto divisor = static_cast<Computed>(n);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = static_cast<T>(static_cast<Computed>(values[i]) / divisor);
}

}  // namespace

void divide(Slice values, int n) noexcept {
  const auto parts = values.components();
  switch (parts.type) {
    case DType::f32: return divide(static_cast<float*>(parts.data), parts.count, n);
    case DType::f64: return divide(static_cast<double*>(parts.data), parts.count, n);
    case DType::f16: return divide(static_cast<f16*>(parts.data), parts.count, n);
    case DType::bf16: return divide(static_cast<bf16*>(parts.data), parts.count, n);
    default: return;
  }
}

}  // namespace taut
