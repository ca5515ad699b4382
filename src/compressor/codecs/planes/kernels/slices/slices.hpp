// Bit slices: the planes of many blocks side by side. One register holds plane p of all blocks, so that
// arithmetic on differences is logic on planes. The functions are templates over the registers of an
// instruction set, `R`:
//
//   Register                                bytes in lanes of 16 bytes, with the operators &, | and ^
//   lanes                                   number of lanes of a register: two with AVX2, one with NEON
//   Words, Ints                             eight 16-bit integers, eight 32-bit integers
//   load(from), store(to, v)                a register in memory
//   load_blocks(from, apart)                loads lanes that are `apart` bytes apart in memory
//   splat8(byte), splat16(word)             registers of equal elements
//   any(v)                                  true if some bit is set
//   zip_low<Element>(a, b)                  elements of a and b in turn, of the lower half of each lane
//   zip_high<Element>(a, b)                 likewise, of the upper half of each lane
//   zip_halves(v)                           bytes of the lower and the upper half of each lane in turn
//   add_bytes, add_words, subtract_words    sums and differences modulo 2^8 or 2^16
//   equal_zero(v), less_than_zero(v)        0xFF in the bytes that are 0, or negative
//   pack_words(a, b)                        words of a, then of b, in each lane, as bytes, which they fit
//   even_bytes(a, b), odd_bytes(a, b)       likewise the lower, or upper, bytes of any words
//   transpose8x8(v)                         exchanges bit p of byte register i with bit i of byte register p
//   shuffle_bytes(to, from, shuffle)        moves 16 bytes; source 0x80 of a byte in `shuffle`: 0
//   widths_of_pairs(widths, offsets, sums)  of 16 pairs: offset 16 (9 first + second) of the shuffle in
//                                           rows.hpp, and the sum first + second
//   widths_of_blocks(widths, offsets, sums) likewise of 16 widths: 16 width, width
//   prefix_sums(v), last<l>(v)              running sums of the words in each lane; last word of lane l
//   lane<l>(v)                              the words of lane l
//   load_words(from)                        Words in memory
//   widen(words), plus(words, i)            Ints: the words; the words plus i
//   store_packed(to, first, ints_at)        writes ints_at(first), ints_at(first + 8), ... as words
//   load_ints(from), store_ints(to, q)      Ints in memory
//   store_first_two(to, q)                  writes the first two integers
//   splat32(i), splat_pair(even, odd)       Ints of equal integers; of two integers in turn
//   add, subtract, bit_or(a, b)             sums, differences and bitwise or of Ints
//   all_below_16_bits(q)                    true if no bit above the lowest 16 is set
//   prefix_sums_over<lag>(q)                running sums over a lag of 1 or 2
//   broadcast_last<lag>(q)                  the last of these sums, in each lane
//   Rounder<T>(inverse)                     round(x) quantises a register of words
//                                           small(): true if all integers were in the small range
//   LargeRounder<T>(z)                      optional, for floats and doubles: round(x) quantises Ints, as
//                                           LargeValues in loops.hpp; unchecked(): true if all of these had
//                                           at most unchecked_bits<T>
//   put<add>, put_large, Widths             as in loops.hpp
//
// A batch is as many blocks as a register has bytes: 16 a lane, blocks 0 to 15 in the first lane. With eight
// bits or bytes a block, the even blocks of a lane come first. The number of a block in its lane is
// x = 2 k + b.
#pragma once

#include "compressor/codecs/planes/kernels/kernels.hpp"

