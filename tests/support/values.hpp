// Values for tests: arrays of each type, patterns, spacings, exact references.
#pragma once

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <span>
#include <vector>

#include "compressor/values/half.hpp"
#include "compressor/values/reduction.hpp"
#include "compressor/values/slice.hpp"
#include "support/test_size.hpp"

namespace taut::test {

// Values of one type in memory of exactly their size.
class Values {
 public:
  Values() = default;
  Values(DType type, std::size_t count)
      : type_(type), number_type_(component_of(type)), count_(count), bytes_(count * size_of(type)) {}

  DType type() const noexcept { return type_; }
  std::size_t count() const noexcept { return count_; }
  std::size_t numbers() const noexcept { return count_ * components_of(type_); }  // real numbers
  Slice slice() noexcept { return {{bytes_.data(), count_, type_}}; }
  ConstSlice slice() const noexcept { return {{bytes_.data(), count_, type_}}; }

  double at(std::size_t i) const noexcept {
    return with_dtype(number_type_, [&]<class T>() {
      if constexpr (std::is_arithmetic_v<T> || is_half<T>) return static_cast<double>(read<T>(i));
      return 0.0;
    });
  }
  void set(std::size_t i, double value) noexcept { set(i, {&value, 1}); }
  // Sets the numbers from number `first` on.
  void set(std::size_t first, std::span<const double> to) noexcept {
    with_dtype(number_type_, [&]<class T>() {
      for (std::size_t i = 0; i < to.size(); ++i) {
        if constexpr (std::is_integral_v<T>) {
          write(first + i, nearest_integer<T>(to[i]));
        } else if constexpr (std::is_floating_point_v<T> || is_half<T>) {
          write(first + i, static_cast<T>(to[i]));
        }
      }
    });
  }
  bool operator==(const Values& other) const noexcept {  // bit for bit
    return count_ == other.count_ &&
           (count_ == 0 || std::memcmp(bytes_.data(), other.bytes_.data(), bytes_.size()) == 0);
  }

 private:
  template <class T>
  T read(std::size_t i) const noexcept {
    T value;
    std::memcpy(&value, bytes_.data() + i * sizeof(T), sizeof(T));
    return value;
  }
  template <class T>  // saturates at the range of the type; NaN gives 0
  static T nearest_integer(double x) noexcept {
    constexpr T least = std::numeric_limits<T>::min(), greatest = std::numeric_limits<T>::max();
    if (!(x > static_cast<double>(least))) return std::isnan(x) ? T{0} : least;
    return x < static_cast<double>(greatest) ? static_cast<T>(x) : greatest;
  }
  template <class T>
  void write(std::size_t i, T value) noexcept {
    std::memcpy(bytes_.data() + i * sizeof(T), &value, sizeof(T));
  }

  DType type_ = DType::f32, number_type_ = DType::f32;
  std::size_t count_ = 0;
  std::vector<std::byte> bytes_;
};

// wild: scattered over as many orders of magnitude as the type has room for, so that some values add up
enum class Pattern { smooth, noisy, sparse, steps, wild };

inline Values make_values(DType type, std::size_t count, Pattern pattern, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  auto uniform = [&] { return static_cast<double>(random() >> 11) * 0x1p-53 * 2 - 1; };
  const double phase = uniform() * 3, scale = 10 + 5 * uniform();
  const auto [least, decades] = type == DType::f16 ? std::pair{-7, 11} : std::pair{-12, 24};
  std::vector<double> numbers(count * components_of(type));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const double smooth = scale * std::sin(phase + 0.01 * static_cast<double>(i));
    double x = smooth;
    if (pattern == Pattern::noisy) x = smooth + uniform();
    if (pattern == Pattern::sparse) x = random() % 50 == 0 ? scale * uniform() : 0;
    if (pattern == Pattern::steps) x = std::floor(smooth);
    if (pattern == Pattern::wild)
      x = uniform() * std::pow(10.0, static_cast<double>(random() % static_cast<unsigned>(decades)) + least);
    numbers[i] = x;
  }
  Values values(type, count);
  values.set(0, numbers);
  return values;
}

// Returns the spacing of a 16-bit type at a value, from its bits; for the greatest values that of the ones
// before.
template <class Half>
double spacing_of_half(double magnitude) noexcept {
  const std::uint16_t before_last = static_cast<std::uint16_t>(Half(INFINITY).bits - 2);
  const std::uint16_t bits = std::min(Half(magnitude).bits, before_last);
  const auto above = Half::of_bits(static_cast<std::uint16_t>(bits + 1));
  return static_cast<double>(above) - static_cast<double>(Half::of_bits(bits));
}

// Returns the distance from a representable value to the next one of its type, upwards in magnitude; 0 for
// integers.
inline double spacing(DType type, double value) noexcept {
  const double magnitude = std::abs(value);
  switch (component_of(type)) {
    case DType::f64: return std::nextafter(magnitude, INFINITY) - magnitude;
    case DType::f16: return spacing_of_half<f16>(magnitude);
    case DType::bf16: return spacing_of_half<bf16>(magnitude);
    case DType::f32: break;
    default: return 0;
  }
  const auto narrow = static_cast<float>(magnitude);
  return static_cast<double>(std::nextafter(narrow, INFINITY)) - static_cast<double>(narrow);
}

// The exact result of reducing element i over all inputs, and the sum of the magnitudes.
struct Reference {
  long double value = 0, magnitude = 0;
};
inline Reference reduce_exactly(std::span<const Values> inputs, std::size_t i, Reduction op) {
  Reference r{inputs[0].at(i), std::abs(inputs[0].at(i))};
  for (std::size_t k = 1; k < inputs.size(); ++k) {
    const long double x = inputs[k].at(i);
    r.value = op == Reduction::sum   ? r.value + x
              : op == Reduction::min ? std::min(r.value, x)
                                     : std::max(r.value, x);
    r.magnitude += std::abs(x);
  }
  return r;
}

}  // namespace taut::test
