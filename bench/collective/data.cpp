#include "data.hpp"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <numbers>
#include <random>
#include <stdexcept>

namespace bench {
namespace {

constexpr std::size_t table_size = 3'000'000;

template <class T>
std::vector<double> read(const std::string& name) {
  const std::size_t count = std::filesystem::file_size(name) / sizeof(T);
  std::vector<T> values(count);
  std::ifstream stream(name, std::ios::binary);
  stream.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(count * sizeof(T)));
  if (!stream || count == 0) throw std::runtime_error(name + ": cannot be read");
  return {values.begin(), values.end()};
}

}  // namespace

Data Data::smooth(double noise) {
  std::vector<double> table(table_size);
  std::mt19937_64 generator(1);
  std::uniform_real_distribution<double> uniform(-noise, noise);
  for (std::size_t i = 0; i < table.size(); ++i) {
    const double turn = 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(table.size());
    const double wave = 0.7 * std::sin(5 * turn) + 0.3 * std::cos(13 * turn);
    table[i] = static_cast<float>(wave + uniform(generator));
  }
  return Data(std::move(table));
}

Data Data::random() {
  std::vector<double> table(table_size);
  std::mt19937_64 generator(1);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (double& value : table) value = uniform(generator);
  return Data(std::move(table));
}

Data Data::file(const std::string& name, bool doubles) {
  return Data(doubles ? read<double>(name) : read<float>(name));
}

}  // namespace bench
