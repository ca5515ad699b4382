// Avx2, an instruction set with vectors of 64 bytes in two registers of AVX2. compressor/simd/scalar.hpp
// explains the operations. The header is included by files that are compiled for AVX2 only.
#pragma once

#include <immintrin.h>

#include <limits>

#include "compressor/simd/scalar.hpp"

namespace taut::simd {

struct Avx2 : BitPlanes<Avx2> {
  using Register = __m256i;
  struct Bytes {
    Register lo, hi;
  };
  static constexpr bool has_compress = false;

  template <class Op, class... V>
  static Bytes each(const Op& op, const V&... v) noexcept {
    return {op(v.lo...), op(v.hi...)};
  }

  static Bytes load(const std::byte* from) noexcept {
    const auto* at = reinterpret_cast<const Register*>(from);
    return {_mm256_loadu_si256(at), _mm256_loadu_si256(at + 1)};
  }
  static void store(std::byte* to, const Bytes& v) noexcept {
    auto* at = reinterpret_cast<Register*>(to);
    _mm256_storeu_si256(at, v.lo);
    _mm256_storeu_si256(at + 1, v.hi);
  }
  static Bytes splat(std::uint8_t byte) noexcept { return {splat8(byte), splat8(byte)}; }
  static Register splat8(unsigned byte) noexcept { return _mm256_set1_epi8(static_cast<char>(byte)); }
  static Register splat64(std::uint64_t quadword) noexcept {
    return _mm256_set1_epi64x(static_cast<long long>(quadword));
  }
  static Bytes bit_or(const Bytes& a, const Bytes& b) noexcept {
    return {_mm256_or_si256(a.lo, b.lo), _mm256_or_si256(a.hi, b.hi)};
  }
  static Bytes shl(const Bytes& v, unsigned n) noexcept {
    const auto shifted = [n](Register r) {
      return _mm256_and_si256(_mm256_slli_epi16(r, static_cast<int>(n)), splat8(0xFFu << n));
    };
    return each(shifted, v);
  }
  static Bytes shr(const Bytes& v, unsigned n) noexcept {
    const auto shifted = [n](Register r) {
      return _mm256_and_si256(_mm256_srli_epi16(r, static_cast<int>(n)), splat8(0xFFu >> n));
    };
    return each(shifted, v);
  }
  template <int n>
  static Bytes rotl16(const Bytes& v) noexcept {
    return each([](Register r) { return _mm256_slli_epi16(r, n) | _mm256_srli_epi16(r, 16 - n); }, v);
  }

  static void unzip(const Bytes& a, const Bytes& b, Bytes& even, Bytes& odd) noexcept {
    unzip(a, even.lo, odd.lo);
    unzip(b, even.hi, odd.hi);
  }
  static void zip(const Bytes& even, const Bytes& odd, Bytes& a, Bytes& b) noexcept {
    a = zip(even.lo, odd.lo);
    b = zip(even.hi, odd.hi);
  }

  static std::uint64_t nonzero_mask(const Bytes& v) noexcept {
    const auto zeros = [](Register r) { return top_bits(_mm256_cmpeq_epi8(r, _mm256_setzero_si256())); };
    return ~(zeros(v.hi) << 32 | zeros(v.lo));
  }
  static std::uint64_t bit_mask(const Bytes& v, unsigned k) noexcept {
    const __m128i to_top = _mm_cvtsi32_si128(static_cast<int>(7 - k));
    return top_bits(_mm256_sll_epi16(v.hi, to_top)) << 32 | top_bits(_mm256_sll_epi16(v.lo, to_top));
  }
  static Bytes select(std::uint64_t mask, std::uint8_t byte) noexcept {
    const Register copies = splat64(mask), bits = splat64(0x8040201008040201);
    const auto chosen = [&](Register places) {
      const Register own = _mm256_and_si256(_mm256_shuffle_epi8(copies, places), bits);
      return _mm256_and_si256(_mm256_cmpeq_epi8(own, bits), splat8(byte));
    };
    return {chosen(_mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303)),
            chosen(_mm256_setr_epi64x(0x0404040404040404, 0x0505050505050505, 0x0606060606060606,
                                      0x0707070707070707))};
  }

