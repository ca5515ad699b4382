// Encoding and decoding of one block of 64 values: in portable code (ScalarBlocks), which is the reference;
// by the vectors of an instruction set (VectorBlocks); and of blocks with exact values. T is float or double.
// Low, offset, width and the codes of blocks: format.hpp. The span of a block is its greatest offset.
#pragma once

#include <limits>

#include "compressor/codecs/szx/kernels.hpp"
#include "compressor/simd/scalar.hpp"
#include "compressor/values/add_values.hpp"

namespace taut::szx {

inline constexpr std::size_t block_groups = block_values / 8;

// Writes the offsets of a block. The lowest 8 * (width / 8) bits of each are written as bytes, in rows of 64
// bytes of equal weight; the remaining bits follow as bit planes of 64 bits. The least significant rows and
// planes come first.
template <class T>
void write_offsets(const BitsOf<T>* offsets, unsigned width, std::byte* to) noexcept {
  const unsigned whole = width / 8, plane_count = width % 8;
  for (unsigned k = 0; k < whole; ++k)
    for (std::size_t i = 0; i < block_values; ++i) *to++ = static_cast<std::byte>(offsets[i] >> 8 * k);
  if (plane_count == 0) return;
  for (std::size_t g = 0; g < block_groups; ++g) {
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < 8; ++i)
      bytes |= std::uint64_t{static_cast<std::uint8_t>(offsets[8 * g + i] >> 8 * whole)} << 8 * i;
    bytes = simd::transpose8x8(bytes);
    for (unsigned k = 0; k < plane_count; ++k) to[8 * k + g] = static_cast<std::byte>(bytes >> 8 * k);
  }
}

// Reads what write_offsets() has written.
template <class T>
void read_offsets(const std::byte* from, unsigned width, BitsOf<T>* offsets) noexcept {
  const unsigned whole = width / 8, plane_count = width % 8;
  const std::byte* const planes = from + whole * block_values;
  for (std::size_t g = 0; g < block_groups; ++g) {
    std::uint64_t bytes = 0;
    for (unsigned k = 0; k < plane_count; ++k)
      bytes |= std::to_integer<std::uint64_t>(planes[8 * k + g]) << 8 * k;
    bytes = simd::transpose8x8(bytes);
    for (std::size_t i = 0; i < 8; ++i)
      offsets[8 * g + i] =
          static_cast<BitsOf<T>>(BitsOf<T>{static_cast<std::uint8_t>(bytes >> 8 * i)} << 8 * whole);
  }
  for (unsigned k = 0; k < whole; ++k)
    for (std::size_t i = 0; i < block_values; ++i)
      offsets[i] |= static_cast<BitsOf<T>>(std::to_integer<BitsOf<T>>(*from++) << 8 * k);
}

// Computes the offsets of a block, clamped to 0 .. span. low_value: the low's value. `corrected`: see
// offset().
template <bool corrected, class T>
void find_offsets(const T* x, T low_value, BitsOf<T> span, const Grid<T>& grid, BitsOf<T>* offsets) noexcept {
  const auto max = static_cast<IntOf<T>>(span);
  for (std::size_t i = 0; i < block_values; ++i) {
    const IntOf<T> o = offset<corrected>(x[i], low_value, grid);
    offsets[i] = static_cast<BitsOf<T>>(o < 0 ? 0 : o > max ? max : o);
  }
}

// Returns low + offset modulo 2^32 (float64: 2^64), because a damaged frame may hold any numbers.
template <class T>
IntOf<T> sum_of(IntOf<T> low, BitsOf<T> offset) noexcept {
  return static_cast<IntOf<T>>(static_cast<BitsOf<T>>(low) + offset);
}

// Sets y to x, or adds x to y as combine() does.
template <bool add, class T>
void write_value(T& y, T x) noexcept {
  y = add ? branchless_sum(y, x) : x;
}

