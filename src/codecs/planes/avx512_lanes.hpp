// AVX-512 (BW, VBMI, VBMI2, VNNI, GFNI): groups of 64 differences as registers, and their way to and from
// planes. Included by avx512.cpp only. A group of class C holds each difference in C = 8, 16 or 32 bits.
#pragma once

#include <immintrin.h>

#include "codecs/planes/kernels.hpp"

namespace taut::planes {
namespace {

template <unsigned C>
struct Group {
  __m512i part[C / 8];  // 64 / (C/8) values each, in order
};

// ---- Bit transposition
// --------------------------------------------------------------------------------------------

// In each 64-bit lane: byte b of the result holds bit b of the bytes, the first byte as the top bit. The
// operand plays the matrix, the identity is transformed. Planes stand sign first, so both directions need no
// byte reversal here.
inline __m512i to_values(__m512i planes) {
  return _mm512_gf2p8affine_epi64_epi8(_mm512_set1_epi64(static_cast<long long>(0x8040201008040201)), planes,
                                       0);
}
inline __m512i to_planes(__m512i reversed_values) {
  return _mm512_gf2p8affine_epi64_epi8(_mm512_set1_epi64(0x0102040810204080), reversed_values, 0);
}

// Expansion and compression wait for the old value of their target even when they zero it (Zen 4, Zen 5): a
// cleared register of its own keeps the groups independent.
inline __m512i fresh_zero() {
  __m512i zero;
  asm("vpxord %0, %0, %0" : "=v"(zero));
  return zero;
}

// ---- Masks: which bytes of an expanded block are present, as bits; sign: 1 << (width - 1)
// -------------------------

template <unsigned C>
struct Masks;  // of all blocks of a chunk: C/8 mask bits and one C-bit sign a block

template <>
struct Masks<8> {
  alignas(64) std::uint8_t mask[chunk_blocks], sign[chunk_blocks];
  void make(const Widths& widths, std::size_t blocks) {
    const __m512i masks =
        _mm512_broadcast_i32x4(_mm_setr_epi8(0, -128, -64, -32, -16, -8, -4, -2, -1, 0, 0, 0, 0, 0, 0, 0));
    const __m512i signs =
        _mm512_broadcast_i32x4(_mm_setr_epi8(0, 1, 2, 4, 8, 16, 32, 64, -128, 0, 0, 0, 0, 0, 0, 0));
    for (std::size_t i = 0; i < blocks; i += 64) {
      const __m512i w = _mm512_load_si512(widths.of + i);
      _mm512_store_si512(mask + i, _mm512_shuffle_epi8(masks, w));
      _mm512_store_si512(sign + i, _mm512_shuffle_epi8(signs, w));
    }
  }
};

template <>
struct Masks<16> {
  alignas(64) std::uint16_t mask[chunk_blocks], sign[chunk_blocks];
  void make(const Widths& widths, std::size_t blocks) {
    const __m512i ones = _mm512_set1_epi16(-1), one = _mm512_set1_epi16(1), c = _mm512_set1_epi16(16);
    for (std::size_t i = 0; i < blocks; i += 32) {
      const __m512i w =
          _mm512_cvtepu8_epi16(_mm256_load_si256(reinterpret_cast<const __m256i*>(widths.of + i)));
      _mm512_store_si512(mask + i, _mm512_sllv_epi16(ones, _mm512_sub_epi16(c, w)));
      _mm512_store_si512(sign + i, _mm512_sllv_epi16(one, _mm512_sub_epi16(w, one)));
    }
  }
};

template <>
struct Masks<32> {
  alignas(64) std::uint32_t mask[chunk_blocks], sign[chunk_blocks];
  void make(const Widths& widths, std::size_t blocks) {
    const __m512i ones = _mm512_set1_epi32(-1), one = _mm512_set1_epi32(1), c = _mm512_set1_epi32(32);
    for (std::size_t i = 0; i < blocks; i += 16) {
      const __m512i w = _mm512_cvtepu8_epi32(_mm_load_si128(reinterpret_cast<const __m128i*>(widths.of + i)));
      _mm512_store_si512(mask + i, _mm512_sllv_epi32(ones, _mm512_sub_epi32(c, w)));
      _mm512_store_si512(sign + i, _mm512_sllv_epi32(one, _mm512_sub_epi32(w, one)));
    }
  }
};

// ---- Reading
// ------------------------------------------------------------------------------------------------------

template <unsigned C>
class PlaneReader {
 public:
  PlaneReader(const PlanesIn& in, std::size_t groups) : at_(in.payload) {
    masks_.make(*in.widths, groups * group_blocks);
  }

