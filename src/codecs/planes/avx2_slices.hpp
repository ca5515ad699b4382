// AVX2: the planes of 32 blocks side by side, plane p of all blocks in one register, so that arithmetic on
// differences becomes logic on planes. Included by avx2.cpp only.
//
// Registers of two 16-byte lanes keep even blocks in the lower and odd blocks in the upper lane throughout.
#pragma once

#include <immintrin.h>

#include "codecs/planes/kernels.hpp"

namespace taut::planes {
namespace {

inline constexpr std::size_t batch_blocks = 32;

constexpr std::size_t batches_of(std::size_t groups) {
  return (groups * group_blocks + batch_blocks - 1) / batch_blocks;
}

inline __m256i load256(const void* from) { return _mm256_loadu_si256(static_cast<const __m256i*>(from)); }
inline void store256(void* to, __m256i v) { _mm256_storeu_si256(static_cast<__m256i*>(to), v); }

// Planes of differences of C bits: byte b of plane[p] holds bit p of the eight differences of block b.
template <unsigned C>
struct Slices {
  __m256i plane[C];
};

// Eight bytes a block, of 32 blocks: register k holds blocks 4k and 4k + 2 | 4k + 1 and 4k + 3.
struct ByteRows {
  __m256i part[8];
};

// ---- Transpositions

// Interleaves the elements (bytes or words) of the registers whose numbers differ in one bit: that bit becomes
// the lowest of the place of an element in its lane, and the highest of the place becomes that bit of the
// register's number.
template <unsigned Bit, class Element = std::uint8_t>
void shuffle_step(__m256i* r) {
  for (unsigned i = 0; i < 8; ++i) {
    if ((i & Bit) != 0) continue;
    const __m256i a = r[i], b = r[i | Bit];
    if constexpr (sizeof(Element) == 1) {
      r[i] = _mm256_unpacklo_epi8(a, b);
      r[i | Bit] = _mm256_unpackhi_epi8(a, b);
    } else {
      r[i] = _mm256_unpacklo_epi16(a, b);
      r[i | Bit] = _mm256_unpackhi_epi16(a, b);
    }
  }
}

// Byte p of every block to register p, and back.
inline void gather_bytes(const ByteRows& rows, __m256i* to) {
  __m256i r[8];
  for (unsigned i = 0; i < 8; ++i) r[i] = rows.part[i];
  shuffle_step<4>(r);
  shuffle_step<2>(r);
  shuffle_step<1>(r);
  shuffle_step<4>(r);
  for (unsigned p = 0; p < 8; ++p) to[p] = r[(p & 1) << 2 | p >> 1];
}
inline ByteRows scatter_bytes(const __m256i* from) {
  ByteRows rows;
  for (unsigned i = 0; i < 8; ++i) rows.part[i] = from[i];
  shuffle_step<4>(rows.part);
  shuffle_step<2>(rows.part);
  shuffle_step<1>(rows.part);
  return rows;
}

// Bit p of byte register i <-> bit i of byte register p (Hacker's Delight, 2nd ed., section 7-3).
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

// ---- Arithmetic

template <unsigned C>
Slices<C> plus(const Slices<C>& a, const Slices<C>& b) {  // ripple carry, modulo 2^C
  Slices<C> sum;
  __m256i carry = _mm256_setzero_si256();
  for (unsigned p = 0; p < C; ++p) {
    const __m256i differ = _mm256_xor_si256(a.plane[p], b.plane[p]);
    sum.plane[p] = _mm256_xor_si256(differ, carry);
    carry = _mm256_or_si256(_mm256_and_si256(a.plane[p], b.plane[p]), _mm256_and_si256(differ, carry));
  }
  return sum;
}

// Width of each block: planes that do not merely repeat the sign; stored in the order of the blocks.
template <unsigned C>
void write_widths_of(const Slices<C>& s, std::uint8_t* to) {
  const __m256i zero = _mm256_setzero_si256();
  __m256i changed = zero, width = _mm256_set1_epi8(static_cast<char>(C));
  for (unsigned p = C; p-- > 0;) {  // a plane is kept once it, or one above, differs from the next lower one
    const __m256i next = p == 0 ? zero : s.plane[p - 1];
    changed = _mm256_or_si256(changed, _mm256_xor_si256(s.plane[p], next));
    width = _mm256_add_epi8(width, _mm256_cmpeq_epi8(changed, zero));
  }
  const __m256i odd = _mm256_permute2x128_si256(width, width, 1);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm256_castsi256_si128(_mm256_unpacklo_epi8(width, odd)));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to + 16),
                   _mm256_castsi256_si128(_mm256_unpackhi_epi8(width, odd)));
}