// Operations on blocks in portable code.
struct ScalarBlocks {
  // Computes the least and the greatest value of each block. The least value is NaN if the block has a NaN.
  template <class T>
  static void extremes(const T* x, std::size_t blocks, T* least, T* greatest) noexcept {
    constexpr std::size_t lanes = 8;  // side by side, so that compilers vectorise the loop
    for (std::size_t b = 0; b < blocks; ++b, x += block_values) {
      T low[lanes], high[lanes];
      bool all_numbers = true;
      for (std::size_t j = 0; j < lanes; ++j) low[j] = high[j] = x[j];
      for (std::size_t i = 0; i < block_values; i += lanes)
        for (std::size_t j = 0; j < lanes; ++j) {
          low[j] = x[i + j] < low[j] ? x[i + j] : low[j];
          high[j] = x[i + j] > high[j] ? x[i + j] : high[j];
        }
      for (std::size_t i = 0; i < block_values; ++i) all_numbers &= x[i] == x[i];
      least[b] = all_numbers ? *std::min_element(low, low + lanes) : std::numeric_limits<T>::quiet_NaN();
      greatest[b] = *std::max_element(high, high + lanes);
    }
  }

  // Writes the offsets of a block on the grid.
  template <class T>
  static void pack(const T* x, IntOf<T> low, BitsOf<T> span, unsigned width, const Grid<T>& grid,
                   std::byte* to) noexcept {
    BitsOf<T> offsets[block_values];
    if (width <= Limits<T>::direct_bits) {
      find_offsets<false>(x, grid.value(low), span, grid, offsets);
    } else {
      find_offsets<true>(x, grid.value(low), span, grid, offsets);
    }
    write_offsets<T>(offsets, width, to);
  }

  // Reads the offsets of a block, and writes its values to y or adds them.
  template <bool add, class T>
  static void unpack(const std::byte* from, IntOf<T> low, unsigned width, const Grid<T>& grid,
                     T* y) noexcept {
    BitsOf<T> offsets[block_values];
    read_offsets<T>(from, width, offsets);
    for (std::size_t i = 0; i < block_values; ++i)
      write_value<add>(y[i], grid.value(sum_of<T>(low, offsets[i])));
  }
};

// Operations on blocks by the vectors of an instruction set `Set` (compressor/simd), which hold offsets as
// integers of 32 bits. Offsets of more than 30 bits are left to ScalarBlocks.
template <class Set>
struct VectorBlocks {
  using Bytes = typename Set::Bytes;
  using Offsets = typename Set::Words;
  static constexpr unsigned max_vector_width = 30;

  template <class T>
  static void extremes(const T* x, std::size_t blocks, T* least, T* greatest) noexcept {
    static_assert(block_values == 64);
    Set::extremes(x, blocks, least, greatest);
  }

  template <class T>
  [[gnu::always_inline]] static void pack(const T* x, IntOf<T> low, BitsOf<T> span, unsigned width,
                                          const Grid<T>& grid, std::byte* to) noexcept {
    if (width > max_vector_width) return ScalarBlocks::pack(x, low, span, width, grid, to);
    Offsets o;
    if (width <= Limits<T>::direct_bits) {
      find_offsets<false>(x, grid.value(low), grid, o);
    } else {
      find_offsets<true>(x, grid.value(low), grid, o);
    }
    write_offsets(o, static_cast<std::uint32_t>(span), width, to);
  }

  template <bool add, class T>
  [[gnu::always_inline]] static void unpack(const std::byte* from, IntOf<T> low, unsigned width,
                                            const Grid<T>& grid, T* y) noexcept {
    if (width > max_vector_width) return ScalarBlocks::unpack<add>(from, low, width, grid, y);
    Offsets o;
    switch (width / 8) {
      case 0: read_offsets<0>(from, width, o); break;
      case 1: read_offsets<1>(from, width, o); break;
      case 2: read_offsets<2>(from, width, o); break;
      default: read_offsets<3>(from, width, o); break;
    }
    write_values<add>(o, grid.value(low), grid, y);
  }

