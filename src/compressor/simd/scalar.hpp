// Scalar, the instruction set of portable code, for vectors of 64 bytes. It defines the results of all other
// instruction sets. Each set has this vocabulary, where v is a vector:
//   Bytes                           64 bytes, in as many registers as they take
//   load(from), store(to, v), splat(byte), bit_or(a, b)
//   shl(v, n), shr(v, n)            shift each byte by n < 8 bits
//   rotl16<n>(v)                    rotates each 16-bit word by n bits
//   unzip(a, b, even, odd)          separates the even from the odd bytes of two vectors
//   zip(even, odd, a, b)            interleaves the bytes of two vectors, the inverse of unzip
//   nonzero_mask(v)                 a mask of 64 bits: bit i is set if byte i is not 0
//   compress(out, v, mask)          writes the bytes in the mask next to each other; returns their end;
//                                   overwrites up to 64 bytes
//   expand(in, mask)                the inverse of compress; bytes outside the mask are 0; reads 64 bytes
//   has_compress                    true if compress and expand are cheap even for an empty mask
//   store_bit_planes(v, n, to)      writes bits 0 to n - 1 of all bytes as n masks; returns the mask of the
//                                   bytes with all n bits
//   write_bit_planes(v, n, to)      as store_bit_planes, returns nothing; overwrites up to 64 bytes
//   load_bit_planes(from, n)        the inverse of store_bit_planes; bits from n on are 0
//   Lookup16(table)(v)              table[byte] for bytes below 16
//   Lookup256(table, common)(v)     table[byte]; fast if most entries are `common`
//   map_words<Word>(op, v...)       applies op to the words of vectors, or to registers of words
//   words_to_planes<size>(v)        transposes each block of 8 words of `size` bytes into its bit planes:
//                                   a byte a plane, top plane first; bit j belongs to word j
//   planes_to_words<size, flip>(v)  the inverse of words_to_planes; each byte is then xored with `flip`
//   Scan<Word, distance>(before)    a scan (a prefix sum if op adds): scan(v, op) combines each word with the
//                                   result `distance` words before it; `before`: results before the first v
//   doubles(v, a, b)                converts 16 integers of 32 bits to doubles
//   narrow(a, b)                    the floats nearest to 16 doubles, ties to even
// Sets of vectors have in addition, where Words are 64 integers of 32 bits in four vectors (operations marked
// Avx512 are in that set alone):
//   extremes(x, n, least, greatest) the least and the greatest of each of n rows of 64 floats or doubles; the
//                                   least is NaN if the row has a NaN
//   nonzero_words<Word>(v)          Avx512: as nonzero_mask, a bit for each word of 4 or 8 bytes
//   compressed_words<Word>(v, mask) Avx512: the words in a mask with a bit for each word of 2, 4 or 8 bytes,
//                                   next to each other, then 0
//   extract_bits(x, mask)           Avx512: the bits of x that the mask selects, packed from bit 0 on
//   nearest_floats, nearest_doubles the integers of 32 bits nearest to 16 floats, or doubles; ties to even
//   load_halves(from)               16 numbers of float16 as floats; a NaN may become quiet
//   store_halves(to, v)             16 floats rounded to float16, ties to even; a NaN as by f16()
//   floats(v)                       converts 16 integers of 32 bits to floats
//   multiply_add(v, a, b)           v * a + b, for floats or doubles whose product v * a is exact
//   map_doubles(op, v, zero)        Avx512: narrow(op(a), op(b)), where a and b are the unsigned integers
//                                   v, less `zero`, as doubles
//   fused(a, b, c)                  Avx512: a * b + c of floats or doubles, rounded once
//   clamp8(words, max)              64 bytes: the words, clamped to 0 .. max
//   clamp16(words, max, low, high)  the low and the high bytes of the words, clamped to 0 .. max
//   clamp32(words, max, rows)       the bytes of the words, clamped to 0 .. max: four rows, lowest first
//   join<n>(from, top, words)       n rows of 64 bytes and one vector become words; the first row has the
//                                   lowest bytes, the vector the highest
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "compressor/base/unaligned.hpp"