  static std::byte* compress(std::byte* out, const Bytes& v, std::uint64_t mask) noexcept {
    out = compress(out, _mm256_castsi256_si128(v.lo), eight(mask, 0), eight(mask, 1));
    out = compress(out, _mm256_extracti128_si256(v.lo, 1), eight(mask, 2), eight(mask, 3));
    out = compress(out, _mm256_castsi256_si128(v.hi), eight(mask, 4), eight(mask, 5));
    return compress(out, _mm256_extracti128_si256(v.hi, 1), eight(mask, 6), eight(mask, 7));
  }
  static Bytes expand(const std::byte* in, std::uint64_t mask) noexcept {
    const __m128i a = expand(in, eight(mask, 0), eight(mask, 1));
    const __m128i b = expand(in, eight(mask, 2), eight(mask, 3));
    const __m128i c = expand(in, eight(mask, 4), eight(mask, 5));
    const __m128i d = expand(in, eight(mask, 6), eight(mask, 7));
    return {_mm256_set_m128i(b, a), _mm256_set_m128i(d, c)};
  }

  class Lookup16 {
   public:
    explicit Lookup16(const std::uint8_t* table) noexcept : table_(in_both_lanes(table)) {}
    Bytes operator()(const Bytes& v) const noexcept {
      return each([this](Register r) { return _mm256_shuffle_epi8(table_, r); }, v);
    }

   private:
    Register table_;
  };

  // A table of 256 bytes has 16 rows of 16 bytes. Rows that hold only `common` are left out.
  class Lookup256 {
   public:
    explicit Lookup256(const std::uint8_t* table, std::uint8_t common) noexcept : common_(splat8(common)) {
      for (unsigned row = 0; row < 16; ++row) {
        const Register entries = _mm256_xor_si256(in_both_lanes(table + 16 * row), common_);
        if (_mm256_testz_si256(entries, entries)) continue;
        first_[rows_] = splat8(16 * row);
        entries_[rows_++] = entries;
      }
    }
    Bytes operator()(const Bytes& v) const noexcept {
      return each([this](Register r) { return entries_of(r); }, v);
    }

   private:
    // A shuffle gives 0 if the top bit of the index is set. The addition sets it for bytes of other rows.
    Register entries_of(Register v) const noexcept {
      Register found = common_;
      for (unsigned i = 0; i < rows_; ++i) {
        const Register place = _mm256_adds_epu8(_mm256_xor_si256(v, first_[i]), splat8(0x70));
        found = _mm256_xor_si256(found, _mm256_shuffle_epi8(entries_[i], place));
      }
      return found;
    }

    Register common_, first_[16], entries_[16];
    unsigned rows_ = 0;
  };

  template <class Word, class Op, class... R>
  static Register map_registers(const Op& op, R... r) noexcept {
    typedef Word Words __attribute__((vector_size(32)));
    return (Register)op((Words)r...);
  }
  template <class Word, class Op, class... V>
  static Bytes map_words(const Op& op, const V&... v) noexcept {
    return each([&](auto... r) { return map_registers<Word>(op, r...); }, v...);
  }

  template <unsigned size>
  static Bytes words_to_planes(const Bytes& v) noexcept {
    return each(mirror8x8, gather_bytes<size>(v));
  }
  template <unsigned size, std::uint8_t flip>
  static Bytes planes_to_words(const Bytes& planes) noexcept {
    return each([](Register r) { return _mm256_xor_si256(r, splat8(flip)); },
                scatter_bytes<size>(each(mirror8x8, planes)));
  }

  // ---- 64 integers of 32 bits

  using Words = Bytes[4];

