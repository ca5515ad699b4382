// Avx512, an instruction set with vectors of 64 bytes in one register of AVX-512 (BW, DQ, VL, VBMI, VBMI2,
// VNNI, GFNI). compressor/simd/scalar.hpp explains the operations. The header is included by files that are
// compiled for AVX-512 only.
#pragma once

#include <immintrin.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace taut::simd {

struct Avx512 {
  using Bytes = __m512i;
  static constexpr bool has_compress = true;

  static Bytes load(const void* from) noexcept { return _mm512_loadu_si512(from); }
  static void store(void* to, Bytes v) noexcept { _mm512_storeu_si512(to, v); }
  static Bytes splat(std::uint8_t byte) noexcept { return _mm512_set1_epi8(static_cast<char>(byte)); }
  static Bytes splat64(std::uint64_t quadword) noexcept {
    return _mm512_set1_epi64(static_cast<long long>(quadword));
  }
  static Bytes bit_or(Bytes a, Bytes b) noexcept { return _mm512_or_si512(a, b); }
  static Bytes shl(Bytes v, unsigned n) noexcept {
    return _mm512_and_si512(_mm512_slli_epi16(v, n), splat(static_cast<std::uint8_t>(0xFF << n)));
  }
  static Bytes shr(Bytes v, unsigned n) noexcept {
    return _mm512_and_si512(_mm512_srli_epi16(v, n), splat(static_cast<std::uint8_t>(0xFF >> n)));
  }
  template <int n>
  static Bytes rotl16(Bytes v) noexcept {
    return _mm512_shldi_epi16(v, v, n);
  }

  // Returns the constants Rule(0) to Rule(n - 1), in memory that is aligned for loads of registers.
  template <class Element, std::size_t n = 64 / sizeof(Element), class Rule>
  static const Element* constants(Rule) noexcept {
    alignas(64) static constexpr auto table = [] {
      std::array<Element, n> all{};
      for (unsigned i = 0; i < n; ++i) all[i] = static_cast<Element>(Rule{}(i));
      return all;
    }();
    return table.data();
  }
  // Returns the bytes rule(0) to rule(63), as indices for a permutation.
  template <class Rule>
  static Bytes bytes_by(Rule rule) noexcept {
    return _mm512_load_si512(constants<std::uint8_t>(rule));
  }

  // Permutations of two registers number the bytes of the second register from 64 on.
  static void unzip(Bytes a, Bytes b, Bytes& even, Bytes& odd) noexcept {
    even = _mm512_permutex2var_epi8(a, bytes_by([](unsigned i) { return 2 * i; }), b);
    odd = _mm512_permutex2var_epi8(a, bytes_by([](unsigned i) { return 2 * i + 1; }), b);
  }
  static void zip(Bytes even, Bytes odd, Bytes& a, Bytes& b) noexcept {
    a = _mm512_permutex2var_epi8(even, bytes_by([](unsigned i) { return i / 2 + i % 2 * 64; }), odd);
    b = _mm512_permutex2var_epi8(even, bytes_by([](unsigned i) { return 32 + i / 2 + i % 2 * 64; }), odd);
  }

  static std::uint64_t nonzero_mask(Bytes v) noexcept { return _mm512_test_epi8_mask(v, v); }
  static Bytes compressed(Bytes v, std::uint64_t mask) noexcept {
    return _mm512_mask_compress_epi8(cleared(), mask, v);
  }
  static std::byte* compress(std::byte* out, Bytes v, std::uint64_t mask) noexcept {
    store(out, compressed(v, mask));
    return out + _mm_popcnt_u64(mask);
  }
  // nonzero_words() and compressed_words() have masks with a bit for each word.
  template <class Word>
  static std::uint64_t nonzero_words(Bytes v) noexcept {
    if constexpr (sizeof(Word) == 4) return _mm512_test_epi32_mask(v, v);
    return _mm512_test_epi64_mask(v, v);
  }
  template <class Word>
  static Bytes compressed_words(Bytes v, std::uint64_t mask) noexcept {
    if constexpr (sizeof(Word) == 2)
      return _mm512_mask_compress_epi16(cleared(), static_cast<__mmask32>(mask), v);
    if constexpr (sizeof(Word) == 4) return _mm512_maskz_compress_epi32(static_cast<__mmask16>(mask), v);
    return _mm512_maskz_compress_epi64(static_cast<__mmask8>(mask), v);
  }
  // Returns the bits of x in a mask, next to each other from bit 0 on.
  static std::uint64_t extract_bits(std::uint64_t x, std::uint64_t mask) noexcept {
    return _pext_u64(x, mask);
  }
  static Bytes expand(const void* in, std::uint64_t mask) noexcept {
    Bytes packed = load(in);
    asm("" : "+v"(packed));  // keeps the load separate: expansion from memory is microcoded on Zen
    return _mm512_mask_expand_epi8(cleared(), mask, packed);
  }