// ---- Rows: the planes of one block in C bytes, lowest plane first, the sign repeated upwards

template <unsigned C>
struct Rows {
  alignas(32) std::uint8_t of[chunk_blocks][C];
};

// The blocks that fill 16 bytes of rows: two of class 8, one of class 16. Their planes are found, or put, by
// one shuffle for each combination of widths.
template <unsigned C>
inline constexpr unsigned row_blocks = 16 / C;

// Widths of the blocks that share 16 bytes of rows, as the place of their shuffle and the bytes they take.
template <unsigned C>
struct Steps {
  alignas(32) std::uint16_t shuffle[chunk_blocks / row_blocks<C>], bytes[chunk_blocks / row_blocks<C>];

  Steps(const std::uint8_t* widths, std::size_t batches) {
    for (std::size_t i = 0; i < batches * batch_blocks / row_blocks<C>; i += 16) {
      __m256i number, sum;
      if constexpr (C == 8) {
        const __m256i w = load256(widths + 2 * i);
        number = _mm256_maddubs_epi16(w, _mm256_set1_epi16(0x0109));  // 9 * first + second
        sum = _mm256_maddubs_epi16(w, _mm256_set1_epi8(1));
      } else {
        number = sum = _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(widths + i)));
      }
      store256(shuffle + i, _mm256_slli_epi16(number, 4));
      store256(bytes + i, sum);
    }
  }
};

enum class Direction { to_rows, to_payload };

template <unsigned C, Direction To>
struct Shuffles {
  static constexpr unsigned second_widths = C == 8 ? 9 : 1;
  alignas(16) std::uint8_t of[(C + 1) * second_widths][16];

  constexpr Shuffles() : of() {
    for (unsigned first = 0; first <= C; ++first)
      for (unsigned second = 0; second < second_widths; ++second)
        To == Direction::to_rows ? rows(first, second, of[first * second_widths + second])
                                 : payload(first, second, of[first * second_widths + second]);
  }

  // Plane p of a row comes from the place where the planes from the sign downwards have come to p.
  static constexpr void rows(unsigned first, unsigned second, std::uint8_t* to) {
    for (unsigned i = 0; i < 16; ++i) {
      const unsigned p = i % C, width = i < C ? first : second, start = i < C ? 0 : first;
      to[i] = static_cast<std::uint8_t>(width == 0 ? 0x80 : start + (p < width ? width - 1 - p : 0));
    }
  }
  static constexpr void payload(unsigned first, unsigned second, std::uint8_t* to) {
    for (unsigned i = 0; i < 16; ++i)
      to[i] = static_cast<std::uint8_t>(i < first            ? first - 1 - i
                                        : i < first + second ? C + second - 1 - (i - first)
                                                             : 0x80);
  }
};

template <unsigned C, Direction To>
__m128i shuffled(const void* from, std::size_t shuffle) {
  static constexpr Shuffles<C, To> shuffles;
  const __m128i order = _mm_load_si128(reinterpret_cast<const __m128i*>(shuffles.of[0] + shuffle));
  return _mm_shuffle_epi8(_mm_loadu_si128(static_cast<const __m128i*>(from)), order);
}

