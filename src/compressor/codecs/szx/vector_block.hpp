// Encoding and decoding of one block of 64 values by the vectors of an instruction set, which hold offsets as
// integers of 32 bits. Offsets of more than 30 bits are left to portable code.
#pragma once

#include "compressor/codecs/szx/block.hpp"

namespace taut::szx {

template <class Set>
struct VectorBlocks {
  using Bytes = typename Set::Bytes;
  using Offsets = typename Set::Words;
  static constexpr unsigned widest = 30;

  template <class T>
  static void extremes(const T* x, std::size_t blocks, T* least, T* greatest) noexcept {
    static_assert(block_values == 64);
    Set::extremes(x, blocks, least, greatest);
  }

  template <class T>
  [[gnu::always_inline]] static void pack(const T* x, IntOf<T> low, BitsOf<T> span, unsigned width,
                                          const Grid<T>& grid, std::byte* to) noexcept {
    if (width > widest) return ScalarBlocks::pack(x, low, span, width, grid, to);
    Offsets o;
    if (width <= Limits<T>::direct_bits) {
      find<false>(x, grid.value(low), grid, o);
    } else {
      find<true>(x, grid.value(low), grid, o);
    }
    write_offsets(o, static_cast<std::uint32_t>(span), width, to);
  }

  template <bool add, class T>
  [[gnu::always_inline]] static void unpack(const std::byte* from, IntOf<T> low, unsigned width,
                                            const Grid<T>& grid, T* y) noexcept {
    if (width > widest) return ScalarBlocks::unpack<add>(from, low, width, grid, y);
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

  // Computes `offset` of grid.hpp, before it is clamped to the span.
  template <bool corrected>
  static void find(const float* x, float mu, const Grid<float>& grid, Offsets& o) noexcept {
    const float inverse = grid.inverse, step = grid.step, half = grid.step / 2;
    for (std::size_t j = 0; j < 4; ++j) {
      const Bytes v = load(x + 16 * j);
      o[j] = Set::nearest_floats(
          Set::template map_words<float>([=](auto value) { return (value - mu) * inverse; }, v));
      if constexpr (corrected) {
        const auto beside = [=](auto value, auto integer) {
          const auto rest = value - (mu + integer * step);
          return (rest < -half) - (rest > half);  // true is -1
        };
        const Bytes correction = Set::template map_words<float>(beside, v, Set::floats(o[j]));
        o[j] = Set::template map_words<std::int32_t>([](auto a, auto b) { return a + b; }, o[j], correction);
      }
    }
  }
  template <bool>
  static void find(const double* x, double mu, const Grid<double>& grid, Offsets& o) noexcept {
    const double inverse = grid.inverse;
    const auto steps = [&](std::size_t i) {
      return Set::template map_words<double>([=](auto value) { return (value - mu) * inverse; }, load(x + i));
    };
    for (std::size_t j = 0; j < 4; ++j) o[j] = Set::nearest_doubles(steps(16 * j), steps(16 * j + 8));
  }

  // Writes 64 bytes, or their lowest `width` bits as planes; overwrites up to 64 bytes.
  static void write_row(const Bytes& bytes, unsigned width, std::byte* to) noexcept {
    if (width >= 8) return Set::store(to, bytes);
    Set::write_bit_planes(bytes, width, to);
  }

  static void write_offsets(const Offsets& o, std::uint32_t span, unsigned width, std::byte* to) noexcept {
    if (width <= 8) return write_row(Set::limit8(o, span), width, to);
    Bytes rows[4];
    if (width <= 16) {
      Set::limit16(o, span, rows[0], rows[1]);
      Set::store(to, rows[0]);
      return write_row(rows[1], width - 8, to + block_values);
    }
    Set::limit32(o, span, rows);
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
  static void write(const Bytes& offsets, T mu, const Grid<T>& grid, T* y) noexcept {
    Bytes v = Set::multiply_add(offsets, grid.step, mu);
    if constexpr (add) v = Set::template map_words<T>([](auto a, auto b) { return a + b; }, load(y), v);
    Set::store(reinterpret_cast<std::byte*>(y), v);
  }
  // The sum of low and offset is exact, so mu + offset * step equals the result of the reference.
  template <bool add>
  static void write_values(const Offsets& o, float mu, const Grid<float>& grid, float* y) noexcept {
    for (std::size_t j = 0; j < 4; ++j) write<add>(Set::floats(o[j]), mu, grid, y + 16 * j);
  }
  template <bool add>
  static void write_values(const Offsets& o, double mu, const Grid<double>& grid, double* y) noexcept {
    for (std::size_t j = 0; j < 4; ++j) {
      Bytes a, b;
      Set::doubles(o[j], a, b);
      write<add>(a, mu, grid, y + 16 * j);
      write<add>(b, mu, grid, y + 16 * j + 8);
    }
  }
};

}  // namespace taut::szx
