// AVX2: conversion of values to integers and batches of differences, and of slices to integers. Included by
// kernel_set.cpp only.
#pragma once

#include "codecs/planes/kernels/avx2/slices.hpp"
#include "codecs/planes/kernels/avx2/values.hpp"

namespace taut::planes {
namespace {

// ---- Values -> integers -> differences

// The 16-bit integers of a chunk. They are coded as differences over the distance `back`, or unchanged if
// `back` is 0. Integers before the first one equal the first one. The padding to whole batches causes no
// difference.
struct Integers {
  alignas(32) std::int16_t with_previous[16 + chunk_values];
  std::int16_t* const of = with_previous + 16;
  std::size_t back;

  explicit Integers(std::size_t distance) : back(distance) {
    of[0] = 0;  // compilers cannot tell that there is a first group
  }
  Integers(const Integers&) = delete;

  void complete(std::size_t groups) {
    of[-1] = of[-2] = of[0];
    const std::size_t n = groups * group_values, whole = batches_of(groups) * batch_blocks * block_values;
    for (std::size_t i = n; i < whole; ++i) of[i] = back == 0 ? std::int16_t{0} : of[i - back];
  }
  std::int32_t base() const { return back == 0 ? 0 : of[0]; }
};

// Returns false if some |q| leaves the small range: after 2^14 is added, the top bit shows it.
template <class T>
bool quantise(const T* values, std::size_t groups, const Quantiser<T>& z, Integers& q) {
  __m256i seen = _mm256_setzero_si256();
  for (std::size_t i = 0; i < groups * group_values; i += 16) {
    const __m256i pair =
        _mm256_packs_epi32(rounded(values + i, z.inverse), rounded(values + i + 8, z.inverse));
    seen = _mm256_or_si256(seen, _mm256_add_epi16(pair, _mm256_set1_epi16(1 << small_bits)));
    store256(q.of + i, _mm256_permute4x64_epi64(pair, 0xD8));
  }
  q.complete(groups);
  return (static_cast<unsigned>(_mm256_movemask_epi8(seen)) & 0xAAAAAAAA) == 0;
}

// Computes differences of 32-bit integers over the distance `back`; returns false if some do not fit 16 bits.
inline bool differences(const std::int32_t* q, std::size_t groups, std::size_t back, Integers& d) {
  alignas(32) std::int32_t head[2 + block_values] = {q[0], q[0]};
  std::memcpy(head + 2, q, block_values * sizeof *q);
  __m256i beyond = _mm256_setzero_si256();
  const auto difference = [&](std::size_t i) {
    const std::int32_t* const at = i == 0 ? head + 2 : q + i;
    const __m256i v = back == 0 ? load256(at) : _mm256_sub_epi32(load256(at), load256(at - back));
    beyond = _mm256_or_si256(beyond, _mm256_add_epi32(v, _mm256_set1_epi32(1 << 15)));
    return v;
  };
  for (std::size_t i = 0; i < groups * group_values; i += 16) {
    const __m256i first = difference(i);
    store256(d.of + i, _mm256_permute4x64_epi64(_mm256_packs_epi32(first, difference(i + 8)), 0xD8));
  }
  d.complete(groups);
  return _mm256_testz_si256(beyond, _mm256_set1_epi32(static_cast<int>(0xFFFF0000u))) != 0;
}

// Returns block x of a batch in the lower lane and block 16 + x in the upper lane.
inline __m256i both_lanes(const std::int16_t* lower) {
  return _mm256_inserti128_si256(_mm256_castsi128_si256(load128(lower)),
                                 load128(lower + lane_blocks * block_values), 1);
}

// Returns the differences that code a batch of integers.
inline Batch16 batch_of(const Integers& q, std::size_t batch) {
  Batch16 d;
  const std::int16_t* at = q.of + batch * batch_blocks * block_values;
  for (__m256i& part : d.part) {
    part = both_lanes(at);
    if (q.back != 0) part = _mm256_sub_epi16(part, both_lanes(at - q.back));
    at += block_values;
  }
  return d;
}

// Checks that all differences seen fit `Bits` bits: after half the range is added, excess bits show.
template <unsigned Bits>
class Fit {
 public:
  void see(const Batch16& d) {
    if constexpr (Bits < 16)
      for (const __m256i& part : d.part)
        seen_ = _mm256_or_si256(seen_, _mm256_add_epi16(part, _mm256_set1_epi16(1 << (Bits - 1))));
  }
  bool holds() const {
    return Bits == 16 || _mm256_testz_si256(seen_, _mm256_set1_epi16(static_cast<short>(~0u << Bits))) != 0;
  }