  template <class T>
  static void extremes(const T* x, std::size_t rows, T* least, T* greatest) noexcept {
    constexpr std::size_t lanes = sizeof(Register) / sizeof(T);
    const auto lower = [](auto a, auto b) { return a < b ? a : b; };
    const auto higher = [](auto a, auto b) { return a > b ? a : b; };
    for (std::size_t row = 0; row < rows; ++row, x += 64) {
      const auto at = [x](std::size_t i) {
        return _mm256_loadu_si256(reinterpret_cast<const Register*>(x + i));
      };
      Register low = at(0), high = low, nan = _mm256_setzero_si256();
#pragma GCC unroll 8
      for (std::size_t i = 0; i < 64; i += 2 * lanes) {
        const Register v = at(i), w = at(i + lanes);
        nan = _mm256_or_si256(nan, unordered<T>(v, w));
        low = map_registers<T>(lower, low, map_registers<T>(lower, v, w));
        high = map_registers<T>(higher, high, map_registers<T>(higher, v, w));
      }
      least[row] =
          _mm256_movemask_epi8(nan) == 0 ? folded<T>(low, lower) : std::numeric_limits<T>::quiet_NaN();
      greatest[row] = folded<T>(high, higher);
    }
  }

  static Bytes nearest_floats(const Bytes& v) noexcept {
    return each([](Register r) { return _mm256_cvtps_epi32(_mm256_castsi256_ps(r)); }, v);
  }
  static Bytes nearest_doubles(const Bytes& a, const Bytes& b) noexcept {
    const auto four = [](Register r) { return _mm256_cvtpd_epi32(_mm256_castsi256_pd(r)); };
    return {_mm256_set_m128i(four(a.hi), four(a.lo)), _mm256_set_m128i(four(b.hi), four(b.lo))};
  }
  static Bytes floats(const Bytes& v) noexcept {
    return each([](Register r) { return _mm256_castps_si256(_mm256_cvtepi32_ps(r)); }, v);
  }
  static void doubles(const Bytes& v, Bytes& a, Bytes& b) noexcept {
    const auto four = [](__m128i integers) { return _mm256_castpd_si256(_mm256_cvtepi32_pd(integers)); };
    const auto eight = [&](Register r) -> Bytes {
      return {four(_mm256_castsi256_si128(r)), four(_mm256_extracti128_si256(r, 1))};
    };
    a = eight(v.lo);
    b = eight(v.hi);
  }
  static Bytes narrow(const Bytes& a, const Bytes& b) noexcept {
    const auto four = [](Register r) { return _mm256_cvtpd_ps(_mm256_castsi256_pd(r)); };
    return {(Register)_mm256_set_m128(four(a.hi), four(a.lo)),
            (Register)_mm256_set_m128(four(b.hi), four(b.lo))};
  }
  static Bytes load_halves(const std::byte* from) noexcept {
    const auto* at = reinterpret_cast<const __m128i*>(from);
    return {(Register)_mm256_cvtph_ps(_mm_loadu_si128(at)),
            (Register)_mm256_cvtph_ps(_mm_loadu_si128(at + 1))};
  }
  static void store_halves(std::byte* to, const Bytes& v) noexcept {
    const auto eight = [](Register r) { return _mm256_cvtps_ph((__m256)r, _MM_FROUND_TO_NEAREST_INT); };
    _mm256_storeu_si256(reinterpret_cast<Register*>(to), _mm256_set_m128i(eight(v.hi), eight(v.lo)));
  }
  template <class T>
  static Bytes multiply_add(const Bytes& v, T a, T b) noexcept {
    return map_words<T>([=](auto x) { return x * a + b; }, v);
  }