  Group<C> group(std::size_t g) {
    Group<C> out;
    for (unsigned i = 0; i < C / 8; ++i) out.part[i] = part(g * (C / 8) + i);
    return out;
  }

 private:
  // The i-th register: 64 / C blocks of C bytes, of which those below the width are absent.
  __m512i part(std::size_t i) {
    const auto mask = reinterpret_cast<const std::uint64_t*>(masks_.mask)[i];
    __m512i packed = _mm512_loadu_si512(at_);
    asm("" : "+v"(packed));  // keeps the load apart: expanding from memory is microcoded on Zen
    const __m512i planes = _mm512_mask_expand_epi8(fresh_zero(), mask, packed);
    at_ += _mm_popcnt_u64(mask);
    return signed_values(to_values(planes), reinterpret_cast<const std::uint64_t*>(masks_.sign) + i);
  }

  // (u ^ sign) - sign extends the sign; bytes of wider classes are brought into order first.
  static __m512i signed_values(__m512i u, const std::uint64_t* signs) {
    if constexpr (C == 8) {
      const __m512i s = _mm512_shuffle_epi8(_mm512_set1_epi64(static_cast<long long>(*signs)), spread8());
      return _mm512_sub_epi8(_mm512_xor_si512(u, s), s);
    } else if constexpr (C == 16) {
      const __m512i order =
          _mm512_broadcast_i32x4(_mm_setr_epi8(8, 0, 9, 1, 10, 2, 11, 3, 12, 4, 13, 5, 14, 6, 15, 7));
      const __m512i s = _mm512_shuffle_epi8(_mm512_set1_epi64(static_cast<long long>(*signs)), spread16());
      return _mm512_sub_epi16(_mm512_xor_si512(_mm512_shuffle_epi8(u, order), s), s);
    } else {
      const __m512i both = _mm512_set1_epi64(static_cast<long long>(*signs));
      const __m512i s = _mm512_shuffle_epi32(both, static_cast<_MM_PERM_ENUM>(0));
      const __m512i t = _mm512_shuffle_epi32(both, static_cast<_MM_PERM_ENUM>(0x55));
      const __m512i sign = _mm512_mask_blend_epi64(0xF0, s, t);
      return _mm512_sub_epi32(_mm512_xor_si512(_mm512_permutexvar_epi8(order32(), u), sign), sign);
    }
  }

  // Byte b of the eight sign bytes to all bytes of 64-bit lane b; word b of the four to all words of 128-bit
  // lane b.
  static __m512i spread8() {
    return _mm512_set_epi64(0x0707070707070707, 0x0606060606060606, 0x0505050505050505, 0x0404040404040404,
                            0x0303030303030303, 0x0202020202020202, 0x0101010101010101, 0);
  }
  static __m512i spread16() {
    return _mm512_set_epi64(0x0706070607060706, 0x0706070607060706, 0x0504050405040504, 0x0504050405040504,
                            0x0302030203020302, 0x0302030203020302, 0x0100010001000100, 0x0100010001000100);
  }
  // Per block of 32 bytes: four rows of eight bytes, top byte row first -> eight 32-bit values.
  static __m512i order32() {
    alignas(64) static constexpr struct Index {
      std::uint8_t of[64];
      constexpr Index() : of() {
        for (unsigned i = 0; i < 64; ++i)
          of[i] = static_cast<std::uint8_t>((i & 32) + (3 - i % 4) * 8 + (i & 31) / 4);
      }
    } index;
    return _mm512_load_si512(index.of);
  }

