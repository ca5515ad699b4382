// A field, its tiles and their blocks, as kernels use them. Places in memory are counted in values from the
// field's first value, and fit 32 bits.
#pragma once

#include "compressor/gpu/simt/load.hpp"
#include "compressor/gpu/zfp/format.hpp"

namespace taut::zfp::cuda {

// A field, divided as Tiling of shape.hpp divides it. Extents are listed from the slowest; those of fields of
// fewer dimensions begin with 1.
struct Field {
  unsigned dims;
  std::uint32_t extent[max_dims];
  std::uint32_t tile_extent[max_dims];  // of the largest tile
  std::uint32_t tiles_along[max_dims];  // number of tiles along each extent
  std::uint32_t tiles;                  // number of all tiles
};

// Returns the field of a shape, with its tiling.
inline Field field_of(const Shape& shape) {
  const Tiling grid(shape);
  Field field{};
  field.dims = shape.dims;
  field.tiles = static_cast<std::uint32_t>(grid.tiles());
  for (unsigned k = 0; k < max_dims; ++k) {
    const std::size_t n = shape.extent[k], in_tile = grid.full_tile().extent[k];
    field.extent[k] = static_cast<std::uint32_t>(n);
    field.tile_extent[k] = static_cast<std::uint32_t>(in_tile);
    field.tiles_along[k] = static_cast<std::uint32_t>(in_tile == 0 ? 0 : (n + in_tile - 1) / in_tile);
  }
  return field;
}

// Returns the number of blocks along an extent of n values.
constexpr std::uint32_t blocks_along(std::uint32_t n) { return (n + edge - 1) / edge; }

// Splits a number that counts tiles or blocks along all extents: returns the index along extent k, the
// fastest of the extents that are left, and removes it from `number`. `count`: tiles or blocks along extent
// k. Extent 0 is the last one, and needs no division, which would take 20 instructions.
TAUT_DEVICE std::uint32_t take_index(std::uint32_t& number, std::uint32_t count, unsigned k) {
  if (k == 0) return number;
  const std::uint32_t index = number % count;
  number /= count;
  return index;
}

// A tile of a field of D dimensions.
template <unsigned D>
struct Tile {
  std::uint32_t first = 0;  // place of the first value in the field
  std::uint32_t extent[D], stride[D];

  // Computes tile i of the field.
  TAUT_DEVICE Tile(const Field& field, std::uint32_t i) {
    std::uint32_t step = 1;
    for (unsigned k = D; k-- > 0;) {
      const unsigned axis = max_dims - D + k;
      const std::uint32_t begin = take_index(i, field.tiles_along[axis], k) * field.tile_extent[axis];
      const std::uint32_t left = field.extent[axis] - begin;
      extent[k] = left < field.tile_extent[axis] ? left : field.tile_extent[axis];
      stride[k] = step;
      first += begin * step;
      step *= field.extent[axis];
    }
  }

  TAUT_DEVICE std::uint32_t values() const {
    std::uint32_t n = 1;
    for (unsigned k = 0; k < D; ++k) n *= extent[k];
    return n;
  }
  TAUT_DEVICE std::uint32_t blocks() const {
    std::uint32_t n = 1;
    for (unsigned k = 0; k < D; ++k) n *= blocks_along(extent[k]);
    return n;
  }
  // Returns the place of value i of the tile.
  TAUT_DEVICE std::uint32_t place(std::uint32_t i) const {
    std::uint32_t at = first;
    for (unsigned k = D; k-- > 1; i /= extent[k]) at += i % extent[k] * stride[k];
    return at + i * stride[0];
  }
};

// Positions of the records of a field if no record is stored because of its values: the size of a record then
// follows from its tile, and tiles differ only where they are the last ones along an extent.
struct RecordPositions {
  std::uint64_t total;  // bytes of all records
  // slab_bytes[k][ends]: bytes of the records of a slab of tiles along extent k that is not the last slab.
  // Bit j of `ends`: the slab is among the last tiles along extent j < k.
  std::uint64_t slab_bytes[max_dims][1u << (max_dims - 1)];