  // Transposes the bits of each quadword, an 8 x 8 matrix of bits: byte b of the result holds bit b of the
  // bytes, the first byte as the top bit.
  static Bytes transpose8x8(Bytes v) noexcept {
    return _mm512_gf2p8affine_epi64_epi8(splat64(0x8040201008040201), v, 0);
  }
  // Mirrors each quadword at its antidiagonal: bit k of byte i becomes bit 7 - i of byte 7 - k, and then xors
  // all bytes with `flip`.
  template <int flip = 0>
  static Bytes mirror8x8(Bytes v) noexcept {
    return _mm512_gf2p8affine_epi64_epi8(splat64(0x0102040810204080), v, flip);
  }

  // Returns the eight bit planes of a vector, 8 bytes each. `gathered`: the planes, with the bits of each
  // byte reversed.
  static Bytes bit_planes(Bytes v) noexcept {
    const Bytes gathered =
        _mm512_permutexvar_epi8(bytes_by([](unsigned i) { return i % 8 * 8 + i / 8; }), transpose8x8(v));
    return _mm512_gf2p8affine_epi64_epi8(gathered, splat64(0x8040201008040201), 0);
  }
  static void write_bit_planes(Bytes v, unsigned, std::byte* to) noexcept { store(to, bit_planes(v)); }
  [[gnu::always_inline]] static std::uint64_t store_bit_planes(Bytes v, unsigned n, std::byte* to) noexcept {
    _mm512_mask_storeu_epi64(to, static_cast<__mmask8>((1u << n) - 1), bit_planes(v));
    return _mm512_cmpeq_epi8_mask(bit_or(v, splat(static_cast<std::uint8_t>(0xFF << n))), splat(0xFF));
  }
  [[gnu::always_inline]] static Bytes load_bit_planes(const std::byte* from, unsigned n) noexcept {
    const Bytes planes = _mm512_maskz_loadu_epi64(static_cast<__mmask8>((1u << n) - 1), from);
    const auto rows = [](unsigned i) { return (7 - i % 8) * 8 + i / 8; };
    return transpose8x8(_mm512_permutexvar_epi8(bytes_by(rows), planes));
  }

  class Lookup16 {
   public:
    explicit Lookup16(const std::uint8_t* table) noexcept
        : table_(_mm512_broadcast_i32x4(_mm_load_si128(reinterpret_cast<const __m128i*>(table)))) {}
    Bytes operator()(Bytes v) const noexcept { return _mm512_shuffle_epi8(table_, v); }

   private:
    Bytes table_;
  };

  class Lookup256 {
   public:
    explicit Lookup256(const std::uint8_t* table, std::uint8_t) noexcept
        : table_{load(table), load(table + 64), load(table + 128), load(table + 192)} {}
    Bytes operator()(Bytes v) const noexcept {
      const Bytes lower = _mm512_permutex2var_epi8(table_[0], v, table_[1]);
      const __mmask64 above = _mm512_movepi8_mask(v);
      if (above == 0) [[likely]]
        return lower;
      return _mm512_mask_mov_epi8(lower, above, _mm512_permutex2var_epi8(table_[2], v, table_[3]));
    }

   private:
    Bytes table_[4];
  };

  template <class Word, class Op, class... V>
  static Bytes map_words(const Op& op, V... v) noexcept {
    typedef Word Words __attribute__((vector_size(64)));
    return (Bytes)op((Words)v...);
  }

  // The bytes of a block are gathered by their place in the word, last word first, and each quadword, 8 bits
  // of 8 words, is mirrored.
  template <unsigned size>
  static Bytes words_to_planes(Bytes v) noexcept {
    const auto gathered = [](unsigned i) {
      const unsigned place = i % (8 * size) / 8, word = 7 - i % 8;
      return i - i % (8 * size) + word * size + size - 1 - place;
    };
    return mirror8x8(_mm512_permutexvar_epi8(bytes_by(gathered), v));
  }
  template <unsigned size, std::uint8_t flip>
  static Bytes planes_to_words(Bytes planes) noexcept {
    const auto scattered = [](unsigned i) {
      const unsigned place = size - 1 - i % size, word = i % (8 * size) / size;
      return i - i % (8 * size) + 8 * place + 7 - word;
    };
    return _mm512_permutexvar_epi8(bytes_by(scattered), mirror8x8<flip>(planes));
  }

