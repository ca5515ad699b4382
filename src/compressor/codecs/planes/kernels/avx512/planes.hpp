// AVX-512: conversion between groups of 64 differences and the planes of their blocks. Included by
// kernel_set.cpp only.
//
// C: class of the chunk, 8, 16 or 32. No difference has more than C bits. An expanded block has all C planes,
// a block in the payload those up to its width.
#pragma once

#include "compressor/codecs/planes/kernels/avx512/group.hpp"

namespace taut::planes {
namespace {

// ---- Masks of blocks

// Mask and sign of each block of a chunk, C bits each. The mask has a bit for each plane of the expanded
// block: 1 if the payload has the plane. The sign is 1 << (width - 1), or 0 for width 0.
template <unsigned C>
struct Masks;

template <>
struct Masks<8> {
  alignas(64) std::uint8_t mask[chunk_blocks], sign[chunk_blocks];
  void make(const Widths& widths, std::size_t blocks) {
    const __m512i masks =
        _mm512_broadcast_i32x4(_mm_setr_epi8(0, -128, -64, -32, -16, -8, -4, -2, -1, 0, 0, 0, 0, 0, 0, 0));
    const __m512i signs =
        _mm512_broadcast_i32x4(_mm_setr_epi8(0, 1, 2, 4, 8, 16, 32, 64, -128, 0, 0, 0, 0, 0, 0, 0));
    for (std::size_t i = 0; i < blocks; i += 64) {
      const __m512i w = _mm512_load_si512(widths.width + i);
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
          _mm512_cvtepu8_epi16(_mm256_load_si256(reinterpret_cast<const __m256i*>(widths.width + i)));
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
      const __m512i w =
          _mm512_cvtepu8_epi32(_mm_load_si128(reinterpret_cast<const __m128i*>(widths.width + i)));
      _mm512_store_si512(mask + i, _mm512_sllv_epi32(ones, _mm512_sub_epi32(c, w)));
      _mm512_store_si512(sign + i, _mm512_sllv_epi32(one, _mm512_sub_epi32(w, one)));
    }
  }
};

// ---- Reading

// Reader of the differences of a chunk from its planes.
template <unsigned C>
class PlaneReader {
 public:
  PlaneReader(const PlanesIn& in, std::size_t groups) : at_(in.payload) {
    masks_.make(*in.widths, groups * group_blocks);
  }

  [[gnu::always_inline]] Group<C> group(std::size_t g) {
    Group<C> out;
    for (unsigned i = 0; i < C / 8; ++i) out.part[i] = part(g * (C / 8) + i);
    return out;
  }

 private:
  // Reads register i: 64 / C blocks of C planes, the top plane first. The payload lacks the first C - width
  // of each.
  [[gnu::always_inline]] __m512i part(std::size_t i) {
    const auto mask = reinterpret_cast<const std::uint64_t*>(masks_.mask)[i];
    const __m512i planes = Avx512::expand(at_, mask);
    at_ += _mm_popcnt_u64(mask);
    return signed_values(to_values(planes), reinterpret_cast<const std::uint64_t*>(masks_.sign) + i);
  }

  // Extends the sign with (u ^ sign) - sign. The bytes of classes above 8 are reordered first.
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
      const __m512i first = _mm512_shuffle_epi32(both, static_cast<_MM_PERM_ENUM>(0));
      const __m512i last = _mm512_shuffle_epi32(both, static_cast<_MM_PERM_ENUM>(0x55));
      const __m512i sign = _mm512_mask_blend_epi64(0xF0, first, last);
      return _mm512_sub_epi32(_mm512_xor_si512(_mm512_permutexvar_epi8(order32(), u), sign), sign);
    }
  }

  // Shuffle indices: spread8 copies byte b of the eight sign bytes to all bytes of 64-bit lane b. spread16
  // copies word b of the four to all words of 128-bit lane b.
  static __m512i spread8() {
    return _mm512_set_epi64(0x0707070707070707, 0x0606060606060606, 0x0505050505050505, 0x0404040404040404,
                            0x0303030303030303, 0x0202020202020202, 0x0101010101010101, 0);
  }
  static __m512i spread16() {
    return _mm512_set_epi64(0x0706070607060706, 0x0706070607060706, 0x0504050405040504, 0x0504050405040504,
                            0x0302030203020302, 0x0302030203020302, 0x0100010001000100, 0x0100010001000100);
  }
  // Permutation for each 32-byte block: four rows of eight bytes, top byte row first -> eight 32-bit values.
  static __m512i order32() {
    return Avx512::bytes_by([](unsigned i) { return (i & 32) + (3 - i % 4) * 8 + (i & 31) / 4; });
  }

