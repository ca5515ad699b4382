// AVX2: bit slices, the planes of 32 blocks side by side: one register holds plane p of all blocks.
// Arithmetic on differences then becomes logic on planes. Included by the headers of the AVX2 kernel set
// only.
//
// Blocks 0 to 15 of a batch are in the lower lane of a register, blocks 16 to 31 in the upper lane. With
// eight bits or bytes a block, the even blocks of a lane come first. The number of a block in its lane is
// x = 2 k + b.
#pragma once

#include <immintrin.h>

#include "codecs/planes/kernels/kernels.hpp"

namespace taut::planes {
namespace {

// Functions on many registers are forced inline, because a call would pass the registers through memory.

inline constexpr std::size_t lane_blocks = 16, batch_blocks = 2 * lane_blocks;

constexpr std::size_t batches_of(std::size_t groups) {
  return (groups * group_blocks + batch_blocks - 1) / batch_blocks;
}

inline __m256i load256(const void* from) { return _mm256_loadu_si256(static_cast<const __m256i*>(from)); }
inline __m128i load128(const void* from) { return _mm_loadu_si128(static_cast<const __m128i*>(from)); }
inline void store256(void* to, __m256i v) { _mm256_storeu_si256(static_cast<__m256i*>(to), v); }
inline void store128(void* to, __m128i v) { _mm_storeu_si128(static_cast<__m128i*>(to), v); }

// Planes of differences of C bits: bit j of a byte of plane[p] is bit p of difference j of its block.
template <unsigned C>
struct BitSlices {
  __m256i plane[C];
};

// Eight 16-bit integers a block: part[x] holds block x | block 16 + x.
struct Batch16 {
  __m256i part[lane_blocks];
};

// ---- Transpositions

// Interleaves the elements (bytes or words) of the pairs among N registers whose numbers differ in one bit.
// That bit becomes the lowest bit of an element's position in its lane. The highest bit of the position
// becomes that bit of the register's number. The steps below name the bits of the number (k2 k1 k0; of 16
// registers, k2 k1 k0 b).
template <class Element, unsigned N, unsigned Bit>
[[gnu::always_inline]] inline void interleave(__m256i* r) {
  for (unsigned i = 0; i < N; ++i) {
    if ((i & Bit) != 0) continue;
    const __m256i a = r[i], b = r[i | Bit];
    r[i] = sizeof(Element) == 1 ? _mm256_unpacklo_epi8(a, b) : _mm256_unpacklo_epi16(a, b);
    r[i | Bit] = sizeof(Element) == 1 ? _mm256_unpackhi_epi8(a, b) : _mm256_unpackhi_epi16(a, b);
  }
}
template <class Element, unsigned N, unsigned... Bits>
[[gnu::always_inline]] inline void interleave_each(__m256i* r) {
  (interleave<Element, N, Bits>(r), ...);
}

// Exchanges bit p of byte register i with bit i of byte register p (Hacker's Delight, 2nd ed., section 7-3).
inline void transpose_bits(__m256i* v) {
  const auto swap = [v](unsigned distance, char mask) {
    const __m256i m = _mm256_set1_epi8(mask);
    const __m128i by = _mm_cvtsi32_si128(static_cast<int>(distance));
    for (unsigned i = 0; i < 8; ++i) {
      if ((i & distance) != 0) continue;
      const __m256i t = _mm256_and_si256(_mm256_xor_si256(_mm256_srl_epi16(v[i], by), v[i | distance]), m);
      v[i | distance] = _mm256_xor_si256(v[i | distance], t);
      v[i] = _mm256_xor_si256(v[i], _mm256_sll_epi16(t, by));
    }
  };
  swap(1, 0x55);
  swap(2, 0x33);
  swap(4, 0x0F);
}

// Moves byte i of the eight bytes of each block to register i. bytes[x] holds blocks x and x + 8 of each
// lane, x < 8.
inline void gather_bytes(const __m256i* bytes, __m256i* to) {
  __m256i r[8];
  for (unsigned i = 0; i < 8; ++i) r[i] = bytes[i];
  interleave_each<std::uint8_t, 8, 1, 1, 4, 2>(r);  // b, k2, k1, k0
  for (unsigned i = 0; i < 8; ++i) to[i] = r[(i >> 2 & 1) | (i >> 1 & 1) << 2 | (i & 1) << 1];
}

// Words of a batch: differences, or their sums.
struct BlockWords {
  Batch16 batch;
  __m256i last[2];  // the last word of the even and of the odd blocks, in the order of k
};

// Gathers the words of each block. Word i of a block consists of byte i of `low` and of `high`; with Sums,
// the word before is added.
template <bool Sums>
[[gnu::always_inline]] inline BlockWords gather_words(const __m256i* low, const __m256i* high) {
  __m256i half[2][8];  // even blocks, odd blocks
  for (unsigned i = 0; i < 8; ++i) {
    half[0][i] = _mm256_unpacklo_epi8(low[i], high[i]);
    half[1][i] = _mm256_unpackhi_epi8(low[i], high[i]);
    for (auto& words : half)
      if (Sums && i > 0) words[i] = _mm256_add_epi16(words[i], words[i - 1]);
  }
  BlockWords words;
  for (unsigned b = 0; b < 2; ++b) {
    words.last[b] = half[b][7];
    interleave_each<std::uint16_t, 8, 4, 2, 1>(half[b]);
    for (unsigned k = 0; k < 8; ++k) words.batch.part[2 * k + b] = half[b][k];
  }
  return words;
}

// ---- Arithmetic

template <unsigned C>
BitSlices<C> plus(const BitSlices<C>& a, const BitSlices<C>& b) {  // ripple carry, modulo 2^C
  BitSlices<C> sum;
  __m256i carry = _mm256_setzero_si256();
  for (unsigned p = 0; p < C; ++p) {
    const __m256i differ = _mm256_xor_si256(a.plane[p], b.plane[p]);
    sum.plane[p] = _mm256_xor_si256(differ, carry);
    carry = _mm256_or_si256(_mm256_and_si256(a.plane[p], b.plane[p]), _mm256_and_si256(differ, carry));
  }
  return sum;
}

// Writes the width of each block in the order of the blocks: the number of planes that do not merely repeat
// the sign.
template <unsigned C>
void write_widths_of(const BitSlices<C>& s, std::uint8_t* to) {
  const __m256i zero = _mm256_setzero_si256();
  __m256i changed = zero, width = _mm256_set1_epi8(static_cast<char>(C));
  // A plane is kept if this plane or a higher plane differs from the next lower plane.
  for (unsigned p = C; p-- > 0;) {
    const __m256i next = p == 0 ? zero : s.plane[p - 1];
    changed = _mm256_or_si256(changed, _mm256_xor_si256(s.plane[p], next));
    width = _mm256_add_epi8(width, _mm256_cmpeq_epi8(changed, zero));
  }
  const __m256i even_odd = _mm256_setr_epi8(0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15,  //
                                            0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15);
  store256(to, _mm256_shuffle_epi8(width, even_odd));
}

// ---- 16-bit integers <-> bit slices

// Converts integers to bit slices. With C = 8 the integers fit 8 bits.
template <unsigned C>
BitSlices<C> slices_of(const Batch16& d) {
  BitSlices<C> s;
  __m256i low[8], high[8];
  for (unsigned x = 0; x < 8; ++x) {
    const __m256i a = d.part[x], b = d.part[x + 8], bytes = _mm256_set1_epi16(255);
    if constexpr (C == 8) {
      low[x] = _mm256_packs_epi16(a, b);
    } else {
      low[x] = _mm256_packus_epi16(_mm256_and_si256(a, bytes), _mm256_and_si256(b, bytes));
      high[x] = _mm256_packus_epi16(_mm256_srli_epi16(a, 8), _mm256_srli_epi16(b, 8));
    }
  }
  gather_bytes(low, s.plane);
  transpose_bits(s.plane);
  if constexpr (C == 16) {
    gather_bytes(high, s.plane + 8);
    transpose_bits(s.plane + 8);
  }
  return s;
}

// Returns the differences or, with C = 8 and Sums, their sums from the start of each block, which fit 16
// bits.
template <bool Sums, unsigned C>
[[gnu::always_inline]] inline BlockWords words_of(BitSlices<C> s) {
  transpose_bits(s.plane);
  if constexpr (C == 16) {
    transpose_bits(s.plane + 8);
    return gather_words<Sums>(s.plane, s.plane + 8);
  } else {
    __m256i sign[8];
    for (unsigned i = 0; i < 8; ++i) sign[i] = _mm256_cmpgt_epi8(_mm256_setzero_si256(), s.plane[i]);
    return gather_words<Sums>(s.plane, sign);
  }
}

}  // namespace
}  // namespace taut::planes
