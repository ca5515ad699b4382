// AVX2: registers for bit slices, with the operations that slices.hpp lists. Included by kernel_set.cpp only.
#pragma once

#include "compressor/codecs/planes/kernels/avx2/values.hpp"
#include "compressor/codecs/planes/kernels/avx2/widths.hpp"

namespace taut::planes {
namespace {

struct Avx2Registers {
  using Register = __m256i;
  using Words = __m128i;
  using Ints = __m256i;
  using Widths = Avx2Widths;
  static constexpr std::size_t lanes = 2;

  static Register load(const void* from) { return _mm256_loadu_si256(static_cast<const Register*>(from)); }
  static void store(void* to, Register v) { _mm256_storeu_si256(static_cast<Register*>(to), v); }
  static Words load_words(const void* from) { return _mm_loadu_si128(static_cast<const Words*>(from)); }
  static Register load_blocks(const void* from, std::size_t apart) {
    const auto* const first = static_cast<const std::byte*>(from);
    return _mm256_inserti128_si256(_mm256_castsi128_si256(load_words(first)), load_words(first + apart), 1);
  }
  static Register splat8(unsigned byte) { return _mm256_set1_epi8(static_cast<char>(byte)); }
  static Register splat16(unsigned word) { return _mm256_set1_epi16(static_cast<short>(word)); }
  static bool any(Register v) { return _mm256_testz_si256(v, v) == 0; }

  template <class Element>
  [[gnu::always_inline]] static Register zip_low(Register a, Register b) {
    if constexpr (sizeof(Element) == 1) return _mm256_unpacklo_epi8(a, b);
    if constexpr (sizeof(Element) == 2) return _mm256_unpacklo_epi16(a, b);
    return _mm256_unpacklo_epi64(a, b);
  }
  template <class Element>
  [[gnu::always_inline]] static Register zip_high(Register a, Register b) {
    if constexpr (sizeof(Element) == 1) return _mm256_unpackhi_epi8(a, b);
    if constexpr (sizeof(Element) == 2) return _mm256_unpackhi_epi16(a, b);
    return _mm256_unpackhi_epi64(a, b);
  }
  static Register zip_halves(Register v) {
    return _mm256_shuffle_epi8(v, _mm256_setr_epi8(0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15,  //
                                                   0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15));
  }

  static Register add_bytes(Register a, Register b) { return _mm256_add_epi8(a, b); }
  static Register add_words(Register a, Register b) { return _mm256_add_epi16(a, b); }
  static Register subtract_words(Register a, Register b) { return _mm256_sub_epi16(a, b); }
  static Register equal_zero(Register v) { return _mm256_cmpeq_epi8(v, splat8(0)); }
  static Register less_than_zero(Register v) { return _mm256_cmpgt_epi8(splat8(0), v); }

  static Register pack_words(Register a, Register b) { return _mm256_packs_epi16(a, b); }
  static Register even_bytes(Register a, Register b) {
    return _mm256_packus_epi16(_mm256_and_si256(a, splat16(255)), _mm256_and_si256(b, splat16(255)));
  }
  static Register odd_bytes(Register a, Register b) {
    return _mm256_packus_epi16(_mm256_srli_epi16(a, 8), _mm256_srli_epi16(b, 8));
  }

  // Hacker's Delight, 2nd ed., section 7-3.
  static void transpose8x8(Register* v) {
    const auto swap = [v](unsigned distance, unsigned mask) {
      const __m128i by = _mm_cvtsi32_si128(static_cast<int>(distance));
      for (unsigned i = 0; i < 8; ++i) {
        if ((i & distance) != 0) continue;
        const Register t =
            _mm256_and_si256(_mm256_xor_si256(_mm256_srl_epi16(v[i], by), v[i | distance]), splat8(mask));
        v[i | distance] = _mm256_xor_si256(v[i | distance], t);
        v[i] = _mm256_xor_si256(v[i], _mm256_sll_epi16(t, by));
      }
    };
    swap(1, 0x55);
    swap(2, 0x33);
    swap(4, 0x0F);
  }

  static void shuffle_bytes(void* to, const void* from, const void* shuffle) {
    _mm_storeu_si128(static_cast<Words*>(to), _mm_shuffle_epi8(load_words(from), load_words(shuffle)));
  }
  static void widths_of_pairs(const std::uint8_t* widths, std::uint16_t* offsets, std::uint16_t* sums) {
    const Register w = load(widths);
    store(offsets, _mm256_slli_epi16(_mm256_maddubs_epi16(w, _mm256_set1_epi16(0x0109)), 4));
    store(sums, _mm256_maddubs_epi16(w, splat8(1)));
  }
  static void widths_of_blocks(const std::uint8_t* widths, std::uint16_t* offsets, std::uint16_t* sums) {
    const Register w = _mm256_cvtepu8_epi16(load_words(widths));
    store(offsets, _mm256_slli_epi16(w, 4));
    store(sums, w);
  }

