// AVX-512 kernels with VBMI, VBMI2 and GFNI.
#include <immintrin.h>

#include <array>

#include "codecs/mpc/pipeline.hpp"

namespace taut::mpc {
namespace {

using Indices = std::array<std::uint8_t, 64>;

template <class Function>
constexpr Indices indices(Function of) noexcept {
  Indices table{};
  for (std::size_t i = 0; i < 64; ++i) table[i] = static_cast<std::uint8_t>(of(i));
  return table;
}

// Returns a cleared register. On Zen 4 and Zen 5, byte compression and expansion depend on the old value of
// their target even when they zero it. A freshly cleared target keeps successive vectors independent.
inline __m512i fresh_zero() noexcept {
  __m512i zero;
  asm("vpxord %0, %0, %0" : "=v"(zero));
  return zero;
}

template <class W>
struct Avx512 {
  using Word = W;
  using Vector = __m512i;

  static Vector load(const std::byte* from) noexcept { return _mm512_loadu_si512(from); }
  static void store(std::byte* to, Vector v) noexcept { _mm512_storeu_si512(to, v); }

  // ---- BIT: the bytes of a block are gathered by their position in the word, last word first. Then each
  // quadword, 8 bits of 8 words, is mirrored at its antidiagonal.

  static constexpr std::size_t block(std::size_t i) noexcept { return i - i % (8 * sizeof(Word)); }
  static constexpr Indices gathering = indices([](std::size_t i) {
    const std::size_t place = i % (8 * sizeof(Word)) / 8, word = 7 - i % 8;
    return block(i) + word * sizeof(Word) + sizeof(Word) - 1 - place;
  });
  static constexpr Indices scattering = indices([](std::size_t i) {
    const std::size_t place = sizeof(Word) - 1 - i % sizeof(Word),
                      word = i % (8 * sizeof(Word)) / sizeof(Word);
    return block(i) + 8 * place + 7 - word;
  });

  template <int added>
  static Vector mirrored(Vector v) noexcept {
    return _mm512_gf2p8affine_epi64_epi8(_mm512_set1_epi64(0x0102040810204080), v, added);
  }

  static Vector planes(Vector differences) noexcept {
    const Vector a = negabinary(), digits = exclusive_or(add(differences, a), a);
    return mirrored<0>(_mm512_permutexvar_epi8(load_indices(gathering), digits));
  }

  static Vector differences(Vector planes) noexcept {
    const Vector digits = mirrored<0xAA>(planes);  // xor negabinary()
    return subtract(_mm512_permutexvar_epi8(load_indices(scattering), digits), negabinary());
  }

  // ---- ZE: zero elimination

  static std::uint64_t nonzero(Vector v) noexcept { return _mm512_test_epi8_mask(v, v); }

  static std::byte* keep(std::byte* out, Vector v, std::uint64_t mask) noexcept {
    store(out, _mm512_mask_compress_epi8(fresh_zero(), mask, v));
    return out + _mm_popcnt_u64(mask);
  }

  static Vector restore(const std::byte* in, std::uint64_t mask) noexcept {
    Vector packed = load(in);
    asm("" : "+v"(packed));  // keeps the load separate: expansion from memory is microcoded on Zen
    return _mm512_mask_expand_epi8(fresh_zero(), mask, packed);
  }

  // ---- Inverse of LNV: in doubling steps within a vector; `carry_` holds the contribution of earlier
  // vectors.

  template <unsigned distance>
  class Scan {
   public:
    explicit Scan(Vector before) noexcept : carry_(last_words(before)) {}

    template <class Op>
    Vector operator()(Vector v, Op op) noexcept {
      if constexpr (in_lanes) {
        for (unsigned shift = bytes; shift < 16; shift *= 2)
          v = op(v, _mm512_shuffle_epi8(v, shifted(shift)));
        v = op(v, lane_before<0xA, 0, 0, 0, 2>(v));
        v = op(v, lane_before<0xC, 0, 0, 1, 1>(v));
      } else {
        for (unsigned shift = bytes; shift < 64; shift *= 2)
          v = op(v, _mm512_maskz_permutexvar_epi8(~std::uint64_t{0} << shift, shifted(shift), v));
      }
      const Vector result = op(v, carry_);
      // Computing the carry from `v`, not from `result`, leaves one operation in the dependency chain between
      // vectors.
      carry_ = op(periodic ? carry_ : last_words(carry_), last_words(v));
      return result;
    }

   private:
    static constexpr unsigned bytes = distance * sizeof(Word);
    static constexpr bool periodic = 64 % bytes == 0;