  // ---- 64 integers of 32 bits

  using Words = Bytes[4];

  // As many rows as a vector has lanes are processed together: a tree folds their partial results, so that
  // those of all rows end up in one vector.
  template <class T>
  static void extremes(const T* x, std::size_t rows, T* least, T* greatest) noexcept {
    constexpr std::size_t lanes = 64 / sizeof(T);
    const auto lower = [](auto a, auto b) { return a < b ? a : b; };
    const auto higher = [](auto a, auto b) { return a > b ? a : b; };
    for (std::size_t done = 0; done < rows; done += lanes, x += 64 * lanes) {
      const std::size_t n = std::min(lanes, rows - done);
      Bytes low[lanes], high[lanes];
      __mmask16 numbers = 0xFFFF;
#pragma GCC unroll 8
      for (std::size_t row = 0; row < lanes; ++row) {
        const T* const values = x + 64 * std::min(row, n - 1);
        for (std::size_t i = 0; i < 64; i += 2 * lanes) {
          const Bytes v = load(values + i), w = load(values + i + lanes);
          numbers = ordered<T>(numbers, v, w);
          const Bytes least_of_two = map_words<T>(lower, v, w), greatest_of_two = map_words<T>(higher, v, w);
          low[row] = i == 0 ? least_of_two : map_words<T>(lower, low[row], least_of_two);
          high[row] = i == 0 ? greatest_of_two : map_words<T>(higher, high[row], greatest_of_two);
        }
      }
      const auto lanes_of_rows = static_cast<__mmask16>((1u << n) - 1);
      store_lanes(least + done, lanes_of_rows, folded<lanes, T>(low, lower));
      store_lanes(greatest + done, lanes_of_rows, folded<lanes, T>(high, higher));
      if (numbers == static_cast<__mmask16>((1u << lanes) - 1)) [[likely]]
        continue;
      for (std::size_t row = 0; row < n; ++row)
        if (std::any_of(x + 64 * row, x + 64 * (row + 1), [](T value) { return value != value; }))
          least[done + row] = std::numeric_limits<T>::quiet_NaN();
    }
  }