 private:
  template <class T>
  static Bytes load(const T* x) noexcept {
    return Set::load(reinterpret_cast<const std::byte*>(x));
  }

  // Computes offset() of grid.hpp for 64 values. The double version needs no correction: its offsets have at
  // most `max_vector_width` bits.
  template <bool corrected>
  static void find_offsets(const float* x, float low_value, const Grid<float>& grid, Offsets& o) noexcept {
    const float inverse = grid.inverse, step = grid.step, half_step = grid.step / 2;
    for (std::size_t j = 0; j < 4; ++j) {
      const Bytes v = load(x + 16 * j);
      o[j] = Set::nearest_floats(
          Set::template map_words<float>([=](auto value) { return (value - low_value) * inverse; }, v));
      if constexpr (corrected) {
        const auto correction_of = [=](auto value, auto integer) {
          const auto remainder = value - (low_value + integer * step);
          return (remainder < -half_step) - (remainder > half_step);  // true is -1
        };
        const Bytes correction = Set::template map_words<float>(correction_of, v, Set::floats(o[j]));
        o[j] = Set::template map_words<std::int32_t>([](auto a, auto b) { return a + b; }, o[j], correction);
      }
    }
  }
  template <bool>
  static void find_offsets(const double* x, double low_value, const Grid<double>& grid, Offsets& o) noexcept {
    const double inverse = grid.inverse;
    const auto steps = [&](std::size_t i) {
      return Set::template map_words<double>([=](auto value) { return (value - low_value) * inverse; },
                                             load(x + i));
    };
    for (std::size_t j = 0; j < 4; ++j) o[j] = Set::nearest_doubles(steps(16 * j), steps(16 * j + 8));
  }

  // Writes 64 bytes, or their lowest `width` bits as planes; overwrites up to 64 bytes.
  static void write_row(const Bytes& bytes, unsigned width, std::byte* to) noexcept {
    if (width >= 8) return Set::store(to, bytes);
    Set::write_bit_planes(bytes, width, to);
  }

  static void write_offsets(const Offsets& o, std::uint32_t span, unsigned width, std::byte* to) noexcept {
    if (width <= 8) return write_row(Set::clamp8(o, span), width, to);
    Bytes rows[4];
    if (width <= 16) {
      Set::clamp16(o, span, rows[0], rows[1]);
      Set::store(to, rows[0]);
      return write_row(rows[1], width - 8, to + block_values);
    }
    Set::clamp32(o, span, rows);
    Set::store(to, rows[0]);
    Set::store(to + block_values, rows[1]);
    write_row(rows[2], width - 16, to + 2 * block_values);
    if (width > 24) write_row(rows[3], width - 24, to + 3 * block_values);
  }

  template <unsigned whole>
  static void read_offsets(const std::byte* from, unsigned width, Offsets& o) noexcept {
    Set::template join<whole>(from, Set::load_bit_planes(from + whole * block_values, width % 8), o);
  }

  template <bool add, class T>
  static void write_vector(const Bytes& offsets, T low_value, const Grid<T>& grid, T* y) noexcept {
    Bytes v = Set::multiply_add(offsets, grid.step, low_value);
    if constexpr (add) v = Set::template map_words<T>([](auto a, auto b) { return a + b; }, load(y), v);
    Set::store(reinterpret_cast<std::byte*>(y), v);
  }
  // The sum of low and offset is exact, so low_value + offset * step equals the result of the reference.
  template <bool add>
  static void write_values(const Offsets& o, float low_value, const Grid<float>& grid, float* y) noexcept {
    for (std::size_t j = 0; j < 4; ++j) write_vector<add>(Set::floats(o[j]), low_value, grid, y + 16 * j);
  }
  template <bool add>
  static void write_values(const Offsets& o, double low_value, const Grid<double>& grid, double* y) noexcept {
    for (std::size_t j = 0; j < 4; ++j) {
      Bytes a, b;
      Set::doubles(o[j], a, b);
      write_vector<add>(a, low_value, grid, y + 16 * j);
      write_vector<add>(b, low_value, grid, y + 16 * j + 8);
    }
  }
};

