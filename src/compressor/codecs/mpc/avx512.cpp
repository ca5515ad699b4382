// AVX-512 kernels with VBMI, VBMI2 and GFNI.
#include <immintrin.h>

#include <array>

#include "compressor/codecs/mpc/lanes.hpp"
#include "compressor/codecs/mpc/pipeline.hpp"

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
struct Avx512 : Lanes<W, 64> {
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
    const Vector digits = Avx512::digits(differences);
    return mirrored<0>(_mm512_permutexvar_epi8(load_indices(gathering), digits));
  }

  static Vector differences(Vector planes) noexcept {
    const Vector digits = mirrored<0xAA>(planes);  // xor negabinary
    const Vector all = _mm512_set1_epi8(static_cast<char>(0xAA));
    return Avx512::subtract(_mm512_permutexvar_epi8(load_indices(scattering), digits), all);
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

  static Vector exclusive_or(Vector a, Vector b) noexcept { return _mm512_xor_si512(a, b); }
  static Vector load_indices(const Indices& table) noexcept { return _mm512_loadu_si512(table.data()); }
};

}  // namespace

const KernelSet& KernelSet::avx512() noexcept {
  static constexpr auto set = kernel_set<Avx512>("avx512", has_avx512);
  return set;
}

}  // namespace taut::mpc