namespace taut::planes {
namespace {  // one copy for each kernel set, compiled with its instructions

// Functions on many registers are forced inline, because a call would pass the registers through memory.

inline constexpr std::size_t lane_blocks = 16, lane_bytes = 16;
template <class R>
inline constexpr std::size_t batch_blocks = R::lanes* lane_blocks;

template <class R>
constexpr std::size_t batches_of(std::size_t groups) {
  return (groups * group_blocks + batch_blocks<R> - 1) / batch_blocks<R>;
}

// Planes of differences of C bits: bit j of a byte of plane[p] is bit p of difference j of its block.
template <class R, unsigned C>
struct BitSlices {
  typename R::Register plane[C];
};

// A batch of blocks of eight 16-bit integers: lane l of part[x] holds block 16 l + x.
template <class R>
struct Batch {
  typename R::Register part[lane_blocks];
};

// ---- Transpositions

// Interleaves the elements (bytes or words) of each pair of the N registers r[i] and r[i | Bit]. The
// element's position in its lane gains the bit `Bit` of the register's number as its lowest bit. The
// register's number gains the highest bit of the element's position in its place. The steps below name the
// bits of the number (k2 k1 k0; of 16 registers, k2 k1 k0 b).
template <class R, class Element, unsigned N, unsigned Bit>
[[gnu::always_inline]] inline void interleave(typename R::Register* r) {
  for (unsigned i = 0; i < N; ++i) {
    if ((i & Bit) != 0) continue;
    const typename R::Register a = r[i], b = r[i | Bit];
    r[i] = R::template zip_low<Element>(a, b);
    r[i | Bit] = R::template zip_high<Element>(a, b);
  }
}
template <class R, class Element, unsigned N, unsigned... Bits>
[[gnu::always_inline]] inline void interleave_each(typename R::Register* r) {
  (interleave<R, Element, N, Bits>(r), ...);
}

// Moves byte i of the eight bytes of each block to register i. bytes[x] holds blocks x and x + 8 of each
// lane, x < 8.
template <class R>
inline void gather_bytes(const typename R::Register* bytes, typename R::Register* to) {
  typename R::Register r[8];
  for (unsigned i = 0; i < 8; ++i) r[i] = bytes[i];
  interleave_each<R, std::uint8_t, 8, 1, 1, 4, 2>(r);  // b, k2, k1, k0
  for (unsigned i = 0; i < 8; ++i) to[i] = r[(i >> 2 & 1) | (i >> 1 & 1) << 2 | (i & 1) << 1];
}

// Words of the blocks of a batch: differences, or their running sums in each block.
template <class R>
struct BlockWords {
  Batch<R> batch;
  typename R::Register last[2];  // the last word of the even and of the odd blocks, in the order of k
};

// Gathers the words of each block. Word i of a block consists of byte i of `low` and of `high`; with Sums,
// the words before it in the block are added.
template <bool Sums, class R>
[[gnu::always_inline]] inline BlockWords<R> gather_words(const typename R::Register* low,
                                                         const typename R::Register* high) {
  typename R::Register half[2][8];  // even blocks, odd blocks
  for (unsigned i = 0; i < 8; ++i) {
    half[0][i] = R::template zip_low<std::uint8_t>(low[i], high[i]);
    half[1][i] = R::template zip_high<std::uint8_t>(low[i], high[i]);
    for (auto& words : half)
      if (Sums && i > 0) words[i] = R::add_words(words[i], words[i - 1]);
  }
  BlockWords<R> words;
  for (unsigned b = 0; b < 2; ++b) {
    words.last[b] = half[b][7];
    interleave_each<R, std::uint16_t, 8, 4, 2, 1>(half[b]);
    for (unsigned k = 0; k < 8; ++k) words.batch.part[2 * k + b] = half[b][k];
  }
  return words;
}

// ---- Arithmetic

template <class R, unsigned C>
BitSlices<R, C> plus(const BitSlices<R, C>& a, const BitSlices<R, C>& b) {  // ripple carry, modulo 2^C
  BitSlices<R, C> sum;
  typename R::Register carry = R::splat8(0);
  for (unsigned p = 0; p < C; ++p) {
    const typename R::Register differ = a.plane[p] ^ b.plane[p];
    sum.plane[p] = differ ^ carry;
    carry = (a.plane[p] & b.plane[p]) | (differ & carry);
  }
  return sum;
}

// Writes the width of each block in the order of the blocks: the number of planes that do not merely repeat
// the sign.
template <class R, unsigned C>
void write_widths_of(const BitSlices<R, C>& s, std::uint8_t* to) {
  const typename R::Register zero = R::splat8(0);
  typename R::Register changed = zero, width = R::splat8(C);
  // A plane is kept if this plane or a higher plane differs from the next lower plane.
  for (unsigned p = C; p-- > 0;) {
    const typename R::Register next = p == 0 ? zero : s.plane[p - 1];
    changed = changed | (s.plane[p] ^ next);
    width = R::add_bytes(width, R::equal_zero(changed));
  }
  R::store(to, R::zip_halves(width));
}

// ---- 16-bit integers <-> bit slices

// Converts integers to bit slices. With C = 8 the integers fit 8 bits.
template <unsigned C, class R>
BitSlices<R, C> slices_of(const Batch<R>& d) {
  BitSlices<R, C> s;
  typename R::Register low[8], high[8];
  for (unsigned x = 0; x < 8; ++x) {
    if constexpr (C == 8) {
      low[x] = R::pack_words(d.part[x], d.part[x + 8]);
    } else {
      low[x] = R::even_bytes(d.part[x], d.part[x + 8]);
      high[x] = R::odd_bytes(d.part[x], d.part[x + 8]);
    }
  }
  gather_bytes<R>(low, s.plane);
  R::transpose8x8(s.plane);
  if constexpr (C == 16) {
    gather_bytes<R>(high, s.plane + 8);
    R::transpose8x8(s.plane + 8);
  }
  return s;
}

// Template argument of words_of().
constexpr bool as_sums = true, as_differences = false;

// Returns the differences or, with C = 8 and as_sums, their sums from the start of each block, which fit 16
// bits.
template <bool Sums, class R, unsigned C>
[[gnu::always_inline]] inline BlockWords<R> words_of(BitSlices<R, C> s) {
  R::transpose8x8(s.plane);
  if constexpr (C == 16) {
    R::transpose8x8(s.plane + 8);
    return gather_words<Sums, R>(s.plane, s.plane + 8);
  } else {
    typename R::Register sign[8];
    for (unsigned i = 0; i < 8; ++i) sign[i] = R::less_than_zero(s.plane[i]);
    return gather_words<Sums, R>(s.plane, sign);
  }
}

}  // namespace
}  // namespace taut::planes