    // Returns, for each position, the last word of `v` at a multiple of `distance` from it.
    static Vector last_words(Vector v) noexcept {
      static constexpr Indices last = indices([](std::size_t i) { return 64 - bytes + i % bytes; });
      return _mm512_permutexvar_epi8(load_indices(last), v);
    }
    static Vector shifted(unsigned shift) noexcept {
      return _mm512_sub_epi8(load_indices(in_lanes ? lane_places : places),
                             _mm512_set1_epi8(static_cast<char>(shift)));
    }
    static constexpr Indices places = indices([](std::size_t i) { return i; });
    static constexpr Indices lane_places = indices([](std::size_t i) { return i % 16; });
    static constexpr bool in_lanes = 16 % bytes == 0;
    // Returns, in the lanes of the mask, the last words of the source lane `from` of each lane; 0 in other
    // lanes.
    template <unsigned mask, unsigned... from>
    static Vector lane_before(Vector v) noexcept {
      static constexpr unsigned lane[] = {from...};
      static constexpr Indices of =
          indices([](std::size_t i) { return 16 * lane[i / 16] + 16 - bytes + i % bytes; });
      constexpr std::uint64_t lanes = (mask & 1) * 0xFFFFull | (mask >> 1 & 1) * 0xFFFF0000ull |
                                      (mask >> 2 & 1) * 0xFFFF00000000ull |
                                      (mask >> 3) * 0xFFFF000000000000ull;
      return _mm512_maskz_permutexvar_epi8(lanes, load_indices(of), v);
    }

    Vector carry_;
  };

  // ---- Rounding

  static Vector round(Vector v, const Rounding& r) noexcept {
    const Vector sign = all(Word{1} << (8 * sizeof(Word) - 1)), one = all(1);
    const Vector place = subtract(_mm512_andnot_si512(sign, v), all(r.least_normal));
    const __m128i dropped = _mm_cvtsi32_si128(static_cast<int>(r.dropped));
    const Vector even = _mm512_and_si512(shift_right(v, dropped), one);
    const Vector up = add(add(v, all((std::uint64_t{1} << (r.dropped - 1)) - 1)), even);
    const Vector kept = _mm512_andnot_si512(all((std::uint64_t{1} << r.dropped) - 1), up);
    return where_less(place, all(r.range), kept, v);
  }

  // ---- Operations on lanes of the word size

  static Vector load_indices(const Indices& table) noexcept { return _mm512_loadu_si512(table.data()); }
  static Vector negabinary() noexcept { return _mm512_set1_epi8(static_cast<char>(0xAA)); }

  static Vector all(std::uint64_t x) noexcept {
    if constexpr (sizeof(Word) == 2) return _mm512_set1_epi16(static_cast<short>(x));
    if constexpr (sizeof(Word) == 4) return _mm512_set1_epi32(static_cast<int>(x));
    return _mm512_set1_epi64(static_cast<long long>(x));
  }
  static Vector add(Vector a, Vector b) noexcept {
    if constexpr (sizeof(Word) == 1) return _mm512_add_epi8(a, b);
    if constexpr (sizeof(Word) == 2) return _mm512_add_epi16(a, b);
    if constexpr (sizeof(Word) == 4) return _mm512_add_epi32(a, b);
    return _mm512_add_epi64(a, b);
  }
  static Vector subtract(Vector a, Vector b) noexcept {
    if constexpr (sizeof(Word) == 1) return _mm512_sub_epi8(a, b);
    if constexpr (sizeof(Word) == 2) return _mm512_sub_epi16(a, b);
    if constexpr (sizeof(Word) == 4) return _mm512_sub_epi32(a, b);
    return _mm512_sub_epi64(a, b);
  }
  static Vector exclusive_or(Vector a, Vector b) noexcept { return _mm512_xor_si512(a, b); }
  static Vector shift_right(Vector a, __m128i by) noexcept {
    if constexpr (sizeof(Word) == 2) return _mm512_srl_epi16(a, by);
    if constexpr (sizeof(Word) == 4) return _mm512_srl_epi32(a, by);
    return _mm512_srl_epi64(a, by);
  }
  // a < b ? then : otherwise, unsigned
  static Vector where_less(Vector a, Vector b, Vector then, Vector otherwise) noexcept {
    if constexpr (sizeof(Word) == 2)
      return _mm512_mask_mov_epi16(otherwise, _mm512_cmplt_epu16_mask(a, b), then);
    if constexpr (sizeof(Word) == 4)
      return _mm512_mask_mov_epi32(otherwise, _mm512_cmplt_epu32_mask(a, b), then);
    return _mm512_mask_mov_epi64(otherwise, _mm512_cmplt_epu64_mask(a, b), then);
  }
};

template <class Word>
constexpr Kernels kernels = {Pipeline<Avx512<Word>>::encode, Pipeline<Avx512<Word>>::decode,
                             Pipeline<Avx512<Word>>::round};
template <>
constexpr Kernels kernels<std::uint8_t> = {Pipeline<Avx512<std::uint8_t>>::encode,
                                           Pipeline<Avx512<std::uint8_t>>::decode, nullptr};

}  // namespace

const KernelSet& avx512_kernels() noexcept {
  static constexpr KernelSet set{
      "avx512",
      []() noexcept {
        return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi") &&
               __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("avx512vnni") &&
               __builtin_cpu_supports("gfni") && __builtin_cpu_supports("bmi2");
      },
      {kernels<std::uint8_t>, kernels<std::uint16_t>, kernels<std::uint32_t>, kernels<std::uint64_t>},
  };
  return set;
}

}  // namespace taut::mpc