namespace taut::simd {

// Transposes an 8 x 8 bit matrix, row i = byte i (Hacker's Delight, 2nd ed., section 7-3).
constexpr std::uint64_t transpose8x8(std::uint64_t x) noexcept {
  std::uint64_t t = (x ^ (x >> 7)) & 0x00AA00AA00AA00AA;
  x ^= t ^ (t << 7);
  t = (x ^ (x >> 14)) & 0x0000CCCC0000CCCC;
  x ^= t ^ (t << 14);
  t = (x ^ (x >> 28)) & 0x00000000F0F0F0F0;
  return x ^ t ^ (t << 28);
}

// BitPlanes makes bit planes one after the other. It is the base class of sets that have these operations:
//   bit_mask(v, k)         the mask of the bytes with bit k
//   select(mask, byte)     `byte` where the mask is 1, else 0
template <class Set>
struct BitPlanes {
  template <class Bytes>
  [[gnu::always_inline]] static std::uint64_t store_bit_planes(const Bytes& v, unsigned n,
                                                               std::byte* to) noexcept {
    std::uint64_t all = ~std::uint64_t{0};
#pragma GCC unroll 8
    for (unsigned k = 0; k < n; ++k) {
      const std::uint64_t plane = Set::bit_mask(v, k);
      to = taut::store(to, plane);
      all &= plane;
    }
    return all;
  }
  template <class Bytes>
  [[gnu::always_inline]] static void write_bit_planes(const Bytes& v, unsigned n, std::byte* to) noexcept {
    for (unsigned k = 0; k < n; ++k) to = taut::store(to, Set::bit_mask(v, k));
  }
  [[gnu::always_inline]] static auto load_bit_planes(const std::byte* from, unsigned n) noexcept {
    auto v = Set::splat(0);
    for (unsigned k = 0; k < n; ++k)
      v = Set::bit_or(v, Set::select(taut::load<std::uint64_t>(from + k * sizeof(std::uint64_t)),
                                     static_cast<std::uint8_t>(1u << k)));
    return v;
  }
};

struct Scalar : BitPlanes<Scalar> {
  using Bytes = std::array<std::uint8_t, 64>;
  template <class Word>
  using Words = std::array<Word, 64 / sizeof(Word)>;
  static constexpr bool has_compress = true;

  static Bytes load(const std::byte* from) noexcept { return taut::load<Bytes>(from); }
  static void store(std::byte* to, const Bytes& v) noexcept { taut::store(to, v); }
  static Bytes splat(std::uint8_t byte) noexcept {
    return each([=](unsigned) { return byte; });
  }
  static Bytes bit_or(const Bytes& a, const Bytes& b) noexcept {
    return each([&](unsigned i) { return a[i] | b[i]; });
  }
  static Bytes shl(const Bytes& v, unsigned n) noexcept {
    return each([&](unsigned i) { return v[i] << n; });
  }
  static Bytes shr(const Bytes& v, unsigned n) noexcept {
    return each([&](unsigned i) { return v[i] >> n; });
  }
  template <int n>
  static Bytes rotl16(const Bytes& v) noexcept {
    return map_words<std::uint16_t>([](std::uint16_t word) { return std::rotl(word, n); }, v);
  }

  static void unzip(const Bytes& a, const Bytes& b, Bytes& even, Bytes& odd) noexcept {
    for (unsigned i = 0; i < 32; ++i) {
      even[i] = a[2 * i];
      odd[i] = a[2 * i + 1];
      even[32 + i] = b[2 * i];
      odd[32 + i] = b[2 * i + 1];
    }
  }
  static void zip(const Bytes& even, const Bytes& odd, Bytes& a, Bytes& b) noexcept {
    for (unsigned i = 0; i < 32; ++i) {
      a[2 * i] = even[i];
      a[2 * i + 1] = odd[i];
      b[2 * i] = even[32 + i];
      b[2 * i + 1] = odd[32 + i];
    }
  }

  static std::uint64_t nonzero_mask(const Bytes& v) noexcept {
    return mask([&](unsigned i) { return v[i] != 0; });
  }
  static std::uint64_t bit_mask(const Bytes& v, unsigned k) noexcept {
    return mask([&](unsigned i) { return (v[i] >> k & 1) != 0; });
  }
  static Bytes select(std::uint64_t mask, std::uint8_t byte) noexcept {
    return each([=](unsigned i) { return (mask >> i & 1) != 0 ? byte : 0; });
  }
  static std::byte* compress(std::byte* out, const Bytes& v, std::uint64_t mask) noexcept {
    for (; mask != 0; mask &= mask - 1) *out++ = std::byte{v[static_cast<unsigned>(std::countr_zero(mask))]};
    return out;
  }
  static Bytes expand(const std::byte* in, std::uint64_t mask) noexcept {
    Bytes v{};
    for (; mask != 0; mask &= mask - 1)
      v[static_cast<unsigned>(std::countr_zero(mask))] = std::to_integer<std::uint8_t>(*in++);
    return v;
  }