  static Register prefix_sums(Register v) {
    v = _mm256_add_epi16(v, _mm256_slli_si256(v, 2));
    v = _mm256_add_epi16(v, _mm256_slli_si256(v, 4));
    return _mm256_add_epi16(v, _mm256_slli_si256(v, 8));
  }
  template <std::size_t l>
  static Words lane(Register v) {
    return l == 0 ? _mm256_castsi256_si128(v) : _mm256_extracti128_si256(v, 1);
  }
  template <std::size_t l>
  static std::int16_t last(Register v) {
    return static_cast<std::int16_t>(_mm256_extract_epi16(v, 8 * l + 7));
  }

  static Ints widen(Words words) { return _mm256_cvtepi16_epi32(words); }
  static Ints plus(Words words, std::int32_t i) { return add(widen(words), splat32(i)); }
  template <class IntsAt>
  static void store_packed(std::int16_t* to, std::size_t first, const IntsAt& ints_at) {
    const Ints low = ints_at(first);
    store(to, _mm256_permute4x64_epi64(_mm256_packs_epi32(low, ints_at(first + 8)), 0xD8));
  }

  static Ints load_ints(const std::int32_t* from) { return load(from); }
  static void store_ints(std::int32_t* to, Ints q) { store(to, q); }
  static void store_first_two(std::int32_t* to, Ints q) {
    _mm_storel_epi64(reinterpret_cast<Words*>(to), _mm256_castsi256_si128(q));
  }
  static Ints splat32(std::int32_t i) { return _mm256_set1_epi32(i); }
  static Ints splat_pair(std::int32_t even, std::int32_t odd) {
    return _mm256_setr_epi32(even, odd, even, odd, even, odd, even, odd);
  }
  static Ints add(Ints a, Ints b) { return _mm256_add_epi32(a, b); }
  static Ints subtract(Ints a, Ints b) { return _mm256_sub_epi32(a, b); }
  static Ints bit_or(Ints a, Ints b) { return _mm256_or_si256(a, b); }
  static bool all_below_16_bits(Ints q) {
    return _mm256_testz_si256(q, splat32(static_cast<int>(0xFFFF0000u))) != 0;
  }

  template <std::size_t lag>
  static Ints prefix_sums_over(Ints q) {
    const Ints end = lag == 2 ? _mm256_setr_epi32(2, 3, 2, 3, 2, 3, 2, 3) : splat32(3);
    if constexpr (lag == 1) q = add(q, _mm256_slli_si256(q, 4));
    q = add(q, _mm256_slli_si256(q, 8));
    return add(q, _mm256_blend_epi32(splat32(0), _mm256_permutevar8x32_epi32(q, end), 0xF0));
  }
  template <std::size_t lag>
  static Ints broadcast_last(Ints q) {
    return _mm256_permutevar8x32_epi32(q, lag == 2 ? _mm256_setr_epi32(6, 7, 6, 7, 6, 7, 6, 7) : splat32(7));
  }

  // Quantiser of a register of words. After 2^14 is added, an integer out of the small range has the top bit
  // set.
  template <class T>
  class Rounder {
   public:
    explicit Rounder(ComputedIn<T> inverse) : inverse_(inverse) {}
    Register operator()(const T* x) {
      const Register pair =
          _mm256_packs_epi32(rounded_to_ints(x, inverse_), rounded_to_ints(x + 8, inverse_));
      seen_ = _mm256_or_si256(seen_, add_words(pair, splat16(1 << small_bits)));
      return _mm256_permute4x64_epi64(pair, 0xD8);
    }
    bool small() const { return (static_cast<unsigned>(_mm256_movemask_epi8(seen_)) & 0xAAAAAAAA) == 0; }

   private:
    ComputedIn<T> inverse_;
    Register seen_ = splat8(0);
  };

  // Quantiser of eight values; floats beyond the small range are computed in double.
  template <class T>
  class LargeRounder {
   public:
    explicit LargeRounder(const Quantiser<T>& z)
        : inverse_(z.inverse), scale_(1 / static_cast<double>(z.step)) {}
    Ints operator()(const T* x) {
      Ints q = rounded_in_double(x, scale_);
      if constexpr (sizeof(T) == 4) {
        const Ints in_float = rounded_to_ints(x, inverse_);
        q = _mm256_blendv_epi8(q, in_float, lanes_within<small_bits>(in_float));
      }
      seen_ = bit_or(seen_, add(q, splat32(1 << unchecked_bits<T>)));
      return q;
    }
    // Returns true if all integers had at most unchecked_bits<T>.
    bool unchecked() const {
      return _mm256_testz_si256(seen_, splat32(static_cast<int>(~0u << (unchecked_bits<T> + 1)))) != 0;
    }

   private:
    ComputedIn<T> inverse_;
    double scale_;
    Ints seen_ = splat32(0);
  };

  template <bool add, class T, class Step>
  static void put(Ints q, Step step, T* to) {
    write_values<add>(q, step, to);
  }
  template <class Half>
  static void put_large(Ints q, float step, Half* to) {
    write_large(q, step, to);
  }
};

}  // namespace
}  // namespace taut::planes