  const std::byte* at_;
  Masks<C> masks_;
};

// ---- Writing
// ------------------------------------------------------------------------------------------------------

// One flag a plane, C planes a block: in every field of C bits sets all from the lowest flag upwards.
template <unsigned C>
std::uint64_t fill_upwards(std::uint64_t m) {
  constexpr auto drop = [](unsigned by) {  // bits that a shift by `by` moved in from the field below
    std::uint64_t keep = 0;
    for (unsigned i = 0; i < 64; ++i) keep |= std::uint64_t{i % C >= by} << i;
    return keep;
  };
  m |= (m << 1) & drop(1);
  m |= (m << 2) & drop(2);
  m |= (m << 4) & drop(4);
  if constexpr (C >= 16) m |= (m << 8) & drop(8);
  if constexpr (C >= 32) m |= (m << 16) & drop(16);
  return m;
}

template <unsigned C>
class PlaneWriter {
 public:
  explicit PlaneWriter(PlanesOut& out) : out_(out), at_(out.payload) {}

  void group(std::size_t g, const Group<C>& values) {
    for (unsigned i = 0; i < C / 8; ++i) part(g * (C / 8) + i, values.part[i]);
  }

  void finish(std::size_t groups) {
    out_.bytes = static_cast<std::size_t>(at_ - out_.payload);
    for (std::size_t i = 0; i < groups * group_blocks; i += 64 / (C / 8)) count_planes(i);
    std::memset(out_.widths.of + groups * group_blocks, 0, chunk_blocks - groups * group_blocks);
  }

 private:
  void part(std::size_t i, __m512i values) {
    const __m512i planes = to_planes(_mm512_permutexvar_epi8(rows(), values));
    // A plane equal to the next lower one repeats the sign; the plane below the last counts as zero.
    const std::uint64_t changes = _mm512_cmpneq_epi8_mask(planes, next_plane(planes));
    const std::uint64_t keep = fill_upwards<C>(changes);
    _mm512_storeu_si512(at_, _mm512_mask_compress_epi8(fresh_zero(), keep, planes));
    at_ += _mm_popcnt_u64(keep);
    keep_[i] = keep;
  }

  // Bytes of a value apart, top byte first; in each row of eight the values in reverse order.
  static __m512i rows() {
    alignas(64) static constexpr struct Index {
      std::uint8_t of[64];
      constexpr Index() : of() {
        constexpr unsigned bytes = C / 8;
        for (unsigned i = 0; i < 64; ++i) {
          const unsigned block = i / C, row = i % C / 8, value = 7 - i % 8;
          of[i] = static_cast<std::uint8_t>(block * C + value * bytes + (bytes - 1 - row));
        }
      }
    } index;
    return _mm512_load_si512(index.of);
  }

  static __m512i next_plane(__m512i planes) {
    if constexpr (C == 8) return _mm512_srli_epi64(planes, 8);
    if constexpr (C == 16) return _mm512_bsrli_epi128(planes, 1);
    const __m512i upper =
        _mm512_maskz_shuffle_i64x2(0x33, planes, planes, 0xF5);  // lanes 1 and 3 to lanes 0 and 2
    return _mm512_alignr_epi8(upper, planes, 1);
  }

  // Widths of 64 / (C/8) blocks from the bits of their masks.
  void count_planes(std::size_t block) {
    const __m512i nibble = _mm512_set1_epi8(15);
    const __m512i ones =
        _mm512_broadcast_i32x4(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
    const __m512i m = _mm512_loadu_si512(reinterpret_cast<const std::uint8_t*>(keep_) + block * (C / 8));
    const __m512i low = _mm512_shuffle_epi8(ones, _mm512_and_si512(m, nibble));
    const __m512i high = _mm512_shuffle_epi8(ones, _mm512_and_si512(_mm512_srli_epi16(m, 4), nibble));
    const __m512i bytes = _mm512_add_epi8(low, high);
    std::uint8_t* const to = out_.widths.of + block;
    if constexpr (C == 8) {
      _mm512_storeu_si512(to, bytes);
    } else if constexpr (C == 16) {
      const __m512i sums = _mm512_maddubs_epi16(bytes, _mm512_set1_epi8(1));
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm512_cvtepi16_epi8(sums));
    } else {
      const __m512i sums = _mm512_dpbusd_epi32(_mm512_setzero_si512(), bytes, _mm512_set1_epi8(1));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm512_cvtepi32_epi8(sums));
    }
  }