  struct Lookup16 {
    const std::uint8_t* table;
    Bytes operator()(const Bytes& v) const noexcept {
      return each([&](unsigned i) { return table[v[i]]; });
    }
  };
  struct Lookup256 {
    const std::uint8_t* table;
    std::uint8_t common;
    Bytes operator()(const Bytes& v) const noexcept {
      return each([&](unsigned i) { return table[v[i]]; });
    }
  };

  template <class Word, class Op, class... V>
  static Bytes map_words(const Op& op, const V&... v) noexcept {
    const auto map = [&](const auto&... words) {
      Words<Word> result;
      for (std::size_t i = 0; i < result.size(); ++i) result[i] = static_cast<Word>(op(words[i]...));
      return std::bit_cast<Bytes>(result);
    };
    return map(std::bit_cast<Words<Word>>(v)...);
  }

  static void doubles(const Bytes& v, Bytes& a, Bytes& b) noexcept {
    const auto integers = std::bit_cast<Words<std::int32_t>>(v);
    Words<double> low, high;
    for (std::size_t i = 0; i < low.size(); ++i) {
      low[i] = integers[i];
      high[i] = integers[low.size() + i];
    }
    a = std::bit_cast<Bytes>(low);
    b = std::bit_cast<Bytes>(high);
  }
  static Bytes narrow(const Bytes& a, const Bytes& b) noexcept {
    const auto low = std::bit_cast<Words<double>>(a), high = std::bit_cast<Words<double>>(b);
    Words<float> floats;
    for (std::size_t i = 0; i < low.size(); ++i) {
      floats[i] = static_cast<float>(low[i]);
      floats[low.size() + i] = static_cast<float>(high[i]);
    }
    return std::bit_cast<Bytes>(floats);
  }

  template <unsigned size>
  static Bytes words_to_planes(const Bytes& v) noexcept {
    Bytes planes{};
    for (unsigned i = 0; i < 64; ++i) {
      const unsigned word = i / size % 8;
      std::uint8_t* const planes_of_byte =
          planes.data() + i / (8 * size) * 8 * size + (size - 1 - i % size) * 8;
      for (unsigned k = 0; k < 8; ++k)
        planes_of_byte[k] |= static_cast<std::uint8_t>((v[i] >> (7 - k) & 1) << word);
    }
    return planes;
  }
  template <unsigned size, std::uint8_t flip>
  static Bytes planes_to_words(const Bytes& planes) noexcept {
    return each([&](unsigned i) {
      const unsigned word = i / size % 8;
      const std::uint8_t* const planes_of_byte =
          planes.data() + i / (8 * size) * 8 * size + (size - 1 - i % size) * 8;
      unsigned byte = 0;
      for (unsigned k = 0; k < 8; ++k) byte = byte << 1 | (planes_of_byte[k] >> word & 1);
      return byte ^ flip;
    });
  }

  template <class Word, unsigned distance>
  class Scan {
   public:
    explicit Scan(const Bytes& before) noexcept : before_(std::bit_cast<Words<Word>>(before)) {}

    template <class Op>
    Bytes operator()(const Bytes& v, const Op& op) noexcept {
      auto words = std::bit_cast<Words<Word>>(v);
      for (std::size_t i = 0; i < words.size(); ++i) {
        const Word back = i < distance ? before_[words.size() + i - distance] : words[i - distance];
        words[i] = static_cast<Word>(op(words[i], back));
      }
      before_ = words;
      return std::bit_cast<Bytes>(words);
    }

   private:
    Words<Word> before_;
  };

 private:
  template <class Byte>
  static Bytes each(const Byte& byte) noexcept {
    Bytes bytes;
    for (unsigned i = 0; i < 64; ++i) bytes[i] = static_cast<std::uint8_t>(byte(i));
    return bytes;
  }
  template <class Bit>
  static std::uint64_t mask(const Bit& bit) noexcept {
    std::uint64_t bits = 0;
    for (unsigned i = 0; i < 64; ++i) bits |= std::uint64_t{bit(i) ? 1u : 0u} << i;
    return bits;
  }
};

}  // namespace taut::simd
