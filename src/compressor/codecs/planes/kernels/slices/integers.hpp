// Conversion of values to integers and batches of differences, and of bit slices (slices.hpp) to integers.
#pragma once

#include "compressor/codecs/planes/kernels/slices/slices.hpp"

namespace taut::planes {
namespace {  // one copy for each kernel set, compiled with its instructions

// ---- Values -> integers -> differences

// The 16-bit integers of a chunk, padded to whole batches so that the padding causes no difference. They are
// coded as differences over the distance `back`, or unchanged if `back` is 0. Integers before the first one
// equal it.
template <class R>
struct ChunkWords {
  alignas(32) std::int16_t with_previous[16 + chunk_values];
  std::int16_t* const data = with_previous + 16;
  std::size_t back;

  explicit ChunkWords(std::size_t distance) : back(distance) {
    data[0] = 0;  // compilers cannot tell that there is a first group
  }
  ChunkWords(const ChunkWords&) = delete;

  void pad_batches(std::size_t groups) {
    data[-1] = data[-2] = data[0];
    const std::size_t n = groups * group_values,
                      whole = batches_of<R>(groups) * batch_blocks<R> * block_values;
    for (std::size_t i = n; i < whole; ++i) data[i] = back == 0 ? std::int16_t{0} : data[i - back];
  }
  std::int32_t base() const { return back == 0 ? 0 : data[0]; }
};

template <class R>
inline constexpr std::size_t words_of_register = R::lanes* lane_bytes / sizeof(std::int16_t);

// Quantises values to words. Returns false if some |q| leaves the small range.
template <class R, class T>
bool quantise(const T* values, std::size_t groups, const Quantiser<T>& z, ChunkWords<R>& q) {
  typename R::template Rounder<T> round(z.inverse);
  for (std::size_t i = 0; i < groups * group_values; i += words_of_register<R>)
    R::store(q.data + i, round(values + i));
  q.pad_batches(groups);
  return round.small();
}

// Computes differences of 32-bit integers over the distance `back`. Returns false if one does not fit 16
// bits: plus half the range, it has bits above the lowest 16.
template <class R>
inline bool differences(const std::int32_t* q, std::size_t groups, std::size_t back, ChunkWords<R>& d) {
  alignas(32) std::int32_t head[2 + block_values] = {q[0], q[0]};
  std::memcpy(head + 2, q, block_values * sizeof *q);
  typename R::Ints beyond = R::splat32(0);
  const auto difference = [&](std::size_t i) {
    const std::int32_t* const at = i == 0 ? head + 2 : q + i;
    typename R::Ints v = R::load_ints(at);
    if (back != 0) v = R::subtract(v, R::load_ints(at - back));
    beyond = R::bit_or(beyond, R::add(v, R::splat32(1 << 15)));
    return v;
  };
  for (std::size_t i = 0; i < groups * group_values; i += words_of_register<R>)
    R::store_packed(d.data + i, i, difference);
  d.pad_batches(groups);
  return R::all_below_16_bits(beyond);
}

// Returns the differences that code a batch of integers.
template <class R>
inline Batch<R> batch_of(const ChunkWords<R>& q, std::size_t batch) {
  constexpr std::size_t apart = lane_blocks * block_values * sizeof *q.data;
  Batch<R> d;
  const std::int16_t* at = q.data + batch * batch_blocks<R> * block_values;
  for (auto& part : d.part) {
    part = R::load_blocks(at, apart);
    if (q.back != 0) part = R::subtract_words(part, R::load_blocks(at - q.back, apart));
    at += block_values;
  }
  return d;
}

// Check whether all differences given to see() fit `Bits` bits: plus half the range, one that does not fit
// has higher bits.
template <class R, unsigned Bits>
class Fit {
 public:
  void see(const Batch<R>& d) {
    if constexpr (Bits < 16)
      for (const auto& part : d.part) seen_ = seen_ | R::add_words(part, R::splat16(1 << (Bits - 1)));
  }
  bool holds() const {
    return Bits == 16 || !R::any(seen_ & R::splat16(static_cast<std::uint16_t>(~0u << Bits)));
  }