template <unsigned C>
void read_rows(const PlanesIn& in, std::size_t batches, Rows<C>& rows) {
  const Steps<C> steps(in.widths->of, batches);
  const std::byte* at = in.payload;
#pragma GCC unroll 4
  for (std::size_t i = 0; i < batches * batch_blocks / row_blocks<C>; ++i) {
    const __m128i row = shuffled<C, Direction::to_rows>(at, steps.shuffle[i]);
    _mm_store_si128(reinterpret_cast<__m128i*>(rows.of[i * row_blocks<C>]), row);
    at += steps.bytes[i];
  }
}

template <unsigned C>
void write_rows(const Rows<C>& rows, std::size_t batches, PlanesOut& out) {
  const Steps<C> steps(out.widths.of, batches);
  std::byte* at = out.payload;
#pragma GCC unroll 4
  for (std::size_t i = 0; i < batches * batch_blocks / row_blocks<C>; ++i) {
    const __m128i planes = shuffled<C, Direction::to_payload>(rows.of[i * row_blocks<C>], steps.shuffle[i]);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(at), planes);
    at += steps.bytes[i];
  }
  out.bytes = static_cast<std::size_t>(at - out.payload);
  const std::size_t written = batches * batch_blocks;
  std::memset(out.widths.of + written, 0, chunk_blocks - written);
}

inline constexpr int lanes_apart = 0xD8;  // quarters 0, 2 | 1, 3: its own inverse

inline Slices<8> slices(const Rows<8>& rows, std::size_t batch) {
  ByteRows r;
  for (unsigned k = 0; k < 8; ++k)
    r.part[k] = _mm256_permute4x64_epi64(load256(rows.of[batch * batch_blocks + 4 * k]), lanes_apart);
  Slices<8> s;
  gather_bytes(r, s.plane);
  return s;
}

inline Slices<16> slices(const Rows<16>& rows, std::size_t batch) {
  ByteRows low, high;
  for (unsigned k = 0; k < 8; ++k) {
    const __m256i a = load256(rows.of[batch * batch_blocks + 4 * k]);
    const __m256i b = load256(rows.of[batch * batch_blocks + 4 * k + 2]);
    low.part[k] = _mm256_unpacklo_epi64(a, b);
    high.part[k] = _mm256_unpackhi_epi64(a, b);
  }
  Slices<16> s;
  gather_bytes(low, s.plane);
  gather_bytes(high, s.plane + 8);
  return s;
}

inline void write(const Slices<8>& s, std::size_t batch, Rows<8>& rows) {
  const ByteRows r = scatter_bytes(s.plane);
  for (unsigned k = 0; k < 8; ++k)
    store256(rows.of[batch * batch_blocks + 4 * k], _mm256_permute4x64_epi64(r.part[k], lanes_apart));
}

inline void write(const Slices<16>& s, std::size_t batch, Rows<16>& rows) {
  const ByteRows low = scatter_bytes(s.plane), high = scatter_bytes(s.plane + 8);
  for (unsigned k = 0; k < 8; ++k) {
    std::uint8_t(*const to)[16] = rows.of + batch * batch_blocks + 4 * k;
    store256(to[0], _mm256_unpacklo_epi64(low.part[k], high.part[k]));
    store256(to[2], _mm256_unpackhi_epi64(low.part[k], high.part[k]));
  }
}

// ---- Differences of 16 bits, two blocks a register: part[j] holds blocks 2j | 2j + 1

struct Batch16 {
  __m256i part[16];
};