// ---- Blocks with exact values, which the grid does not serve: NaN, infinities, fill values, and numbers
// beyond its integers

template <class T>
bool same_bits(T a, T b) noexcept {
  return std::bit_cast<BitsOf<T>>(a) == std::bit_cast<BitsOf<T>>(b);
}

// Sets the code of block b, which has exact values: `uniform` if the block consists of one of them, `holed`
// and a width if all of them are equal and the grid serves the other values. Otherwise the code stays `raw`.
template <class T>
void plan_exact(const T* x, std::size_t b, const Grid<T>& grid, ChunkPlan<T>& plan) noexcept {
  const double step = static_cast<double>(grid.step), inverse = 1 / step;
  const T* const end = x + block_values;
  const T fill = *std::find_if(x, end, [&](T v) { return !served(v, inverse, grid); });
  double least = std::numeric_limits<double>::infinity(), greatest = -least;
  for (const T* v = x; v != end; ++v) {
    if (served(*v, inverse, grid)) {
      least = std::min(least, static_cast<double>(*v));
      greatest = std::max(greatest, static_cast<double>(*v));
    } else if (!same_bits(*v, fill)) {
      return;  // raw
    }
  }
  plan.code[b] = uniform;
  if (least > greatest) return;
  const Interval found = interval(least, greatest, step, inverse, grid.bound);
  plan.low[b] = static_cast<IntOf<T>>(nearest(found.low));
  plan.span[b] = static_cast<BitsOf<T>>(nearest(found.span));
  plan.code[b] = static_cast<std::uint8_t>(holed + bit_width(found.span));
}

// Writes block b, which has exact values.
template <class Set, class T>
void pack_exact(const T* x, std::size_t b, const Grid<T>& grid, const ChunkPlan<T>& plan,
                std::byte* to) noexcept {
  const std::uint8_t code = plan.code[b];
  if (!on_grid(code)) {
    std::memcpy(to, x, block_bytes<T>(code));
    return;
  }
  const double inverse = 1 / static_cast<double>(grid.step);
  alignas(64) T others[block_values];  // the low's value replaces the values in the holes
  std::uint64_t holes = 0;
  T fill = 0;
  for (std::size_t i = 0; i < block_values; ++i) {
    const bool is_served = served(x[i], inverse, grid);
    others[i] = is_served ? x[i] : grid.value(plan.low[b]);
    fill = is_served ? fill : x[i];
    holes |= std::uint64_t{!is_served} << i;
  }
  to = store(store(to, holes), fill);
  if (width_of(code) != 0) Set::pack(others, plan.low[b], plan.span[b], width_of(code), grid, to);
}

// Reads a block with exact values, and writes them to y or adds them.
template <class Set, bool add, class T>
void unpack_exact(const std::byte* from, IntOf<T> low, std::uint8_t code, const Grid<T>& grid,
                  T* y) noexcept {
  alignas(64) T x[block_values];
  if (code == raw) {
    std::memcpy(x, from, sizeof x);
  } else if (code == uniform) {
    std::fill_n(x, block_values, load<T>(from));
  } else {
    Set::template unpack<false>(from + hole_bytes<T>, low, width_of(code), grid, x);
    const auto holes = load<std::uint64_t>(from);
    const T fill = load<T>(from + sizeof holes);
    for (std::size_t i = 0; i < block_values; ++i) x[i] = (holes >> i & 1) != 0 ? fill : x[i];
  }
  for (std::size_t i = 0; i < block_values; ++i) write_value<add>(y[i], x[i]);
}

}  // namespace taut::szx
