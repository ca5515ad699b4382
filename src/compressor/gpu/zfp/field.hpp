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
  std::uint32_t extent[max_dims], tile[max_dims], along[max_dims];  // tile: largest tile; along: tiles
  std::uint32_t tiles;
};

inline Field field_of(const Shape& shape) {
  const Tiling grid(shape);
  Field field{};
  field.dims = shape.dims;
  field.tiles = static_cast<std::uint32_t>(grid.tiles());
  for (unsigned k = 0; k < max_dims; ++k) {
    const std::size_t n = shape.extent[k], of_tile = grid.full_tile().extent[k];
    field.extent[k] = static_cast<std::uint32_t>(n);
    field.tile[k] = static_cast<std::uint32_t>(of_tile);
    field.along[k] = static_cast<std::uint32_t>(of_tile == 0 ? 0 : (n + of_tile - 1) / of_tile);
  }
  return field;
}

constexpr std::uint32_t edges(std::uint32_t n) { return (n + edge - 1) / edge; }

// Removes the index along extent k from a number that counts along all extents, and returns it. Of extent 0
// it is the number itself: a division takes 20 instructions.
TAUT_DEVICE std::uint32_t take_index(std::uint32_t& number, std::uint32_t along, unsigned k) {
  if (k == 0) return number;
  const std::uint32_t index = number % along;
  number /= along;
  return index;
}

template <unsigned D>
struct Tile {
  std::uint32_t first = 0;  // place of the first value in the field
  std::uint32_t extent[D], stride[D];

  // Computes tile i of the field.
  TAUT_DEVICE Tile(const Field& field, std::uint32_t i) {
    std::uint32_t step = 1;
    for (unsigned k = D; k-- > 0;) {
      const unsigned axis = max_dims - D + k;
      const std::uint32_t begin = take_index(i, field.along[axis], k) * field.tile[axis];
      const std::uint32_t left = field.extent[axis] - begin;
      extent[k] = left < field.tile[axis] ? left : field.tile[axis];
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
    for (unsigned k = 0; k < D; ++k) n *= edges(extent[k]);
    return n;
  }
  // Returns the place of value i of the tile.
  TAUT_DEVICE std::uint32_t place(std::uint32_t i) const {
    std::uint32_t at = first;
    for (unsigned k = D; k-- > 1; i /= extent[k]) at += i % extent[k] * stride[k];
    return at + i * stride[0];
  }
};

// Places of the records of a field if no record is stored because of its values: the size of a record then
// follows from its tile, and tiles differ only where they are the last ones along an extent.
struct Places {
  std::uint64_t total;  // bytes of all records
  // slab_bytes[k][ends]: bytes of the records of a slab of tiles along extent k that is not the last slab.
  // Bit j of `ends`: the slab is among the last tiles along extent j < k.
  std::uint64_t slab_bytes[max_dims][1u << (max_dims - 1)];

  // Returns the position of a tile's record, from the first record on.
  template <unsigned D>
  TAUT_DEVICE std::uint64_t record_position(const Field& field, std::uint32_t tile) const {
    std::uint32_t at[max_dims];
    for (unsigned k = max_dims; k-- > max_dims - D;)
      at[k] = take_index(tile, field.along[k], k - (max_dims - D));
    unsigned ends = (1u << (max_dims - D)) - 1;
    std::uint64_t place = 0;
    for (unsigned k = max_dims - D; k < max_dims; ++k) {
      place += at[k] * slab_bytes[k][ends];
      if (at[k] + 1 == field.along[k]) ends |= 1u << k;
    }
    return place;
  }
};

// Returns the places of the records of a field. size(values, blocks) returns the size of the record of a tile
// with so many values and blocks.
template <class Size>
Places places_of(const Field& field, Size size) {
  Places places{};
  // Returns the bytes of all records with `ends` for the extents before k.
  const auto sum = [&](auto self, unsigned k, unsigned ends, std::uint32_t values,
                       std::uint32_t blocks) -> std::uint64_t {
    if (k == max_dims) return size(values, blocks);
    const std::uint32_t along = field.along[k], whole = field.tile[k];
    const std::uint32_t end = field.extent[k] - (along - 1) * whole;
    const std::uint64_t each = self(self, k + 1, ends, values * whole, blocks * edges(whole));
    const std::uint64_t of_end = self(self, k + 1, ends | 1u << k, values * end, blocks * edges(end));
    places.slab_bytes[k][ends] = each;
    return (along - 1) * each + of_end;
  };
  places.total = field.tiles == 0 ? 0 : sum(sum, 0, 0, 1, 1);
  return places;
}

// Four values along the fastest extent, or fewer at its end.
struct Row {
  std::uint32_t place;   // place in the field
  std::uint32_t number;  // number of the first value in the tile
};

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
      const std::uint32_t along = edges(tile.extent[k]);
      corner_[k] = take_index(i, along, k) * edge;
      const std::uint32_t left = tile.extent[k] - corner_[k];
      there_[k] = left < edge ? left : edge;
    }
  }

  TAUT_DEVICE unsigned width() const { return there_[D - 1]; }

  // Returns the index of the value that is coded at place i, if `there` values exist: zfp repeats other
  // values where the tile ends within the block.
  TAUT_DEVICE static unsigned padded_index(unsigned i, unsigned there) {
    return i < there ? i : i == edge - 1 ? 0 : there - 1;
  }

  TAUT_DEVICE bool has(unsigned row) const {
    bool is = true;
    for (unsigned k = 0; k + 1 < D; ++k) is = is && digit(row, k) < there_[k];
    return is;
  }
  TAUT_DEVICE Row row(unsigned row) const {
    Row found{tile_.first, 0};
    for (unsigned k = 0; k < D; ++k) {
      const std::uint32_t i = corner_[k] + (k + 1 < D ? padded_index(digit(row, k), there_[k]) : 0);
      found.place += i * tile_.stride[k];
      found.number = found.number * tile_.extent[k] + i;
    }
    return found;
  }

 private:
  TAUT_DEVICE static unsigned digit(unsigned row, unsigned k) { return row >> 2 * (D - 2 - k) & 3; }

  const Tile<D>& tile_;
  std::uint32_t corner_[D];
  unsigned there_[D];
};

}  // namespace taut::zfp::cuda