// Of C = 8: the differences fit 8 bits.
template <unsigned C>
Slices<C> slices_of(const Batch16& d) {
  Slices<C> s;
  ByteRows low, high;
  for (unsigned k = 0; k < 8; ++k) {
    const __m256i a = d.part[2 * k], b = d.part[2 * k + 1], bytes = _mm256_set1_epi16(255);
    if constexpr (C == 8) {
      low.part[k] = _mm256_packs_epi16(a, b);
    } else {
      low.part[k] = _mm256_packus_epi16(_mm256_and_si256(a, bytes), _mm256_and_si256(b, bytes));
      high.part[k] = _mm256_packus_epi16(_mm256_srli_epi16(a, 8), _mm256_srli_epi16(b, 8));
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

template <unsigned C>
Batch16 differences_of(Slices<C> s) {
  Batch16 d;
  transpose_bits(s.plane);
  const ByteRows low = scatter_bytes(s.plane);
  ByteRows high;
  if constexpr (C == 8) {
    for (unsigned k = 0; k < 8; ++k) high.part[k] = _mm256_cmpgt_epi8(_mm256_setzero_si256(), low.part[k]);
  } else {
    transpose_bits(s.plane + 8);
    high = scatter_bytes(s.plane + 8);
  }
  for (unsigned k = 0; k < 8; ++k) {
    d.part[2 * k] = _mm256_unpacklo_epi8(low.part[k], high.part[k]);
    d.part[2 * k + 1] = _mm256_unpackhi_epi8(low.part[k], high.part[k]);
  }
  return d;
}

// ---- Prefix sums of 8-bit differences: within a block they fit 16 bits, and so do those over a batch

struct PrefixSums {
  Batch16 within;     // a block, up to each place
  __m256i totals[2];  // of blocks 0 to 15 and 16 to 31: even ones in the lower lane, odd ones in the upper
};

inline PrefixSums prefix_sums_of(Slices<8> s) {
  PrefixSums sums;
  __m256i* const low = sums.within.part;
  __m256i* const high = low + 8;
  transpose_bits(s.plane);
  for (unsigned i = 0; i < 8; ++i) {
    const __m256i sign = _mm256_cmpgt_epi8(_mm256_setzero_si256(), s.plane[i]);
    const __m256i l = _mm256_unpacklo_epi8(s.plane[i], sign), h = _mm256_unpackhi_epi8(s.plane[i], sign);
    low[i] = i == 0 ? l : _mm256_add_epi16(low[i - 1], l);
    high[i] = i == 0 ? h : _mm256_add_epi16(high[i - 1], h);
  }
  sums.totals[0] = low[7];
  sums.totals[1] = high[7];
  for (__m256i* half : {low, high}) {
    shuffle_step<4, std::uint16_t>(half);
    shuffle_step<2, std::uint16_t>(half);
    shuffle_step<1, std::uint16_t>(half);
  }
  return sums;
}

// Writes the sum of all that comes before each of 16 blocks, `before` them and their totals' own; returns the
// sum behind them.
inline std::int32_t write_starts(__m256i totals, std::int32_t before, std::int32_t* to) {
  const __m256i odd = _mm256_permute2x128_si256(totals, totals, 0x01);
  const __m256i pair = _mm256_add_epi16(totals, odd);
  __m256i upto = pair;
  upto = _mm256_add_epi16(upto, _mm256_slli_si256(upto, 2));
  upto = _mm256_add_epi16(upto, _mm256_slli_si256(upto, 4));
  upto = _mm256_add_epi16(upto, _mm256_slli_si256(upto, 8));
  const __m256i even_first = _mm256_permute2x128_si256(totals, totals, 0x08);  // zero | even totals
  const __m256i start = _mm256_add_epi16(_mm256_sub_epi16(upto, pair), even_first);
  const __m256i other = _mm256_permute2x128_si256(start, start, 0x01), all = _mm256_set1_epi32(before);
  const __m128i first = _mm256_castsi256_si128(_mm256_unpacklo_epi16(start, other));
  const __m128i last = _mm256_castsi256_si128(_mm256_unpackhi_epi16(start, other));
  store256(to, _mm256_add_epi32(_mm256_cvtepi16_epi32(first), all));
  store256(to + 8, _mm256_add_epi32(_mm256_cvtepi16_epi32(last), all));
  return before + static_cast<std::int16_t>(_mm_extract_epi16(_mm256_castsi256_si128(upto), 7));
}

}  // namespace
}  // namespace taut::planes
