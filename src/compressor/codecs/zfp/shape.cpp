#include "compressor/codecs/zfp/shape.hpp"

namespace taut::zfp {
namespace {

constexpr std::size_t whole_blocks(std::size_t n) noexcept {
  return (n + block_edge - 1) / block_edge * block_edge;
}

}  // namespace

Shape shape_of(const Dims& field, std::size_t count) noexcept {
  if (count == 0) return {{1, 1, 1, 0}, 1};
  Shape shape;
  shape.dims = 0;
  std::size_t rest = count;  // `count` divided by the extents taken so far
  for (unsigned k = std::min(field.n, max_dims); k-- > 0;) {
    const std::size_t n = k == 0 ? rest : field.extent[k];
    if (n == 0 || rest % n != 0) break;
    rest /= n;
    if (n > 1) shape.extent[max_dims - ++shape.dims] = n;
  }
  if (rest > 1 || shape.dims == 0)
    shape.extent[max_dims - ++shape.dims] = rest;  // the values of the slowest extents together
  return Tiling(shape).tiles() <= max_tiles(count) ? shape : Shape{{1, 1, 1, count}, 1};
}

// Chooses the extents of a tile, from the fastest on. An extent is taken whole, or as far as the number of
// values, `room`, allows if the slower extents have one block each.
Tiling::Tiling(const Shape& field) noexcept : field_(field), tile_(field) {
  const unsigned first = max_dims - field.dims;
  std::size_t room = max_tile_values;
  for (unsigned k = first + 1; k < max_dims; ++k) room /= block_edge;
  for (unsigned k = max_dims; k-- > first;) {
    tile_.extent[k] = std::min(field.extent[k], room / block_edge * block_edge);
    room = room * block_edge / std::max(whole_blocks(tile_.extent[k]), block_edge);
  }
  tiles_ = 1;
  for (unsigned k = 0; k < max_dims; ++k) {
    tiles_along_[k] = tile_.extent[k] == 0 ? 0 : (field.extent[k] + tile_.extent[k] - 1) / tile_.extent[k];
    tiles_ *= tiles_along_[k];
  }
}

}  // namespace taut::zfp
