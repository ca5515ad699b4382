// The loops of the exponents codec, written once for all instruction sets. Set is what an instruction set
// provides:
//   Bytes                                64 bytes; load, store, all(byte), either(a, b): bitwise or
//   halves(values, high, low)            high and low bytes of 64 values, each rotated left by one bit
//   merged(high, low, values)            the inverse
//   up(v, n), down(v, n)                 shift each byte by n < 8 bits
//   zeros(v)                             bitmap: byte is 0
//   planes<n>(v, to)                     writes n bitmaps; bitmap k is bit k of each byte. Returns the bitmap
//                                        of the bytes with all n bits
//   of_planes<n>(from)                   the inverse, 0 in the other bits
//   keep(out, v, bitmap)                 writes the bytes in the bitmap, overwrites up to 64; returns the end
//   restore(in, bitmap)                  the inverse, 0 elsewhere; reads 64 bytes
//   Codes(book)(symbols)                 codes of symbols
//   Symbols(book)(codes)                 symbols of codes
// A set takes planes and of_planes from PlaneByPlane if it has
//   plane(v, k)                          bitmap: bit k of each byte
//   spread(bitmap, byte)                 `byte` where the bitmap is 1, else 0
#pragma once

#include <bit>
#include <type_traits>

#include "compressor/codecs/exponents/kernels.hpp"

namespace taut::exponents {

template <class Set>
struct PlaneByPlane {
  template <unsigned n, class Bytes>
  static std::uint64_t planes(const Bytes& v, std::byte* to) noexcept {
    std::uint64_t all = ~std::uint64_t{0};
    for (unsigned k = 0; k < n; ++k) {
      const std::uint64_t plane = Set::plane(v, k);
      to = store(to, plane);
      all &= plane;
    }
    return all;
  }
  template <unsigned n>
  static auto of_planes(const std::byte* from) noexcept {
    auto v = Set::all(0);
    for (unsigned k = 0; k < n; ++k)
      v = Set::either(
          v, Set::spread(load<std::uint64_t>(from + plane_bytes(1, k)), static_cast<std::uint8_t>(1u << k)));
    return v;
  }
};

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
    return at_width(book.width,
                    [&](auto width) { return encode<width>(symbols, groups, book, planes, escapes); });
  }
  static bool decode(const std::byte* planes, std::size_t groups, const Book& book, ConstBytes escapes,
                     std::byte* symbols) noexcept {
    return at_width(book.width,
                    [&](auto width) { return decode<width>(planes, groups, book, escapes, symbols); });
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
      if constexpr (spare > 0) {
        Set::template planes<spare>(high, extra);
        extra += plane_bytes(1, spare);
      }
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
      if constexpr (spare > 0) {
        high = Set::either(Set::up(high, spare), Set::template of_planes<spare>(extra));
        extra += plane_bytes(1, spare);
      }
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
      out = Set::keep(out, own, Set::template planes<width>(code, planes));
      planes += plane_bytes(1, width);
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
      for (unsigned k = 0; k < width; ++k) escaped &= load<std::uint64_t>(planes + plane_bytes(1, k));
      const std::size_t n = ones(escaped);
      if (n > left) return false;
      const Bytes codes = Set::template of_planes<width>(planes);
      Set::store(symbols + g * group_values, Set::either(known(codes), Set::restore(in, escaped)));
      planes += plane_bytes(1, width);
      in += n;
      left -= n;
    }
    return left == 0;
  }

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
