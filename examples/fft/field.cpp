#include "field.hpp"

#include <taut/taut.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <sstream>
#include <stdexcept>

namespace fft {
namespace {

// Calls work(value, global index of each axis) for the values of a part.
template <class T, class Work>
void for_each(std::vector<T>& values, const Triple& extent, const Triple& first, Work work) {
  std::size_t at = 0;
  for (int i = 0; i < extent[0]; ++i)
    for (int j = 0; j < extent[1]; ++j)
      for (int k = 0; k < extent[2]; ++k) work(values[at++], first[0] + i, first[1] + j, first[2] + k);
}

std::uint64_t index(const Triple& whole, int i, int j, int k) {
  const auto of = [](int value) { return static_cast<std::uint64_t>(value); };
  return (of(i) * of(whole[1]) + of(j)) * of(whole[2]) + of(k);
}

// Returns a number from -1 to 1 that depends on the index alone (splitmix64).
double random(std::uint64_t index) {
  std::uint64_t z = (index + 1) * 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-52 - 1;
}

std::vector<double> noise(const Triple& whole, const Transform& transform) {
  std::vector<double> values(volume(transform.real_extent()));
  for_each(values, transform.real_extent(), transform.real_first(),
           [&](double& value, int i, int j, int k) { value = random(index(whole, i, j, k)); });
  return values;
}

std::vector<double> turbulence(const Triple& whole, const Transform& transform) {
  double seconds = 0;
  std::vector<Complex> spectrum = transform.finish(transform.start(noise(whole, transform)), {}, seconds);
  for_each(spectrum, transform.result_extent(), transform.result_first(),
           [&](Complex& value, int i, int j, int k) {
             const double a = std::min(i, whole[0] - i), b = std::min(j, whole[1] - j);
             const double squared = a * a + b * b + static_cast<double>(k) * k;
             value *= squared > 0 ? std::pow(squared, -11.0 / 12) : 0;
           });
  return transform.inverse(std::move(spectrum));
}

template <class T>
std::vector<double> from_file(const std::string& name, const Triple& whole, const Transform& transform) {
  std::error_code error;
  if (std::filesystem::file_size(name, error) != volume(whole) * sizeof(T) || error)
    throw std::invalid_argument(name + ": cannot be read, or does not have the size of --shape");
  std::ifstream file(name, std::ios::binary);
  std::vector<double> values;
  const Triple &extent = transform.real_extent(), &first = transform.real_first();
  std::vector<T> row(static_cast<std::size_t>(extent[2]));
  for (int i = 0; i < extent[0]; ++i)
    for (int j = 0; j < extent[1]; ++j) {
      file.seekg(static_cast<std::streamoff>(index(whole, first[0] + i, first[1] + j, 0) * sizeof(T)));
      file.read(reinterpret_cast<char*>(row.data()), static_cast<std::streamsize>(row.size() * sizeof(T)));
      for (const T value : row) values.push_back(std::isfinite(value) ? static_cast<double>(value) : 0);
    }
  return values;
}

// Returns the quantisation step of the codec planes: twice the bound comes back as the multiple next to it.
double step_of_planes(double bound) {
  std::ostringstream coding;
  coding << std::setprecision(17) << "abs:" << bound << ",codec=planes";
  const double value = 2 * bound;
  double step = 0;
  std::vector<char> frame(TAUT_Max_bytes(TAUT_FLOAT64, 1, 1));
  std::size_t bytes = 0;
  if (TAUT_Encode(&value, 1, TAUT_FLOAT64, coding.str().c_str(), frame.data(), frame.size(), &bytes) != 0 ||
      TAUT_Decode(frame.data(), bytes, &step, 1, TAUT_FLOAT64) != 0)
    throw std::invalid_argument("--data tight: the codec planes refuses the bound of the first variant");
  return step;
}

}  // namespace

std::vector<double> field(const std::string& data, const Triple& whole, const Transform& transform) {
  if (data == "noise") return noise(whole, transform);
  if (data == "turbulence") return turbulence(whole, transform);
  if (data.ends_with("f32")) return from_file<float>(data, whole, transform);
  if (data.ends_with("f64")) return from_file<double>(data, whole, transform);
  throw std::invalid_argument("--data is turbulence, noise, tight, or a file whose name ends in f32 or f64");
}

std::vector<Complex> pencils_with_the_greatest_error(double bound, std::size_t count) {
  const double step = step_of_planes(bound);
  return std::vector<Complex>(count, Complex(3.5 * step, 3.5 * step));  // between two multiples of the step
}

}  // namespace fft
