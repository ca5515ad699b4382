#include "raw_input.hpp"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <numbers>
#include <stdexcept>

namespace stacking {
namespace {

template <class T>
std::vector<T> read(const std::string& file, std::size_t count) {
  if (count_of<T>(file) != count) throw std::runtime_error(file + ": the size does not fit the shape");
  std::vector<T> values(count);
  std::ifstream stream(file, std::ios::binary);
  stream.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(count * sizeof(T)));
  if (!stream) throw std::runtime_error(file + ": cannot be read");
  return values;
}

// Returns the gain of sharer `k` of `n` at position `at` (0..1): never negative; the n gains add up to 1.
double gain(double at, int k, int n) {
  if (n == 1) return 1;
  const double phase = 2 * std::numbers::pi * (at + static_cast<double>(k) / n);
  return (1 + 0.5 * std::sin(phase)) / n;
}

}  // namespace

template <class T>
std::size_t count_of(const std::string& file) {
  std::error_code error;
  const auto bytes = std::filesystem::file_size(file, error);
  if (error) throw std::runtime_error(file + ": " + error.message());
  if (bytes == 0 || bytes % sizeof(T) != 0)
    throw std::runtime_error(file + ": the size does not fit the type");
  return bytes / sizeof(T);
}

template <class T>
std::vector<T> share_of(const std::vector<std::string>& files, std::size_t count, int rank, int ranks) {
  const int n = static_cast<int>(files.size());
  std::vector<T> share(count, T{0});
  for (int f = rank % n; f < n; f += ranks) {
    const int sharers = ranks > n ? (ranks - f + n - 1) / n : 1;  // ranks f, f + n, f + 2n, ...
    const std::vector<T> values = read<T>(files[static_cast<std::size_t>(f)], count);
    for (std::size_t i = 0; i < count; ++i) {
      const double at = static_cast<double>(i) / static_cast<double>(count);
      share[i] += static_cast<T>(values[i] * gain(at, rank / n, sharers));
    }
  }
  return share;
}

template std::size_t count_of<float>(const std::string&);
template std::size_t count_of<double>(const std::string&);
template std::vector<float> share_of(const std::vector<std::string>&, std::size_t, int, int);
template std::vector<double> share_of(const std::vector<std::string>&, std::size_t, int, int);

}  // namespace stacking