 private:
  typename R::Register seen_ = R::splat8(0);
};

// ---- Bit slices -> integers

// Calls visit(block, words) for the blocks of a batch in order, with the eight words of each block.
template <class R, std::size_t lane = 0, class Visit>
void each_block(const Batch<R>& batch, std::size_t blocks, Visit visit) {
  for (std::size_t x = 0; x < lane_blocks && lane * lane_blocks + x < blocks; ++x)
    visit(lane * lane_blocks + x, R::template lane<lane>(batch.part[x]));
  if constexpr (lane + 1 < R::lanes) each_block<R, lane + 1>(batch, blocks, visit);
}

// The integer before each block of a batch.
template <class R>
struct BlockStarts {
  alignas(32) std::int32_t start[R::lanes][2][8];  // lane, b, k
  std::int32_t block(std::size_t x) const { return start[x / lane_blocks][x % 2][x % lane_blocks / 2]; }
};

// Computes the integer before each block. `last`: the sum of every block. `carry`: the integer before the
// batch; on return, the integer at its end. The sums over a batch fit 16 bits, like the sums over a block.
template <class R>
inline BlockStarts<R> starts_of(const typename R::Register (&last)[2], std::int32_t& carry) {
  const typename R::Register pair = R::add_words(last[0], last[1]), inclusive = R::prefix_sums(pair);
  const typename R::Register even = R::subtract_words(inclusive, pair), odd = R::add_words(even, last[0]);
  BlockStarts<R> starts;
  const auto lane = [&]<std::size_t i>(std::integral_constant<std::size_t, i>) {
    R::store_ints(starts.start[i][0], R::plus(R::template lane<i>(even), carry));
    R::store_ints(starts.start[i][1], R::plus(R::template lane<i>(odd), carry));
    carry = add_wrapping(carry, R::template last<i>(inclusive));
  };
  lane(std::integral_constant<std::size_t, 0>{});
  if constexpr (R::lanes == 2) lane(std::integral_constant<std::size_t, 1>{});
  return starts;
}

// The last two integers before a batch; after reading, those of the batch that the predictor needs.
struct Carry {
  std::int32_t last_two[2];
};

// Computes integers from 8-bit differences by the predictor delta.
template <class R, class Sink>
void read_short_deltas(const BitSlices<R, 8>& s, std::size_t blocks, Carry& carry, Sink sink) {
  const BlockWords<R> sums = words_of<as_sums>(s);
  const BlockStarts<R> starts = starts_of<R>(sums.last, carry.last_two[1]);
  each_block(sums.batch, blocks,
             [&](std::size_t block, const auto& words) { sink(block, R::plus(words, starts.block(block))); });
}

// Computes integers from differences by the predictor P, with a distance of 1 or 2. The sums may need 32
// bits.
template <Predictor P, class R, unsigned C, class Sink>
void read_differences(const BitSlices<R, C>& s, std::size_t blocks, Carry& carry, Sink sink) {
  constexpr std::size_t distance = predictor_distance(P);
  typename R::Ints before = R::splat_pair(carry.last_two[2 - distance], carry.last_two[1]);
  each_block(words_of<as_differences>(s).batch, blocks, [&](std::size_t block, const auto& words) {
    const typename R::Ints q = R::template prefix_sums_over<distance>(R::widen(words));
    sink(block, R::add(q, before));
    before = R::add(before, R::template broadcast_last<distance>(q));
  });
  R::store_first_two(carry.last_two, before);
}

template <Predictor P, class R, unsigned C, class Sink>
void read_batch(const BitSlices<R, C>& s, std::size_t blocks, Carry& carry, Sink sink) {
  if constexpr (P == Predictor::none) {
    each_block(words_of<as_differences>(s).batch, blocks,
               [&](std::size_t block, const auto& words) { sink(block, R::widen(words)); });
  } else if constexpr (P == Predictor::delta && C == 8) {
    read_short_deltas(s, blocks, carry, sink);
  } else {
    read_differences<P>(s, blocks, carry, sink);
  }
}

}  // namespace
}  // namespace taut::planes
