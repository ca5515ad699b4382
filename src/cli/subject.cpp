#include "cli/input.hpp"

#include <cmath>
#include <cstring>
#include <filesystem>

#include "compressor/file/failure.hpp"

namespace taut::cli {

Subject subject_of(const std::string& path, const Arguments& arguments) {
  const InputFile file(path);
  const StoredArray input = read_input(file, arguments);
  const std::vector<Piece> pieces = pieces_of(input.array.shape);
  if (pieces.empty()) fail(path + ": holds no values");
  const Piece& middle = pieces[pieces.size() / 2];
  const std::size_t size = size_of(input.array.type);
  Subject subject{std::filesystem::path(path).filename().string(), input.array.type, middle,
                  Room(middle.count() * size)};
  file.read(input.values_at + middle.first * size, subject.values.all());
  return subject;
}

Subject built_in_subject() {
  constexpr std::size_t n = 128;
  Subject subject{"waves+noise", DType::f32, {0, {n, n, n}}, Room(n * n * n * sizeof(float))};
  std::uint64_t state = 1;
  std::size_t i = 0;
  for (std::size_t z = 0; z < n; ++z)
    for (std::size_t y = 0; y < n; ++y)
      for (std::size_t x = 0; x < n; ++x, ++i) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        const double noise = static_cast<double>(state >> 11) * 0x1p-53 - 0.5;
        const auto wave = [](std::size_t k, double period) {
          return std::sin(static_cast<double>(k) * 6.2831853 / period);
        };
        const auto value = static_cast<float>(wave(x + y, 61) + wave(y + z, 97) * wave(x, 41) + 2e-3 * noise);
        std::memcpy(subject.values.all().data() + i * sizeof value, &value, sizeof value);
      }
  return subject;
}

}  // namespace taut::cli
