// The fields that are coded: generated ones, the same on every machine, or one read from a file.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "compressor/values/slice.hpp"

namespace bench {

inline constexpr taut::DType measured_types[] = {taut::DType::f32, taut::DType::f64, taut::DType::f16,
                                                 taut::DType::bf16};

// Calls action.operator()<T>() with the C++ type T of the value type.
template <class Action>
auto with_real(taut::DType type, Action action) {
  switch (type) {
    case taut::DType::f64: return action.template operator()<double>();
    case taut::DType::f16: return action.template operator()<taut::f16>();
    case taut::DType::bf16: return action.template operator()<taut::bf16>();
    default: return action.template operator()<float>();
  }
}

// Type of T: for an integer type the integers from 1 on.
template <class T>
double relative_spacing() noexcept {
  if constexpr (taut::is_half<T>) return 1.0 / (1 << T::layout.fraction_bits);
  return static_cast<double>(std::numeric_limits<T>::epsilon());
}

// A long table of values and the bound for coding them. Operand k of a sum begins k * shift values into the
// table and continues at the start after its end. The shift is whole chunks of the codec, so that the values
// at chunk borders are the same in all operands, as where ranks hold fields of the same shape.
class Field {
 public:
  Field(std::string name, double bound, std::vector<double> table)
      : name_(std::move(name)),
        bound_(bound),
        table_(std::move(table)),
        shift_(table_.size() / 7 / 8192 * 8192 + 8192) {}

  const std::string& name() const noexcept { return name_; }
  double bound() const noexcept { return bound_; }
  std::size_t size() const noexcept { return table_.size(); }

  double at(std::size_t operand, std::size_t i) const noexcept {
    return table_[(i + operand * shift_) % table_.size()];
  }
  template <class T>
  void fill(T* out, std::size_t count, std::size_t operand) const {
    std::size_t from = operand * shift_ % table_.size();
    for (std::size_t i = 0; i < count; ++i) {
      out[i] = static_cast<T>(table_[from]);
      if (++from == table_.size()) from = 0;
    }
  }

 private:
  std::string name_;
  double bound_;
  std::vector<double> table_;
  std::size_t shift_;
};

struct FieldClass {
  const char* name;
  const char* summary;
  Field (*make)(taut::DType type);
};

// The generated classes of fields; the ratios in their summaries are those of float.
const std::vector<FieldClass>& field_classes();

// Reads a user's field. The bound is absolute or, if `of_range`, in units of the range of the finite values.
Field field_of_file(const std::string& file, taut::DType type, double bound, bool of_range);

}  // namespace bench
