// The loops of the exponents codec, written once for all instruction sets. Set is what an instruction set
// provides:
//   Bytes                                64 bytes; load, store, all(byte), either(a, b): bitwise or
//   halves(values, high, low)            high and low bytes of 64 values, each rotated left by one bit
//   merged(high, low, values)            the inverse
//   up(v, n), down(v, n)                 shift each byte by n < 8 bits
//   plane(v, k)                          bitmap: bit k of each byte
//   spread(bitmap, byte)                 `byte` where the bitmap is 1, else 0
//   zeros(v)                             bitmap: byte is 0
//   keep(out, v, bitmap)                 writes the bytes in the bitmap, overwrites up to 64; returns the end
//   restore(in, bitmap)                  the inverse, 0 elsewhere; reads 64 bytes
//   Codes(book)(symbols)                 codes of symbols
//   Symbols(book)(codes)                 symbols of codes
#pragma once

#include <bit>
#include <type_traits>

#include "codecs/exponents/kernels.hpp"

namespace taut::exponents {

template <class Set>
struct Loops {
  using Bytes = typename Set::Bytes;

  static Zeros split(const std::byte* values, std::size_t groups, unsigned spare, Parts& parts) noexcept {
    return spare == 0 ? split<0>(values, groups, parts) : split<3>(values, groups, parts);
  }
  static void join(const std::byte* symbols, const std::byte* low, const std::byte* extra, std::size_t groups,
                   unsigned spare, std::byte* values) noexcept {
    spare == 0 ? join<0>(symbols, low, extra, groups, values) : join<3>(symbols, low, extra, groups, values);
  }
  static std::size_t encode(const std::byte* symbols, std::size_t groups, const Book& book, std::byte* planes,
                            std::byte* escapes) noexcept {
    return at_width(book.width, [&](auto width) {
      return encode<width>(symbols, groups, book, planes, escapes);
    });
  }
  static bool decode(const std::byte* planes, std::size_t groups, const Book& book, ConstBytes escapes,
                     std::byte* symbols) noexcept {
    return at_width(book.width, [&](auto width) {
      return decode<width>(planes, groups, book, escapes, symbols);
    });
  }

  static std::size_t leave_out(const std::byte* symbols, const std::byte* bytes, std::size_t groups,
                               std::byte* to) noexcept {
    std::byte* out = to;
    for (std::size_t i = 0; i < groups * group_values; i += group_values)
      out = Set::keep(out, Set::load(bytes + i), ~Set::zeros(Set::load(symbols + i)));
    return static_cast<std::size_t>(out - to);
  }

  static bool put_back(const std::byte* symbols, ConstBytes from, std::size_t groups,
                       std::byte* bytes) noexcept {
    const std::byte* in = from.data();
    std::size_t left = from.size();
    for (std::size_t i = 0; i < groups * group_values; i += group_values) {
      const std::uint64_t there = ~Set::zeros(Set::load(symbols + i));
      const std::size_t n = ones(there);
      if (n > left) return false;
      Set::store(bytes + i, Set::restore(in, there));
      in += n;
      left -= n;
    }
    return left == 0;
  }

 private:
  // The numbers of planes are constants, so that compilers unroll the loops over them.
  template <class Operation>
  static auto at_width(unsigned width, const Operation& operation) noexcept {
    switch (width) {
      case 1: return operation(std::integral_constant<unsigned, 1>{});
      case 2: return operation(std::integral_constant<unsigned, 2>{});
      case 3: return operation(std::integral_constant<unsigned, 3>{});
      default: return operation(std::integral_constant<unsigned, max_width>{});
    }
  }

  template <unsigned spare>
  static Zeros split(const std::byte* values, std::size_t groups, Parts& parts) noexcept {
    Zeros zeros;
    std::uint64_t other = 0;
    std::byte* extra = parts.extra;
    for (std::size_t g = 0; g < groups; ++g) {
      Bytes high, low;
      Set::halves(values + g * group_values * value_bytes, high, low);
      for (unsigned k = 0; k < spare; ++k) extra = store(extra, Set::plane(high, k));
      const Bytes symbols = spare == 0 ? high : Set::down(high, spare);
      Set::store(parts.symbols + g * group_values, symbols);
      Set::store(parts.low + g * group_values, low);
      const std::uint64_t zero = Set::zeros(symbols);
      zeros.count += ones(zero);
      other |= zero & ~Set::zeros(Set::either(high, low));
    }
    zeros.all = other == 0;
    return zeros;
  }

  template <unsigned spare>
  static void join(const std::byte* symbols, const std::byte* low, const std::byte* extra, std::size_t groups,
                   std::byte* values) noexcept {
    for (std::size_t g = 0; g < groups; ++g) {
      Bytes high = Set::load(symbols + g * group_values);
      if (spare != 0) high = Set::up(high, spare);
      for (unsigned k = 0; k < spare; ++k, extra += sizeof(std::uint64_t))
        high = Set::either(high, Set::spread(load<std::uint64_t>(extra), bit(k)));
      Set::merged(high, Set::load(low + g * group_values), values + g * group_values * value_bytes);
    }
  }

  template <unsigned width>
  static std::size_t encode(const std::byte* symbols, std::size_t groups, const Book& book, std::byte* planes,
                            std::byte* escapes) noexcept {
    const typename Set::Codes codes(book);
    std::byte* out = escapes;
    for (std::size_t g = 0; g < groups; ++g) {
      const Bytes own = Set::load(symbols + g * group_values), code = codes(own);
      std::uint64_t escaped = ~std::uint64_t{0};
      for (unsigned k = 0; k < width; ++k) {
        const std::uint64_t plane = Set::plane(code, k);
        planes = store(planes, plane);
        escaped &= plane;
      }
      out = Set::keep(out, own, escaped);
    }
    return static_cast<std::size_t>(out - escapes);
  }

  template <unsigned width>
  static bool decode(const std::byte* planes, std::size_t groups, const Book& book, ConstBytes escapes,
                     std::byte* symbols) noexcept {
    const typename Set::Symbols known(book);
    const std::byte* in = escapes.data();
    std::size_t left = escapes.size();
    for (std::size_t g = 0; g < groups; ++g) {
      std::uint64_t escaped = ~std::uint64_t{0};
      Bytes code = Set::all(0);
      for (unsigned k = 0; k < width; ++k, planes += sizeof(std::uint64_t)) {
        const auto plane = load<std::uint64_t>(planes);
        code = Set::either(code, Set::spread(plane, bit(k)));
        escaped &= plane;
      }
      const std::size_t n = ones(escaped);
      if (n > left) return false;
      Set::store(symbols + g * group_values, Set::either(known(code), Set::restore(in, escaped)));
      in += n;
      left -= n;
    }
    return left == 0;
  }

  static std::uint8_t bit(unsigned k) noexcept { return static_cast<std::uint8_t>(1u << k); }
  static std::size_t ones(std::uint64_t bitmap) noexcept {
    return static_cast<std::size_t>(std::popcount(bitmap));
  }
};

template <class Set>
constexpr KernelSet kernel_set(const char* name, bool (*supported)() noexcept) {
  using L = Loops<Set>;
  return {name, supported, L::split, L::join, L::encode, L::decode, L::leave_out, L::put_back};
}

}  // namespace taut::exponents
