// AVX2: conversion between the payload of a chunk and bit slices (slices.hpp), through rows of 16 bytes. One
// shuffle reads a row from the payload or writes it there. Included by kernel_set.cpp only.
//
// C, here and in slices.hpp: class of the chunk, 8 or 16. No difference has more than C bits.
#pragma once

#include <array>

#include "codecs/planes/kernels/avx2/slices.hpp"

namespace taut::planes {
namespace {

// Number of blocks that share a row: two of class 8, one of class 16.
template <unsigned C>
inline constexpr unsigned row_blocks = 16 / C;
template <unsigned C>
inline constexpr std::size_t lane_rows = lane_blocks / row_blocks<C>;

// Rows of a batch as registers: the same row of both lanes side by side.
template <unsigned C>
struct Rows {
  alignas(32) std::uint8_t of[chunk_blocks / batch_blocks][lane_rows<C>][2][16];
};

// Widths of the blocks of a row, as the index of their shuffle and the bytes they take in the payload.
template <unsigned C>
struct RowWidths {
  alignas(32) std::uint16_t shuffle[chunk_blocks / row_blocks<C>], bytes[chunk_blocks / row_blocks<C>];

  RowWidths(const std::uint8_t* widths, std::size_t batches) {
    for (std::size_t i = 0; i < batches * 2 * lane_rows<C>; i += 16) {
      __m256i number, sum;
      if constexpr (C == 8) {
        const __m256i w = load256(widths + 2 * i);
        number = _mm256_maddubs_epi16(w, _mm256_set1_epi16(0x0109));  // 9 * first + second
        sum = _mm256_maddubs_epi16(w, _mm256_set1_epi8(1));
      } else {
        number = sum = _mm256_cvtepu8_epi16(load128(widths + i));
      }
      store256(shuffle + i, _mm256_slli_epi16(number, 4));
      store256(bytes + i, sum);
    }
  }
};

// Shuffles for every combination of widths of a row: the source of each byte by Rule, or 0x80 for 0.
template <unsigned C, class Rule>
__m128i shuffled(const void* from, std::size_t place, Rule) {
  alignas(64) static constexpr auto table = [] {
    constexpr unsigned second_widths = C == 8 ? 9 : 1;
    std::array<std::array<std::uint8_t, 16>, (C + 1) * second_widths> all{};
    for (unsigned k = 0; k < all.size(); ++k)
      for (unsigned i = 0; i < 16; ++i)
        all[k][i] = static_cast<std::uint8_t>(Rule{}(i, k / second_widths, k % second_widths));
    return all;
  }();
  return _mm_shuffle_epi8(load128(from), load128(table.front().data() + place));
}

// Plane p of block b is at row_blocks * p + b in a row that was read, the sign repeated upwards, and at
// C * b + p in a row to be written. The transpositions start from the former and end with the latter.
template <unsigned C>
__m128i from_payload(const std::byte* from, std::size_t place) {
  return shuffled<C>(from, place, [](unsigned i, unsigned first, unsigned second) {
    const unsigned p = i / row_blocks<C>, b = i % row_blocks<C>;
    const unsigned width = b == 0 ? first : second, start = b == 0 ? 0 : first;
    return width == 0 ? 0x80 : start + (p < width ? width - 1 - p : 0);
  });
}
template <unsigned C>
__m128i to_payload(const std::uint8_t* from, std::size_t place) {
  return shuffled<C>(from, place, [](unsigned i, unsigned first, unsigned second) {
    return i < first ? first - 1 - i : i < first + second ? C + first + second - 1 - i : 0x80;
  });
}

template <unsigned C>
void read_rows(const PlanesIn& in, std::size_t batches, Rows<C>& rows) {
  const RowWidths<C> widths(in.widths->of, batches);
  const std::byte* at = in.payload;
  for (std::size_t lane = 0, i = 0; lane < 2 * batches; ++lane)
#pragma GCC unroll 8
    for (std::size_t row = 0; row < lane_rows<C>; ++row, ++i) {
      store128(rows.of[lane / 2][row][lane % 2], from_payload<C>(at, widths.shuffle[i]));
      at += widths.bytes[i];
    }
}

template <unsigned C>
void write_rows(const Rows<C>& rows, std::size_t batches, PlanesOut& out) {
  const RowWidths<C> widths(out.widths.of, batches);
  std::byte* at = out.payload;
  for (std::size_t lane = 0, i = 0; lane < 2 * batches; ++lane)
#pragma GCC unroll 8
    for (std::size_t row = 0; row < lane_rows<C>; ++row, ++i) {
      store128(at, to_payload<C>(rows.of[lane / 2][row][lane % 2], widths.shuffle[i]));
      at += widths.bytes[i];
    }
  out.bytes = static_cast<std::size_t>(at - out.payload);
  const std::size_t written = batches * batch_blocks;
  std::memset(out.widths.of + written, 0, chunk_blocks - written);
}

inline BitSlices<8> slices(const Rows<8>& rows, std::size_t batch) {
  BitSlices<8> s;
  for (unsigned k = 0; k < 8; ++k) s.plane[k] = load256(rows.of[batch][k]);
  interleave_each<std::uint8_t, 8, 4, 2, 1>(s.plane);  // k2, k1, k0 leave p2, p1, p0
  return s;
}

[[gnu::always_inline]] inline BitSlices<16> slices(const Rows<16>& rows, std::size_t batch) {
  __m256i r[16];
  for (unsigned x = 0; x < 16; ++x) r[x] = load256(rows.of[batch][x]);
  interleave_each<std::uint8_t, 16, 1, 8, 4, 2>(r);  // b, k2, k1, k0 leave p3, p2, p1, p0
  BitSlices<16> s;
  for (unsigned p = 0; p < 16; ++p) s.plane[p] = r[(p & 7) << 1 | p >> 3];
  return s;
}

inline void write(BitSlices<8> s, std::size_t batch, Rows<8>& rows) {
  interleave_each<std::uint8_t, 8, 4, 2, 1>(s.plane);  // p2, p1, p0 leave b, k2, k1
  for (unsigned k = 0; k < 8; k += 2) {
    const __m256i even = s.plane[k / 2], odd = s.plane[4 + k / 2];
    store256(rows.of[batch][k], _mm256_unpacklo_epi64(even, odd));
    store256(rows.of[batch][k + 1], _mm256_unpackhi_epi64(even, odd));
  }
}

inline void write(BitSlices<16> s, std::size_t batch, Rows<16>& rows) {
  interleave_each<std::uint8_t, 16, 8, 4, 2, 1>(s.plane);  // p3, p2, p1, p0 leave b, k2, k1, k0
  for (unsigned k = 0; k < 8; ++k)
    for (unsigned b = 0; b < 2; ++b) store256(rows.of[batch][2 * k + b], s.plane[8 * b + k]);
}

}  // namespace
}  // namespace taut::planes
