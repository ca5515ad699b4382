// Shape of a field of up to four extents, and its division into tiles, which consist of whole blocks of zfp
// and are coded separately.
#pragma once

#include <algorithm>
#include <array>

#include "compressor/values/dims.hpp"

namespace taut::zfp {

// Extents, slowest first. The leading extents of fields with fewer dimensions are 1.
using Extents = std::array<std::size_t, max_dims>;

inline constexpr std::size_t block_edge = 4;           // zfp codes blocks of 4^dims values
inline constexpr std::size_t max_tile_values = 65536;  // with partial blocks counted whole

// Shape of a field or of a tile, and its division into blocks of zfp.
struct Shape {
  Extents extent = {1, 1, 1, 1};
  unsigned dims = 1;  // dimensions of zfp's blocks, which extend over the last `dims` extents

  constexpr std::size_t values() const noexcept { return extent[0] * extent[1] * extent[2] * extent[3]; }
  constexpr std::size_t block_values() const noexcept { return std::size_t{1} << 2 * dims; }
  constexpr std::size_t blocks() const noexcept {
    std::size_t n = 1;
    for (unsigned k = max_dims - dims; k < max_dims; ++k) n *= (extent[k] + block_edge - 1) / block_edge;
    return n;
  }
};

// Returns the maximum number of tiles for `count` values. A field that would have more is coded as
// one-dimensional.
constexpr std::size_t max_tiles(std::size_t count) noexcept { return count / 4096 + 1; }

// Returns the shape of `count` values from a field of these extents. From the fastest extent on it takes the
// extents of the field as long as they divide `count` evenly; the rest of `count` is its slowest extent.
Shape shape_of(const Dims& field, std::size_t count) noexcept;

// View of a tile in memory. Rows, along the last extent, are contiguous.
template <class T>
struct View {
  T* data = nullptr;
  Shape shape;
  Extents stride = {};  // in values

  std::size_t values() const noexcept { return shape.values(); }

  // Returns value i of the tile, in the order of for_each_row().
  T& operator[](std::size_t i) const noexcept {
    T* at = data;
    for (unsigned k = max_dims; k-- > 0; i /= shape.extent[k]) at += i % shape.extent[k] * stride[k];
    return *at;
  }

  // Calls action(row, index of the row's first value in the tile) for each row in the order of memory.
  template <class Action>
  void for_each_row(Action action) const {
    std::size_t at = 0;
    for (std::size_t w = 0; w < shape.extent[0]; ++w)
      for (std::size_t z = 0; z < shape.extent[1]; ++z)
        for (std::size_t y = 0; y < shape.extent[2]; ++y, at += shape.extent[3])
          action(data + w * stride[0] + z * stride[1] + y * stride[2], at);
  }
};

// Returns a view of a tile whose values are contiguous.
template <class T>
View<T> dense(T* data, const Shape& shape) noexcept {
  const Extents& n = shape.extent;
  return {data, shape, {n[1] * n[2] * n[3], n[2] * n[3], n[3], 1}};
}

// Tiles of a field, in the order of their first values.
class Tiling {
 public:
  explicit Tiling(const Shape& field) noexcept;

  std::size_t tiles() const noexcept { return tiles_; }
  const Shape& full_tile() const noexcept { return tile_; }  // the last tiles may be smaller

  template <class T>
  View<T> tile(T* field, std::size_t i) const noexcept {
    View<T> view = dense(field, field_);
    for (unsigned k = max_dims; k-- > 0;) {
      const std::size_t first = i % tiles_along_[k] * tile_.extent[k];
      i /= tiles_along_[k];
      view.data += first * view.stride[k];
      view.shape.extent[k] = std::min(tile_.extent[k], field_.extent[k] - first);
    }
    return view;
  }

 private:
  Shape field_, tile_;
  Extents tiles_along_;
  std::size_t tiles_;
};

}  // namespace taut::zfp