  static Bytes clamp8(const Words& w, std::uint32_t max) noexcept {
    const auto packed = [&](const Bytes& v, const Bytes& next) {
      const Register bytes =
          _mm256_packus_epi16(_mm256_packs_epi32(v.lo, v.hi), _mm256_packs_epi32(next.lo, next.hi));
      return in_order32(_mm256_min_epu8(bytes, splat8(max)));
    };
    return {packed(w[0], w[1]), packed(w[2], w[3])};
  }
  static void clamp16(const Words& w, std::uint32_t max, Bytes& low, Bytes& high) noexcept {
    const Register max_lanes = _mm256_set1_epi16(static_cast<short>(max)), byte = _mm256_set1_epi16(0xFF);
    const auto rows = [&](const Bytes& v, const Bytes& next, Register& lower, Register& upper) {
      const Register a = _mm256_min_epu16(_mm256_packus_epi32(v.lo, v.hi), max_lanes),
                     b = _mm256_min_epu16(_mm256_packus_epi32(next.lo, next.hi), max_lanes);
      lower = in_order32(_mm256_packus_epi16(_mm256_and_si256(a, byte), _mm256_and_si256(b, byte)));
      upper = in_order32(_mm256_packus_epi16(_mm256_srli_epi16(a, 8), _mm256_srli_epi16(b, 8)));
    };
    rows(w[0], w[1], low.lo, high.lo);
    rows(w[2], w[3], low.hi, high.hi);
  }
  static void clamp32(const Words& w, std::uint32_t max, Bytes (&rows)[4]) noexcept {
    const Register max_lanes = _mm256_set1_epi32(static_cast<int>(max));
    const auto by_place = [&](Register r) {
      r = _mm256_min_epi32(_mm256_max_epi32(r, _mm256_setzero_si256()), max_lanes);
      return shuffle(r, [](unsigned i) { return i % 4 * 4 + i / 4; });
    };
    const auto transpose = [&](const Bytes& v, const Bytes& next, Register Bytes::*half) {
      const Register a = by_place(v.lo), b = by_place(v.hi), c = by_place(next.lo), d = by_place(next.hi);
      const Register low = _mm256_unpacklo_epi32(a, b), high = _mm256_unpackhi_epi32(a, b);
      const Register next_low = _mm256_unpacklo_epi32(c, d), next_high = _mm256_unpackhi_epi32(c, d);
      rows[0].*half = in_order32(_mm256_unpacklo_epi64(low, next_low));
      rows[1].*half = in_order32(_mm256_unpackhi_epi64(low, next_low));
      rows[2].*half = in_order32(_mm256_unpacklo_epi64(high, next_high));
      rows[3].*half = in_order32(_mm256_unpackhi_epi64(high, next_high));
    };
    transpose(w[0], w[1], &Bytes::lo);
    transpose(w[2], w[3], &Bytes::hi);
  }
  template <unsigned rows>
  static void join(const std::byte* from, const Bytes& top, Words& w) noexcept {
    alignas(32) std::byte last[64];
    store(last, top);
    const auto eight = [&](std::size_t i) {
      const auto integers = [i](const std::byte* row) {
        return _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(row + i)));
      };
      Register joined = integers(last);
      for (unsigned k = rows; k-- > 0;)
        joined = _mm256_or_si256(_mm256_slli_epi32(joined, 8), integers(from + 64 * k));
      return joined;
    };
    for (std::size_t j = 0; j < 4; ++j) w[j] = {eight(16 * j), eight(16 * j + 8)};
  }

  // A scan combines in doubling steps within a register, then from one register to the next.
  template <class Word, unsigned distance>
  class Scan {
   public:
    explicit Scan(const Bytes& before) noexcept : before_(before) {}

    template <class Op>
    Bytes operator()(const Bytes& v, const Op& op) noexcept {
      before_ = {before_.hi, within<bytes>(v.lo, op)};
      before_ = {before_.hi, within<bytes>(v.hi, op)};
      return before_;
    }

   private:
    static constexpr unsigned bytes = distance * sizeof(Word);

    template <unsigned shift, class Op>
    Register within(Register v, const Op& op) const noexcept {
      if constexpr (shift < 32) {
        return within<2 * shift>(map_registers<Word>(op, v, shifted<shift>(v)), op);
      } else {
        return map_registers<Word>(op, v, last_words());
      }
    }

    template <unsigned shift>
    static Register shifted(Register v) noexcept {
      const Register lower = _mm256_permute2x128_si256(v, v, 0x08);  // zeros | lower lane
      if constexpr (shift < 16) return _mm256_alignr_epi8(v, lower, 16 - shift);
      return _mm256_slli_si256(lower, shift % 16);
    }

    // Returns, for each position, the last earlier word at a multiple of `distance` before it.
    Register last_words() const noexcept {
      if constexpr (bytes <= 16) {
        const Register upper = _mm256_permute4x64_epi64(before_.hi, 0xEE);
        const auto places = _mm256_loadu_si256(reinterpret_cast<const Register*>(cycle.data()));
        return _mm256_shuffle_epi8(upper, places);
      } else {
        constexpr int n = bytes / 4;
        const Register order = _mm256_setr_epi32(-n, -n + 1 % n, -n + 2 % n, -n + 3 % n, -n + 4 % n,
                                                 -n + 5 % n, -n + 6 % n, -n + 7 % n);
        const Register last = _mm256_permutevar8x32_epi32(before_.hi, order);
        if constexpr (n <= 8) return last;
        constexpr int earlier = n <= 8 ? 0 : (1 << (n - 8)) - 1;
        return _mm256_blend_epi32(last, _mm256_permutevar8x32_epi32(before_.lo, order), earlier);
      }
    }
    static constexpr auto cycle = [] {
      std::array<std::uint8_t, 32> table{};
      for (unsigned i = 0; i < 32; ++i) table[i] = static_cast<std::uint8_t>(16 - bytes + i % bytes);
      return table;
    }();

    Bytes before_;
  };

 private:
  static std::uint64_t top_bits(Register r) noexcept {
    return static_cast<std::uint32_t>(_mm256_movemask_epi8(r));
  }
  static Register in_both_lanes(const std::uint8_t* sixteen) noexcept {
    return _mm256_broadcastsi128_si256(_mm_load_si128(reinterpret_cast<const __m128i*>(sixteen)));
  }

  // Returns all ones where a or b is NaN.
  template <class T>
  static Register unordered(Register a, Register b) noexcept {
    if constexpr (sizeof(T) == 4)
      return _mm256_castps_si256(_mm256_cmp_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), _CMP_UNORD_Q));
    return _mm256_castpd_si256(_mm256_cmp_pd(_mm256_castsi256_pd(a), _mm256_castsi256_pd(b), _CMP_UNORD_Q));
  }
  // Returns the combination, by op, of all values of a register.
  template <class T, class Op>
  static T folded(Register v, const Op& op) noexcept {
    typedef T Values __attribute__((vector_size(16)));
    auto m = op((Values)_mm256_castsi256_si128(v), (Values)_mm256_extracti128_si256(v, 1));
    m = op(m, (Values)_mm_unpackhi_epi64((__m128i)m, (__m128i)m));
    return sizeof(T) == 8 ? m[0] : op(m[0], m[1]);
  }

  // Pack and unpack instructions work on each half of a register. in_order() and in_order32() restore the
  // order of the result: they exchange the two inner quarters, or interleave the doublewords of both halves.
  static Register in_order32(Register r) noexcept {
    return _mm256_permutevar8x32_epi32(r, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
  }
  static Register in_order(Register r) noexcept { return _mm256_permute4x64_epi64(r, 0xD8); }
  static void unzip(const Bytes& v, Register& even, Register& odd) noexcept {
    const Register mask = _mm256_set1_epi16(0xFF);
    even = in_order(_mm256_packus_epi16(_mm256_and_si256(v.lo, mask), _mm256_and_si256(v.hi, mask)));
    odd = in_order(_mm256_packus_epi16(_mm256_srli_epi16(v.lo, 8), _mm256_srli_epi16(v.hi, 8)));
  }
  static Bytes zip(Register even, Register odd) noexcept {
    const Register e = in_order(even), o = in_order(odd);
    return {_mm256_unpacklo_epi8(e, o), _mm256_unpackhi_epi8(e, o)};
  }

  // ---- Compression and expansion: 8 bytes at a time, with tables indexed by 8 bits of the mask

  // Shuffle indices for every 8-bit mask: the source byte of each output byte; 0x80 gives a zero byte.
  // `upper` holds the indices for the upper half of a lane, which start at 8.
  struct Places {
    std::array<std::uint64_t, 256> lower, upper;
  };
  template <class Fill>
  static constexpr Places places_by(Fill fill) noexcept {
    Places places{};
    for (unsigned mask = 0; mask < 256; ++mask) {
      std::array<std::uint8_t, 8> bytes{};
      fill(mask, bytes);
      places.lower[mask] = std::bit_cast<std::uint64_t>(bytes);
      places.upper[mask] = places.lower[mask] + 0x0808080808080808;
    }
    return places;
  }
  static const Places& compressing() noexcept {
    static constexpr Places places = places_by([](unsigned mask, std::array<std::uint8_t, 8>& from) {
      for (unsigned i = 0, n = 0; i < 8; ++i)
        if (mask >> i & 1) from[n++] = static_cast<std::uint8_t>(i);
    });
    return places;
  }
  static const Places& expanding() noexcept {
    static constexpr Places places = places_by([](unsigned mask, std::array<std::uint8_t, 8>& from) {
      for (unsigned i = 0, n = 0; i < 8; ++i) from[i] = mask >> i & 1 ? static_cast<std::uint8_t>(n++) : 0x80;
    });
    return places;
  }

  static std::uint8_t eight(std::uint64_t mask, unsigned i) noexcept {
    return static_cast<std::uint8_t>(mask >> 8 * i);
  }
  static __m128i joined(const void* lower, const void* upper) noexcept {
    return _mm_unpacklo_epi64(_mm_loadl_epi64(static_cast<const __m128i*>(lower)),
                              _mm_loadl_epi64(static_cast<const __m128i*>(upper)));
  }
  static std::byte* compress(std::byte* out, __m128i lane, std::uint8_t lower, std::uint8_t upper) noexcept {
    const Places& places = compressing();
    const __m128i v = _mm_shuffle_epi8(lane, joined(&places.lower[lower], &places.upper[upper]));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(out), v);
    out += _mm_popcnt_u32(lower);
    _mm_storel_epi64(reinterpret_cast<__m128i*>(out), _mm_unpackhi_epi64(v, v));
    return out + _mm_popcnt_u32(upper);
  }
  static __m128i expand(const std::byte*& in, std::uint8_t lower, std::uint8_t upper) noexcept {
    const Places& places = expanding();
    const std::byte* second = in + _mm_popcnt_u32(lower);
    const __m128i v = joined(in, second);
    in = second + _mm_popcnt_u32(upper);
    return _mm_shuffle_epi8(v, joined(&places.lower[lower], &places.upper[upper]));
  }

  // ---- Bit planes of words

  // Shuffles the bytes of each 16-byte lane: byte i comes from byte Rule(i).
  template <class Rule>
  static Register shuffle(Register v, Rule) noexcept {
    alignas(16) static constexpr auto from = [] {
      std::array<std::uint8_t, 16> table{};
      for (unsigned i = 0; i < 16; ++i) table[i] = static_cast<std::uint8_t>(Rule{}(i));
      return table;
    }();
    return _mm256_shuffle_epi8(v, in_both_lanes(from.data()));
  }

  // Mirrors each quadword, an 8 x 8 matrix of bits, at its antidiagonal.
  static Register mirror8x8(Register v) noexcept {
    Register t = _mm256_xor_si256(_mm256_srli_epi64(v, 36), _mm256_xor_si256(v, _mm256_slli_epi64(v, 36)));
    v = _mm256_xor_si256(v, _mm256_and_si256(t, splat64(0xF0F0F0F00F0F0F0F)));
    t = _mm256_and_si256(_mm256_xor_si256(v, _mm256_slli_epi64(v, 18)), splat64(0xCCCC0000CCCC0000));
    v = _mm256_xor_si256(v, _mm256_xor_si256(t, _mm256_srli_epi64(t, 18)));
    t = _mm256_and_si256(_mm256_xor_si256(v, _mm256_slli_epi64(v, 9)), splat64(0xAA00AA00AA00AA00));
    return _mm256_xor_si256(v, _mm256_xor_si256(t, _mm256_srli_epi64(t, 9)));
  }

  // Gathers the bytes of each block of 8 words by their place in the word: top byte and last word first.
  template <unsigned size>
  static Bytes gather_bytes(const Bytes& v) noexcept {
    if constexpr (size <= 2) {  // blocks of 8 or 16 bytes
      const auto by_place = [](unsigned i) {
        return i - i % (8 * size) + (7 - i % 8) * size + size - 1 - i % (8 * size) / 8;
      };
      return each([&](Register r) { return shuffle(r, by_place); }, v);
    } else if constexpr (size == 4) {
      const Register order = _mm256_setr_epi32(4, 0, 5, 1, 6, 2, 7, 3);
      const auto by_place = [](unsigned i) { return (3 - i % 4) * 4 + 3 - i / 4; };
      return each([&](Register r) { return _mm256_permutevar8x32_epi32(shuffle(r, by_place), order); }, v);
    } else {
      const auto by_place = [](unsigned i) { return (1 - i % 2) * 8 + 7 - i / 2; };
      const Register a = shuffle(v.lo, by_place), b = shuffle(v.hi, by_place);
      const Register odd = _mm256_permute2x128_si256(b, a, 0x31),
                     even = _mm256_permute2x128_si256(b, a, 0x20);
      const Register order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
      return {_mm256_permutevar8x32_epi32(_mm256_unpacklo_epi16(odd, even), order),
              _mm256_permutevar8x32_epi32(_mm256_unpackhi_epi16(odd, even), order)};
    }
  }
  template <unsigned size>
  static Bytes scatter_bytes(const Bytes& v) noexcept {
    if constexpr (size <= 2) {
      const auto by_word = [](unsigned i) {
        return i - i % (8 * size) + 8 * (size - 1 - i % size) + 7 - i % (8 * size) / size;
      };
      return each([&](Register r) { return shuffle(r, by_word); }, v);
    } else if constexpr (size == 4) {
      const Register order = _mm256_setr_epi32(1, 3, 5, 7, 0, 2, 4, 6);
      const auto by_word = [](unsigned i) { return (3 - i % 4) * 4 + 3 - i / 4; };
      return each([&](Register r) { return shuffle(_mm256_permutevar8x32_epi32(r, order), by_word); }, v);
    } else {
      const Register order = _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7);
      const auto pairs = [](unsigned i) { return i % 8 / 2 * 4 + i / 8 * 2 + i % 2; };
      const Register top = shuffle(_mm256_permutevar8x32_epi32(v.lo, order), pairs),
                     low = shuffle(_mm256_permutevar8x32_epi32(v.hi, order), pairs);
      const Register odd = _mm256_unpacklo_epi64(top, low), even = _mm256_unpackhi_epi64(top, low);
      const auto by_word = [](unsigned i) { return (7 - i % 8) * 2 + 1 - i / 8; };
      return {shuffle(_mm256_permute2x128_si256(even, odd, 0x31), by_word),
              shuffle(_mm256_permute2x128_si256(even, odd, 0x20), by_word)};
    }
  }
};

}  // namespace taut::simd