  const std::byte* at_;
  Masks<C> masks_;
};

// ---- Writing

// Sets all flags from the lowest flag upwards in every field of C bits. A field has one flag for each of the
// C planes of a block.
template <unsigned C>
std::uint64_t fill_upwards(std::uint64_t m) {
  constexpr auto drop = [](unsigned by) {  // drops bits moved in from the field below
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

// Writer of the planes and the widths of a chunk's differences.
template <unsigned C>
class PlaneWriter {
 public:
  explicit PlaneWriter(PlanesOut& out) : out_(out), at_(out.payload) {}

  [[gnu::always_inline]] void group(std::size_t g, const Group<C>& values) {
    for (unsigned i = 0; i < C / 8; ++i) part(g * (C / 8) + i, values.part[i]);
  }

  void finish(std::size_t groups) {
    out_.bytes = static_cast<std::size_t>(at_ - out_.payload);
    for (std::size_t i = 0; i < groups * group_blocks; i += 64 / (C / 8)) count_planes(i);
    std::memset(out_.widths.width + groups * group_blocks, 0, chunk_blocks - groups * group_blocks);
  }

 private:
  [[gnu::always_inline]] void part(std::size_t i, __m512i values) {
    const __m512i planes = to_planes(_mm512_permutexvar_epi8(rows(), values));
    const __mmask64 keep = kept(planes);
    at_ = Avx512::compress(at_, planes, keep);
    keep_[i] = keep;
  }

  // Returns the mask of the planes to be kept. A plane equal to the next lower one repeats the sign; the
  // plane below the last one counts as zero. The first plane that differs is kept, with all planes below it.
  static __mmask64 kept(__m512i planes) {
    if constexpr (C == 8) {  // x | -x has all bits from the lowest of x upwards
      const __m512i x = _mm512_xor_si512(planes, next_plane(planes));
      const __m512i upwards = _mm512_or_si512(x, _mm512_sub_epi64(_mm512_setzero_si512(), x));
      return _mm512_test_epi8_mask(upwards, upwards);
    } else {
      return fill_upwards<C>(_mm512_cmpneq_epi8_mask(planes, next_plane(planes)));
    }
  }

  // Permutation that separates the bytes of the values, top byte first; each row of eight has its values in
  // reverse order.
  static __m512i rows() {
    constexpr unsigned bytes = C / 8;
    return Avx512::bytes_by(
        [](unsigned i) { return i / C * C + (7 - i % 8) * bytes + (bytes - 1 - i % C / 8); });
  }

  static __m512i next_plane(__m512i planes) {
    if constexpr (C == 8) return _mm512_srli_epi64(planes, 8);
    if constexpr (C == 16) return _mm512_bsrli_epi128(planes, 1);
    const __m512i upper =
        _mm512_maskz_shuffle_i64x2(0x33, planes, planes, 0xF5);  // lanes 1 and 3 to lanes 0 and 2
    return _mm512_alignr_epi8(upper, planes, 1);
  }

  // Counts the widths of 64 / (C/8) blocks from the bits of their masks.
  void count_planes(std::size_t block) {
    const __m512i nibble = _mm512_set1_epi8(15);
    const __m512i ones =
        _mm512_broadcast_i32x4(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
    const __m512i m = _mm512_loadu_si512(reinterpret_cast<const std::uint8_t*>(keep_) + block * (C / 8));
    const __m512i low = _mm512_shuffle_epi8(ones, _mm512_and_si512(m, nibble));
    const __m512i high = _mm512_shuffle_epi8(ones, _mm512_and_si512(_mm512_srli_epi16(m, 4), nibble));
    const __m512i bytes = _mm512_add_epi8(low, high);
    std::uint8_t* const to = out_.widths.width + block;
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

}  // namespace
}  // namespace taut::planes