 private:
  __m256i seen_ = _mm256_setzero_si256();
};

// ---- Bit slices -> integers

// Calls visit(block, words) for the blocks of a batch in order, with the eight words of each block.
template <class Visit>
void each_block(const Batch16& batch, std::size_t blocks, Visit visit) {
  for (std::size_t x = 0; x < lane_blocks && x < blocks; ++x) visit(x, _mm256_castsi256_si128(batch.part[x]));
  for (std::size_t x = lane_blocks; x < blocks; ++x)
    visit(x, _mm256_extracti128_si256(batch.part[x - lane_blocks], 1));
}

// The integer before each block of a batch.
struct Starts {
  alignas(32) std::int32_t of[2][2][8];  // lane, b, k
  std::int32_t block(std::size_t x) const { return of[x / lane_blocks][x % 2][x % lane_blocks / 2]; }
};

// Computes the integer before each block. `last`: the sum of every block. `carry`: the integer before the
// batch; on return, the integer at its end. The sums over a batch fit 16 bits, like the sums over a block.
inline Starts starts_of(const __m256i (&last)[2], std::int32_t& carry) {
  const __m256i pair = _mm256_add_epi16(last[0], last[1]);
  __m256i upto = pair;
  upto = _mm256_add_epi16(upto, _mm256_slli_si256(upto, 2));
  upto = _mm256_add_epi16(upto, _mm256_slli_si256(upto, 4));
  upto = _mm256_add_epi16(upto, _mm256_slli_si256(upto, 8));
  const __m256i even = _mm256_sub_epi16(upto, pair), odd = _mm256_add_epi16(even, last[0]);
  Starts starts;
  const auto lane = [&](std::size_t i, __m128i e, __m128i o, int total) {
    const __m256i before = _mm256_set1_epi32(carry);
    store256(starts.of[i][0], _mm256_add_epi32(_mm256_cvtepi16_epi32(e), before));
    store256(starts.of[i][1], _mm256_add_epi32(_mm256_cvtepi16_epi32(o), before));
    carry = add_wrapping(carry, static_cast<std::int16_t>(total));
  };
  lane(0, _mm256_castsi256_si128(even), _mm256_castsi256_si128(odd), _mm256_extract_epi16(upto, 7));
  lane(1, _mm256_extracti128_si256(even, 1), _mm256_extracti128_si256(odd, 1),
       _mm256_extract_epi16(upto, 15));
  return starts;
}

// The last but one and the last integer before a batch; after reading, the last two of the batch.
struct Carry {
  std::int32_t of[2];
};

// Reads 8-bit differences from the integer before.
template <class Sink>
void read_short_deltas(const BitSlices<8>& s, std::size_t blocks, Carry& carry, Sink sink) {
  const BlockWords sums = words_of<true>(s);
  const Starts starts = starts_of(sums.last, carry.of[1]);
  each_block(sums.batch, blocks, [&](std::size_t block, __m128i words) {
    sink(block, _mm256_add_epi32(_mm256_cvtepi16_epi32(words), _mm256_set1_epi32(starts.block(block))));
  });
}

// Reads any differences over a distance of 1 or 2: their sums may need 32 bits.
template <Predictor P, unsigned C, class Sink>
void read_differences(const BitSlices<C>& s, std::size_t blocks, Carry& carry, Sink sink) {
  constexpr bool pairs = P == Predictor::pairs;
  const __m256i lower_end = pairs ? _mm256_setr_epi32(2, 3, 2, 3, 2, 3, 2, 3) : _mm256_set1_epi32(3);
  const __m256i end = pairs ? _mm256_setr_epi32(6, 7, 6, 7, 6, 7, 6, 7) : _mm256_set1_epi32(7);
  const std::int32_t even = pairs ? carry.of[0] : carry.of[1], odd = carry.of[1];
  __m256i before = _mm256_setr_epi32(even, odd, even, odd, even, odd, even, odd);
  each_block(words_of<false>(s).batch, blocks, [&](std::size_t block, __m128i words) {
    __m256i q = _mm256_cvtepi16_epi32(words);
    if constexpr (!pairs) q = _mm256_add_epi32(q, _mm256_slli_si256(q, 4));
    q = _mm256_add_epi32(q, _mm256_slli_si256(q, 8));
    const __m256i lower = _mm256_permutevar8x32_epi32(q, lower_end);
    q = _mm256_add_epi32(q, _mm256_blend_epi32(_mm256_setzero_si256(), lower, 0xF0));
    sink(block, _mm256_add_epi32(q, before));
    before = _mm256_add_epi32(before, _mm256_permutevar8x32_epi32(q, end));
  });
  _mm_storel_epi64(reinterpret_cast<__m128i*>(carry.of), _mm256_castsi256_si128(before));
}

template <Predictor P, unsigned C, class Sink>
void read_batch(const BitSlices<C>& s, std::size_t blocks, Carry& carry, Sink sink) {
  if constexpr (P == Predictor::none) {
    each_block(words_of<false>(s).batch, blocks,
               [&](std::size_t block, __m128i words) { sink(block, _mm256_cvtepi16_epi32(words)); });
  } else if constexpr (P == Predictor::delta && C == 8) {
    read_short_deltas(s, blocks, carry, sink);
  } else {
    read_differences<P>(s, blocks, carry, sink);
  }
}

}  // namespace
}  // namespace taut::planes
