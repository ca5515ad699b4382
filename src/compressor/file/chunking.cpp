#include "compressor/file/chunking.hpp"

#include <algorithm>

#include "compressor/values/slice.hpp"

namespace taut::file {

std::size_t Piece::count() const noexcept {
  std::size_t count = 1;
  for (const std::size_t extent : extents) count *= extent;
  return count;
}

std::vector<Piece> pieces_of(std::vector<std::uint64_t> shape, std::uint64_t most) {
  if (shape.empty()) shape = {1};
  if (std::ranges::find(shape, std::uint64_t{0}) != shape.end()) return {};
  // The axis `cut` is divided: a step along it holds `row` values, and a whole step fits into a piece.
  std::size_t cut = shape.size() - 1;
  std::uint64_t row = 1;
  while (cut > 0 && shape[cut] <= most / row) row *= shape[cut--];
  std::uint64_t blocks = 1;
  for (std::size_t i = 0; i < cut; ++i) blocks *= shape[i];
  const std::uint64_t rows = shape[cut], rows_a_piece = most / row;
  const std::uint64_t parts = (rows + rows_a_piece - 1) / rows_a_piece;

  std::vector<Piece> pieces;
  for (std::uint64_t block = 0; block < blocks; ++block) {
    for (std::uint64_t part = 0; part < parts; ++part) {
      const Range range = part_range(rows, part, parts);
      Piece& piece = pieces.emplace_back(Piece{(block * rows + range.first) * row, {range.count}});
      for (std::size_t i = cut + 1; i < shape.size(); ++i) piece.extents.push_back(shape[i]);
    }
  }
  return pieces;
}

}  // namespace taut::file