  static Bytes nearest_floats(Bytes v) noexcept { return _mm512_cvtps_epi32(_mm512_castsi512_ps(v)); }
  static Bytes nearest_doubles(Bytes a, Bytes b) noexcept {
    const auto eight = [](Bytes v) { return _mm512_cvtpd_epi32(_mm512_castsi512_pd(v)); };
    return _mm512_inserti64x4(_mm512_castsi256_si512(eight(a)), eight(b), 1);
  }
  static Bytes floats(Bytes v) noexcept { return _mm512_castps_si512(_mm512_cvtepi32_ps(v)); }
  static void doubles(Bytes v, Bytes& a, Bytes& b) noexcept {
    a = _mm512_castpd_si512(_mm512_cvtepi32_pd(_mm512_castsi512_si256(v)));
    b = _mm512_castpd_si512(_mm512_cvtepi32_pd(_mm512_extracti64x4_epi64(v, 1)));
  }
  static Bytes load_halves(const std::byte* from) noexcept {
    return _mm512_castps_si512(_mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from))));
  }
  static void store_halves(std::byte* to, Bytes v) noexcept {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
                        _mm512_cvtps_ph(_mm512_castsi512_ps(v), _MM_FROUND_TO_NEAREST_INT));
  }
  // Converts each number to a double by placing it in the lowest bits of 2^52. Unpacking interleaves the
  // numbers of two registers, and a permutation restores their order: that is cheaper than conversions.
  template <class Op>
  static Bytes map_doubles(const Op& op, Bytes v, std::uint32_t zero) noexcept {
    typedef double Doubles __attribute__((vector_size(64)));
    const Bytes high = _mm512_set1_epi32(0x43300000);
    const auto eight = [&](Bytes numbers) {
      const Doubles results = op((Doubles)numbers - (0x1p52 + zero));
      return (Bytes)_mm512_castps256_ps512(_mm512_cvtpd_ps((__m512d)results));
    };
    const Bytes places =
        _mm512_load_si512(constants<std::uint64_t>([](unsigned i) { return i / 2 + i % 2 * 8; }));
    return _mm512_permutex2var_epi64(eight(_mm512_unpacklo_epi32(v, high)), places,
                                     eight(_mm512_unpackhi_epi32(v, high)));
  }
  static Bytes multiply_add(Bytes v, float a, float b) noexcept {
    return (Bytes)_mm512_fmadd_ps(_mm512_castsi512_ps(v), _mm512_set1_ps(a), _mm512_set1_ps(b));
  }
  static Bytes multiply_add(Bytes v, double a, double b) noexcept {
    return (Bytes)_mm512_fmadd_pd(_mm512_castsi512_pd(v), _mm512_set1_pd(a), _mm512_set1_pd(b));
  }

  // Returns a * b + c of registers of floats or doubles, rounded once.
  template <class Values>
  static Values fused(Values a, Values b, Values c) noexcept {
    if constexpr (sizeof a[0] == sizeof(float))
      return (Values)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
    else
      return (Values)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
  }

  // Pack instructions work on each quarter of a vector; the permutations restore the order.
  static Bytes clamp8(const Words& w, std::uint32_t max) noexcept {
    const Bytes bytes = _mm512_packus_epi16(_mm512_packs_epi32(w[0], w[1]), _mm512_packs_epi32(w[2], w[3]));
    return _mm512_permutexvar_epi8(bytes_by([](unsigned i) { return i / 4 % 4 * 16 + i / 16 * 4 + i % 4; }),
                                   _mm512_min_epu8(bytes, splat(static_cast<std::uint8_t>(max))));
  }
  static void clamp16(const Words& w, std::uint32_t max, Bytes& low, Bytes& high) noexcept {
    const Bytes max_lanes = _mm512_set1_epi16(static_cast<short>(max));
    const Bytes a = _mm512_min_epu16(_mm512_packus_epi32(w[0], w[1]), max_lanes),
                b = _mm512_min_epu16(_mm512_packus_epi32(w[2], w[3]), max_lanes);
    const auto lower = [](unsigned i) { return i / 32 * 64 + i / 4 % 4 * 16 + i / 16 % 2 * 8 + i % 4 * 2; };
    const auto upper = [](unsigned i) {
      return i / 32 * 64 + i / 4 % 4 * 16 + i / 16 % 2 * 8 + i % 4 * 2 + 1;
    };
    low = _mm512_permutex2var_epi8(a, bytes_by(lower), b);
    high = _mm512_permutex2var_epi8(a, bytes_by(upper), b);
  }
  static void clamp32(const Words& w, std::uint32_t max, Bytes (&rows)[4]) noexcept {
    const auto clamped = [&](Bytes v) {
      return _mm512_min_epi32(_mm512_max_epi32(v, _mm512_setzero_si512()),
                              _mm512_set1_epi32(static_cast<int>(max)));
    };
    Bytes even[2], odd[2];
    unzip(clamped(w[0]), clamped(w[1]), even[0], odd[0]);
    unzip(clamped(w[2]), clamped(w[3]), even[1], odd[1]);
    unzip(even[0], even[1], rows[0], rows[2]);
    unzip(odd[0], odd[1], rows[1], rows[3]);
  }
  template <unsigned rows>
  static void join(const std::byte* from, Bytes top, Words& w) noexcept {
    w[0] = spread<0>(top, rows);
    w[1] = spread<1>(top, rows);
    w[2] = spread<2>(top, rows);
    w[3] = spread<3>(top, rows);
    for (unsigned k = 0; k < rows; ++k) {
      const Bytes bytes = load(from + 64 * k);
      w[0] = bit_or(w[0], spread<0>(bytes, k));
      w[1] = bit_or(w[1], spread<1>(bytes, k));
      w[2] = bit_or(w[2], spread<2>(bytes, k));
      w[3] = bit_or(w[3], spread<3>(bytes, k));
    }
  }

  // A scan combines in doubling steps within a vector; `carry_` holds the contribution of earlier vectors.
  template <class Word, unsigned distance>
  class Scan {
   public:
    explicit Scan(Bytes before) noexcept : carry_(last_words(before)) {}

    template <class Op>
    Bytes operator()(Bytes v, const Op& op) noexcept {
      const auto combined = [&](Bytes a, Bytes b) { return map_words<Word>(op, a, b); };
      if constexpr (in_lanes) {
        for (unsigned shift = bytes; shift < 16; shift *= 2)
          v = combined(v, _mm512_shuffle_epi8(v, places_before(shift)));
        v = combined(v, lane_before<0xA, 0, 0, 0, 2>(v));
        v = combined(v, lane_before<0xC, 0, 0, 1, 1>(v));
      } else {
        for (unsigned shift = bytes; shift < 64; shift *= 2)
          v = combined(v, _mm512_maskz_permutexvar_epi8(~std::uint64_t{0} << shift, places_before(shift), v));
      }
      const Bytes result = combined(v, carry_);
      // Computing the carry from `v`, not from `result`, leaves one operation in the dependency chain between
      // vectors.
      carry_ = combined(periodic ? carry_ : last_words(carry_), last_words(v));
      return result;
    }

   private:
    static constexpr unsigned bytes = distance * sizeof(Word);
    static constexpr bool periodic = 64 % bytes == 0, in_lanes = 16 % bytes == 0;

    // Returns, for each position, the last word of `v` at a multiple of `distance` from it.
    static Bytes last_words(Bytes v) noexcept {
      return _mm512_permutexvar_epi8(bytes_by([](unsigned i) { return 64 - bytes + i % bytes; }), v);
    }
    static Bytes places_before(unsigned shift) noexcept {
      return _mm512_sub_epi8(bytes_by([](unsigned i) { return in_lanes ? i % 16 : i; }),
                             splat(static_cast<std::uint8_t>(shift)));
    }
    // Returns, in the lanes of the mask, the last words of the source lane `from` of each lane; 0 in other
    // lanes.
    template <unsigned mask, unsigned... from>
    static Bytes lane_before(Bytes v) noexcept {
      const auto places = [](unsigned i) {
        constexpr unsigned lane[] = {from...};
        return 16 * lane[i / 16] + 16 - bytes + i % bytes;
      };
      constexpr std::uint64_t lanes = (mask & 1) * 0xFFFFull | (mask >> 1 & 1) * 0xFFFF0000ull |
                                      (mask >> 2 & 1) * 0xFFFF00000000ull |
                                      (mask >> 3) * 0xFFFF000000000000ull;
      return _mm512_maskz_permutexvar_epi8(lanes, bytes_by(places), v);
    }

    Bytes carry_;
  };

 private:
  // Returns the mask `before` without the lanes in which a or b is NaN.
  template <class T>
  static __mmask16 ordered(__mmask16 before, Bytes a, Bytes b) noexcept {
    if constexpr (sizeof(T) == 4)
      return _mm512_mask_cmp_ps_mask(before, _mm512_castsi512_ps(a), _mm512_castsi512_ps(b), _CMP_ORD_Q);
    return _mm512_mask_cmp_pd_mask(static_cast<__mmask8>(before), _mm512_castsi512_pd(a),
                                   _mm512_castsi512_pd(b), _CMP_ORD_Q);
  }
  static void store_lanes(float* to, __mmask16 lanes, Bytes v) noexcept {
    _mm512_mask_storeu_epi32(to, lanes, v);
  }
  static void store_lanes(double* to, __mmask16 lanes, Bytes v) noexcept {
    _mm512_mask_storeu_epi64(to, static_cast<__mmask8>(lanes), v);
  }
  // Returns a vector with a lane for each of n vectors: the combination, by op, of all lanes of that vector.
  // The last level of the recursion combines neighbouring lanes, the level above pairs of lanes, the others
  // quarters.
  template <std::size_t n, class T, class Op>
  static Bytes folded(const Bytes* v, const Op& op) noexcept {
    if constexpr (n == 1) {
      return *v;
    } else {
      constexpr std::size_t half = n / 2;
      const Bytes a = folded<half, T>(v, op), b = folded<half, T>(v + half, op);
      if constexpr (half * sizeof(T) >= 16)
        return map_words<T>(op, _mm512_shuffle_i64x2(a, b, 0x88), _mm512_shuffle_i64x2(a, b, 0xDD));
      if constexpr (half * sizeof(T) == 8)
        return map_words<T>(op, _mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b));
      return map_words<T>(op, _mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
    }
  }

  // Returns the 16 bytes of quarter j, each in byte `at` of an integer of 32 bits.
  template <unsigned j>
  static Bytes spread(Bytes bytes, unsigned at) noexcept {
    const Bytes places = bytes_by([](unsigned i) { return 16 * j + i / 4; });
    return _mm512_maskz_permutexvar_epi8(std::uint64_t{0x1111111111111111} << at, places, bytes);
  }

  // Returns a cleared register. On Zen 4 and Zen 5, byte compression and expansion depend on the old value of
  // their target even when they zero it. A freshly cleared target keeps successive vectors independent.
  static Bytes cleared() noexcept {
    Bytes zero;
    asm("vpxord %0, %0, %0" : "=v"(zero));
    return zero;
  }
};

}  // namespace taut::simd
