// Kernels of the exponents codec (kernels.hpp), written once over the vocabulary of compressor/simd. `Set` is
// an instruction set, `spare` the number of spare bits, `width` that of the bits of a code.
#pragma once

#include <bit>
#include <type_traits>

#include "compressor/codecs/exponents/kernels.hpp"

namespace taut::exponents {
namespace {  // one copy for each kernel set, compiled with its instructions

template <class Set>
struct Loops {
  using Bytes = typename Set::Bytes;

  static ZeroSymbols split(const std::byte* values, std::size_t groups, unsigned spare,
                           SplitValues& parts) noexcept {
    return spare == 0 ? split<0>(values, groups, parts) : split<3>(values, groups, parts);
  }
  static void join(const std::byte* symbols, const std::byte* low_bytes, const std::byte* spare_planes,
                   std::size_t groups, unsigned spare, std::byte* values) noexcept {
    spare == 0 ? join<0>(symbols, low_bytes, spare_planes, groups, values)
               : join<3>(symbols, low_bytes, spare_planes, groups, values);
  }
  static std::size_t encode(const std::byte* symbols, std::size_t groups, const CodeBook& book,
                            std::byte* planes, std::byte* escapes) noexcept {
    return at_width(book.width,
                    [&](auto width) { return encode<width>(symbols, groups, book, planes, escapes); });
  }
  static bool decode(const std::byte* planes, std::size_t groups, const CodeBook& book, ConstBytes escapes,
                     std::byte* symbols) noexcept {
    return at_width(book.width,
                    [&](auto width) { return decode<width>(planes, groups, book, escapes, symbols); });
  }

  static std::size_t compress_low(const std::byte* symbols, const std::byte* bytes, std::size_t groups,
                                  std::byte* to) noexcept {
    std::byte* out = to;
    for (std::size_t i = 0; i < groups * group_values; i += group_values)
      out = compress(out, Set::load(bytes + i), Set::nonzero_mask(Set::load(symbols + i)));
    return static_cast<std::size_t>(out - to);
  }

  static bool expand_low(const std::byte* symbols, ConstBytes from, std::size_t groups,
                         std::byte* bytes) noexcept {
    const std::byte* in = from.data();
    std::size_t left = from.size();
    for (std::size_t i = 0; i < groups * group_values; i += group_values) {
      const std::uint64_t present = Set::nonzero_mask(Set::load(symbols + i));
      const std::size_t n = ones(present);
      if (n > left) return false;
      Set::store(bytes + i, expand(in, present));
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
  static ZeroSymbols split(const std::byte* values, std::size_t groups, SplitValues& parts) noexcept {
    ZeroSymbols zeros;
    std::uint64_t nonzero = 0;  // values with symbol 0 that are not 0
    std::byte* spare_planes = parts.spare_planes;
    for (std::size_t g = 0; g < groups; ++g) {
      const std::byte* const from = values + g * group_values * value_bytes;
      Bytes high, low;
      Set::unzip(Set::template rotl16<1>(Set::load(from)), Set::template rotl16<1>(Set::load(from + 64)), low,
                 high);
      if constexpr (spare > 0) {
        Set::store_bit_planes(high, spare, spare_planes);
        spare_planes += plane_bytes(1, spare);
      }
      const Bytes symbols = spare == 0 ? high : Set::shr(high, spare);
      Set::store(parts.symbols + g * group_values, symbols);
      Set::store(parts.low_bytes + g * group_values, low);
      const std::uint64_t zero = ~Set::nonzero_mask(symbols);
      zeros.count += ones(zero);
      nonzero |= zero & Set::nonzero_mask(Set::bit_or(high, low));
    }
    zeros.all_are_zero = nonzero == 0;
    return zeros;
  }

  template <unsigned spare>
  static void join(const std::byte* symbols, const std::byte* low_bytes, const std::byte* spare_planes,
                   std::size_t groups, std::byte* values) noexcept {
    for (std::size_t g = 0; g < groups; ++g) {
      Bytes high = Set::load(symbols + g * group_values);
      if constexpr (spare > 0) {
        high = Set::bit_or(Set::shl(high, spare), Set::load_bit_planes(spare_planes, spare));
        spare_planes += plane_bytes(1, spare);
      }
      std::byte* const to = values + g * group_values * value_bytes;
      Bytes first, second;
      Set::zip(Set::load(low_bytes + g * group_values), high, first, second);
      Set::store(to, Set::template rotl16<15>(first));
      Set::store(to + 64, Set::template rotl16<15>(second));
    }
  }

  template <unsigned width>
  static std::size_t encode(const std::byte* symbols, std::size_t groups, const CodeBook& book,
                            std::byte* planes, std::byte* escapes) noexcept {
    const typename Set::Lookup256 codes{book.code, book.escape()};
    std::byte* out = escapes;
    for (std::size_t g = 0; g < groups; ++g) {
      const Bytes own = Set::load(symbols + g * group_values), code = codes(own);
      out = compress(out, own, Set::store_bit_planes(code, width, planes));
      planes += plane_bytes(1, width);
    }
    return static_cast<std::size_t>(out - escapes);
  }

  template <unsigned width>
  static bool decode(const std::byte* planes, std::size_t groups, const CodeBook& book, ConstBytes escapes,
                     std::byte* symbols) noexcept {
    const typename Set::Lookup16 known{book.symbol};
    const std::byte* in = escapes.data();
    std::size_t left = escapes.size();
    for (std::size_t g = 0; g < groups; ++g) {
      std::uint64_t escaped = ~std::uint64_t{0};
      for (unsigned k = 0; k < width; ++k) escaped &= load<std::uint64_t>(planes + plane_bytes(1, k));
      const std::size_t n = ones(escaped);
      if (n > left) return false;
      const Bytes codes = Set::load_bit_planes(planes, width);
      Set::store(symbols + g * group_values, Set::bit_or(known(codes), expand(in, escaped)));
      planes += plane_bytes(1, width);
      in += n;
      left -= n;
    }
    return left == 0;
  }

  static std::size_t ones(std::uint64_t mask) noexcept {
    return static_cast<std::size_t>(std::popcount(mask));
  }

  // Most groups have no byte to compress or expand.
  static std::byte* compress(std::byte* out, const Bytes& v, std::uint64_t mask) noexcept {
    return !Set::has_compress && mask == 0 ? out : Set::compress(out, v, mask);
  }
  static Bytes expand(const std::byte* in, std::uint64_t mask) noexcept {
    return !Set::has_compress && mask == 0 ? Set::splat(0) : Set::expand(in, mask);
  }
};

}  // namespace

template <class Set>
const KernelSet& KernelSet::with() noexcept {
  using L = Loops<Set>;
  static constexpr KernelSet set{simd::name_of<Set>, simd::supported<Set>, L::split,     L::join, L::encode,
                                 L::decode,          L::compress_low,      L::expand_low};
  return set;
}

}  // namespace taut::exponents
