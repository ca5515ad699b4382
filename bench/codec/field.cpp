#include "field.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <numbers>
#include <random>
#include <stdexcept>

namespace bench {
namespace {

constexpr std::size_t table_size = std::size_t{1} << 22;
constexpr double bound = 1e-3;
constexpr double fill_value = 1e20;

// Random numbers that are the same everywhere. The distributions of the standard library differ between
// implementations; its generators do not.
class Random {
 public:
  double uniform() { return static_cast<double>(generator_() >> 11) * 0x1p-53; }
  double normal() {
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

 private:
  std::mt19937_64 generator_{1};
};

// Returns a random walk that is drawn back to 0. The sizes of its differences are spread evenly (in octaves)
// from `least` to `most` bounds and change within a few blocks; one in 600 is a jump, with a tail that now
// and then leaves a class of widths. With (0.5, 22) the blocks of coded differences have the same widths, in
// the same shares, as a field of surface temperatures under a bound of 1e-3 of its range: the mixture of
// widths decides the speed, not the ratio alone.
std::vector<double> walk(double least, double most) {
  constexpr double kept = 0.93;  // share of the octave kept from one value to the next
  constexpr double drawn_back = 0.98;
  std::vector<double> table(table_size);
  Random random;
  double x = 0, size = 0;
  for (double& value : table) {
    size = kept * size + std::sqrt(1 - kept * kept) * random.normal();
    const double share = 0.5 * std::erfc(-size / std::numbers::sqrt2);  // uniform in 0..1
    double difference = least * std::pow(most / least, share) * random.normal();
    if (random.uniform() < 1.0 / 600)
      difference = std::copysign(3 * most * std::pow(1 - random.uniform(), -1.0 / 10), difference);
    x = drawn_back * x + bound * difference;
    value = x;
  }
  return table;
}

Field smooth(taut::DType) { return {"smooth", bound, walk(0.5, 22)}; }
Field rough(taut::DType) { return {"rough", bound, walk(12, 280)}; }
Field very_smooth(taut::DType) { return {"very_smooth", bound, walk(0.035, 1.4)}; }

// Integers beyond the 14 bits that float arithmetic serves, with differences as small as those of "smooth".
Field offset(taut::DType) {
  std::vector<double> table = walk(0.5, 22);
  for (double& value : table) value += 100;
  return {"offset", bound, std::move(table)};
}

Field patches(taut::DType) {
  std::vector<double> table;
  Random random;
  while (table.size() < table_size) {
    table.resize(table.size() + 200 + static_cast<std::size_t>(3000 * random.uniform()), 285.25);
    table.resize(table.size() + 20 + static_cast<std::size_t>(400 * random.uniform()), fill_value);
  }
  table.resize(table_size);
  return {"patches", bound, std::move(table)};
}

// Makes layers of 10 000 weights, each layer with its own scale; Student's t with 3 degrees of freedom.
Field gradient(taut::DType) {
  std::vector<double> table(table_size);
  Random random;
  double scale = 0;
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (i % 10000 == 0) scale = bound * std::exp2(6 * random.uniform() - 2);
    const double a = random.normal(), b = random.normal(), c = random.normal();
    const double tail = std::sqrt((a * a + b * b + c * c) / 3);
    table[i] = std::clamp(scale * random.normal() / tail, -5000 * bound, 5000 * bound);
  }
  return {"gradient", bound, std::move(table)};
}

// Makes values whose mantissa bits are all noise, under a bound below all of them.
Field random(taut::DType type) {
  std::vector<double> table(table_size);
  Random random;
  for (double& value : table) value = 2 * random.uniform() - 1;
  return {"random", type == taut::DType::f64 ? 0x1p-64 : 0x1p-34, std::move(table)};
}

Field nan_1_percent(taut::DType) {
  std::vector<double> table = walk(0.5, 22);
  Random random;
  for (double& value : table)
    if (random.uniform() < 0.01) value = std::numeric_limits<double>::quiet_NaN();
  return {"nan", bound, std::move(table)};
}

template <class T>
std::vector<double> read(const std::string& file) {
  const std::size_t count = std::filesystem::file_size(file) / sizeof(T);
  std::vector<T> values(count);
  std::ifstream stream(file, std::ios::binary);
  stream.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(count * sizeof(T)));
  if (!stream || count == 0) throw std::runtime_error(file + ": cannot be read");
  std::vector<double> wide(count);
  std::ranges::transform(values, wide.begin(), [](T x) { return static_cast<double>(x); });
  return wide;
}

double range_of(const std::vector<double>& values) {
  double least = std::numeric_limits<double>::infinity(), most = -least;
  for (const double x : values) {
    if (!std::isfinite(x)) continue;
    least = std::min(least, x);
    most = std::max(most, x);
  }
  return most - least;
}

}  // namespace

const std::vector<FieldClass>& field_classes() {
  static const std::vector<FieldClass> all{
      {"smooth", "like surface temperatures at 1e-3 of their range: ratio near 8", smooth},
      {"rough", "the same at a tight bound: ratio near 4", rough},
      {"very_smooth", "the same at a loose bound: ratio above 20", very_smooth},
      {"offset", "smooth beside a large constant, as temperatures in K", offset},
      {"patches", "a constant with patches of a fill value", patches},
      {"gradient", "noise with a heavy tail, scaled by layers", gradient},
      {"random", "incompressible", random},
      {"nan", "smooth, with 1 % NaN", nan_1_percent},
  };
  return all;
}

Field field_of_file(const std::string& file, taut::DType type, double wanted, bool of_range) {
  std::vector<double> values = with_real(type, [&]<class T>() { return read<T>(file); });
  const double absolute = of_range ? wanted * range_of(values) : wanted;
  if (!(absolute > 0) || !std::isfinite(absolute)) throw std::invalid_argument(file + ": no range");
  return {std::filesystem::path(file).stem().string(), absolute, std::move(values)};
}

}  // namespace bench