  PlanesOut& out_;
  std::byte* at_;
  alignas(64) std::uint64_t keep_[chunk_blocks * C / 64];
};

// ---- Prefix sums
// --------------------------------------------------------------------------------------------------

inline __m512i scan(__m512i v) {  // inclusive, over 16 lanes
  v = _mm512_add_epi32(v, _mm512_bslli_epi128(v, 4));
  v = _mm512_add_epi32(v, _mm512_bslli_epi128(v, 8));
  v = _mm512_add_epi32(
      v, _mm512_maskz_permutexvar_epi32(
             0xF0F0, _mm512_set_epi32(11, 11, 11, 11, 11, 11, 11, 11, 3, 3, 3, 3, 3, 3, 3, 3), v));
  return _mm512_add_epi32(v, _mm512_maskz_permutexvar_epi32(0xFF00, _mm512_set1_epi32(7), v));
}

// 64 integers from 64 differences; `carry` holds the last integer in every lane.
struct Integers {
  __m512i part[4];
};

// Lane l of register r takes from lane (16 r + l) / per of a register with `per` differences a lane.
template <unsigned Per>
inline __m512i spread(__m512i v, unsigned r) {
  static constexpr struct Index {
    alignas(64) std::uint32_t of[Per][16];
    constexpr Index() : of() {
      for (unsigned r = 0; r < Per; ++r)
        for (unsigned l = 0; l < 16; ++l) of[r][l] = (16 * r + l) / Per;
    }
  } index;
  return _mm512_permutexvar_epi32(_mm512_load_si512(index.of[r]), v);
}

inline __m512i last_lane(__m512i v) { return _mm512_permutexvar_epi32(_mm512_set1_epi32(15), v); }

// Sums of the differences of each 32-bit lane up to its own place in the spread-out register.
inline __m512i triangle8() { return _mm512_broadcast_i32x4(_mm_setr_epi32(0x1, 0x101, 0x10101, 0x1010101)); }
inline __m512i triangle16() { return _mm512_set1_epi64(0x0001000100000001); }

template <Predictor P>
Integers integers(const Group<8>& d, __m512i& carry) {
  Integers q;
  if constexpr (P == Predictor::none) {
    const __m512i one_hot = _mm512_broadcast_i32x4(_mm_setr_epi32(0x1, 0x100, 0x10000, 0x1000000));
    for (unsigned r = 0; r < 4; ++r)
      q.part[r] = _mm512_dpbusd_epi32(_mm512_setzero_si512(), one_hot, spread<4>(d.part[0], r));
  } else {
    const __m512i sums = _mm512_dpbusd_epi32(_mm512_setzero_si512(), _mm512_set1_epi8(1), d.part[0]);
    const __m512i upto = scan(sums);
    const __m512i before = _mm512_add_epi32(_mm512_sub_epi32(upto, sums), carry);
    carry = _mm512_add_epi32(carry, last_lane(upto));
    for (unsigned r = 0; r < 4; ++r)
      q.part[r] = _mm512_dpbusd_epi32(spread<4>(before, r), triangle8(), spread<4>(d.part[0], r));
  }
  return q;
}

template <Predictor P>
Integers integers(const Group<16>& d, __m512i& carry) {
  Integers q;
  for (unsigned h = 0; h < 2; ++h) {
    if constexpr (P == Predictor::none) {
      q.part[2 * h] = _mm512_cvtepi16_epi32(_mm512_castsi512_si256(d.part[h]));
      q.part[2 * h + 1] = _mm512_cvtepi16_epi32(_mm512_extracti64x4_epi64(d.part[h], 1));
    } else {
      const __m512i sums = _mm512_dpwssd_epi32(_mm512_setzero_si512(), _mm512_set1_epi16(1), d.part[h]);
      const __m512i upto = scan(sums);
      const __m512i before = _mm512_add_epi32(_mm512_sub_epi32(upto, sums), carry);
      carry = _mm512_add_epi32(carry, last_lane(upto));
      for (unsigned r = 0; r < 2; ++r)
        q.part[2 * h + r] = _mm512_dpwssd_epi32(spread<2>(before, r), triangle16(), spread<2>(d.part[h], r));
    }
  }
  return q;
}

template <Predictor P>
Integers integers(const Group<32>& d, __m512i& carry) {
  Integers q;
  for (unsigned r = 0; r < 4; ++r) {
    if constexpr (P == Predictor::none) {
      q.part[r] = d.part[r];
    } else {
      const __m512i upto = scan(d.part[r]);
      q.part[r] = _mm512_add_epi32(upto, carry);
      carry = _mm512_add_epi32(carry, last_lane(upto));
    }
  }
  return q;
}

// ---- Differences
// --------------------------------------------------------------------------------------------------

// Whether all differences seen so far fit `Bits` bits: bits beyond show in `seen` once half the range is
// added.
template <unsigned C, unsigned Bits>
struct Fit {
  __m512i seen = _mm512_setzero_si512();
  bool holds() const {
    if constexpr (C == 32) return true;
    constexpr auto beyond = static_cast<unsigned>(~std::uint64_t{0} << Bits);
    const __m512i bits =
        C == 8 ? _mm512_set1_epi16(static_cast<short>(beyond)) : _mm512_set1_epi32(static_cast<int>(beyond));
    return _mm512_test_epi32_mask(seen, bits) == 0;
  }
};

inline Group<32> differences(const Integers& q, __m512i& previous) {
  Group<32> d;
  for (unsigned r = 0; r < 4; ++r) {
    d.part[r] = _mm512_sub_epi32(q.part[r], _mm512_alignr_epi32(q.part[r], previous, 15));
    previous = q.part[r];
  }
  return d;
}

template <unsigned C, unsigned Bits>
Group<C> narrow(const Group<32>& d, Fit<C, Bits>& fit) {
  constexpr int half = C == 32 ? 0 : 1 << (Bits - 1);
  if constexpr (C == 32) {
    return d;
  } else if constexpr (C == 16) {
    const __m512i h = _mm512_set1_epi32(half);
    Group<16> out;
    for (unsigned i = 0; i < 2; ++i) {
      const __m512i a = d.part[2 * i], b = d.part[2 * i + 1];
      fit.seen = _mm512_ternarylogic_epi32(fit.seen, _mm512_add_epi32(a, h), _mm512_add_epi32(b, h), 0xFE);
      out.part[i] =
          _mm512_permutexvar_epi64(_mm512_set_epi64(7, 5, 3, 1, 6, 4, 2, 0), _mm512_packs_epi32(a, b));
    }
    return out;
  } else {
    const __m512i h = _mm512_set1_epi16(half);
    const __m512i a = _mm512_packs_epi32(d.part[0], d.part[1]), b = _mm512_packs_epi32(d.part[2], d.part[3]);
    fit.seen = _mm512_ternarylogic_epi32(fit.seen, _mm512_add_epi16(a, h), _mm512_add_epi16(b, h), 0xFE);
    const __m512i order = _mm512_set_epi32(15, 11, 7, 3, 14, 10, 6, 2, 13, 9, 5, 1, 12, 8, 4, 0);
    return {{_mm512_permutexvar_epi32(order, _mm512_packs_epi16(a, b))}};
  }
}

template <unsigned C>
Group<C> plus(const Group<C>& a, const Group<C>& b) {
  Group<C> sum;
  for (unsigned i = 0; i < C / 8; ++i) {
    if constexpr (C == 8) sum.part[i] = _mm512_add_epi8(a.part[i], b.part[i]);
    if constexpr (C == 16) sum.part[i] = _mm512_add_epi16(a.part[i], b.part[i]);
    if constexpr (C == 32) sum.part[i] = _mm512_add_epi32(a.part[i], b.part[i]);
  }
  return sum;
}

}  // namespace
}  // namespace taut::planes