  // Returns the position of a tile's record, from the first record on.
  template <unsigned D>
  TAUT_DEVICE std::uint64_t record_position(const Field& field, std::uint32_t tile) const {
    std::uint32_t at[max_dims];
    for (unsigned k = max_dims; k-- > max_dims - D;)
      at[k] = take_index(tile, field.tiles_along[k], k - (max_dims - D));
    unsigned ends = (1u << (max_dims - D)) - 1;
    std::uint64_t position = 0;
    for (unsigned k = max_dims - D; k < max_dims; ++k) {
      position += at[k] * slab_bytes[k][ends];
      if (at[k] + 1 == field.tiles_along[k]) ends |= 1u << k;
    }
    return position;
  }
};

// Returns the positions of the records of a field. size(values, blocks) returns the size of the record of a
// tile with so many values and blocks.
template <class Size>
RecordPositions record_positions(const Field& field, Size size) {
  RecordPositions positions{};
  // Returns the bytes of all records with `ends` for the extents before k.
  const auto sum = [&](auto self, unsigned k, unsigned ends, std::uint32_t values,
                       std::uint32_t blocks) -> std::uint64_t {
    if (k == max_dims) return size(values, blocks);
    const std::uint32_t along = field.tiles_along[k], whole = field.tile_extent[k];
    const std::uint32_t end = field.extent[k] - (along - 1) * whole;
    const std::uint64_t each = self(self, k + 1, ends, values * whole, blocks * blocks_along(whole));
    const std::uint64_t last = self(self, k + 1, ends | 1u << k, values * end, blocks * blocks_along(end));
    positions.slab_bytes[k][ends] = each;
    return (along - 1) * each + last;
  };
  positions.total = field.tiles == 0 ? 0 : sum(sum, 0, 0, 1, 1);
  return positions;
}

// Four values along the fastest extent, or fewer at its end.
struct Row {
  std::uint32_t place;   // place in the field
  std::uint32_t number;  // number of the first value in the tile
};

// The values of a row that ends within its tile, aligned so that they move together.
template <class T>
struct alignas(Quad) WholeRow {
  T values[edge];
};

// A block of 4^D values of a tile.
template <unsigned D>
class Block {
 public:
  static constexpr unsigned rows = block_values<D> / edge;

  TAUT_DEVICE Block(const Tile<D>& tile, std::uint32_t i) : tile_(tile) {
    for (unsigned k = D; k-- > 0;) {
      const std::uint32_t along = blocks_along(tile.extent[k]);
      corner_[k] = take_index(i, along, k) * edge;
      const std::uint32_t left = tile.extent[k] - corner_[k];
      existing_[k] = left < edge ? left : edge;
    }
  }

  // Returns the number of values of a row that exist.
  TAUT_DEVICE unsigned width() const { return existing_[D - 1]; }

  // Returns the index of the value that is coded at place i, if `there` values exist: zfp repeats other
  // values where the tile ends within the block.
  TAUT_DEVICE static unsigned padded_index(unsigned i, unsigned there) {
    return i < there ? i : i == edge - 1 ? 0 : there - 1;
  }

  // Returns true if the row is within the tile.
  TAUT_DEVICE bool has(unsigned row) const {
    bool is_within = true;
    for (unsigned k = 0; k + 1 < D; ++k) is_within = is_within && digit(row, k) < existing_[k];
    return is_within;
  }
  // Returns a row, or the row that is coded in its place.
  TAUT_DEVICE Row row(unsigned row) const {
    Row found{tile_.first, 0};
    for (unsigned k = 0; k < D; ++k) {
      const std::uint32_t i = corner_[k] + (k + 1 < D ? padded_index(digit(row, k), existing_[k]) : 0);
      found.place += i * tile_.stride[k];
      found.number = found.number * tile_.extent[k] + i;
    }
    return found;
  }

 private:
  // Returns the index of a row along extent k of the block: the number of a row has two bits for each extent.
  TAUT_DEVICE static unsigned digit(unsigned row, unsigned k) { return row >> 2 * (D - 2 - k) & 3; }

  const Tile<D>& tile_;
  std::uint32_t corner_[D];  // index in the tile of the block's first value
  unsigned existing_[D];     // number of the block's values within the tile, along each extent
};

}  // namespace taut::zfp::cuda
