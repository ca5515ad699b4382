// Writes the record of a chunk in the sparse form, whose levels codecs/mpc/sparse.hpp explains. A warp goes
// over the words once for each level and does not store their numbers. Writes the same bytes as
// compressor/codecs/mpc/sparse_kernel.hpp.
#pragma once

#include "compressor/codecs/mpc/sparse.hpp"
#include "compressor/gpu/mpc/chunk.hpp"

namespace taut::mpc::cuda {

template <class Word, class Simt>
class SparseEncoder {
 public:
  // `counters`: shared memory of the warp, for a number of each length of 0 to 64 bits.
  TAUT_DEVICE SparseEncoder(const Simt& simt, const Word* values, std::uint32_t n, const Rounding& rounding,
                            std::uint32_t* counters)
      : simt_(simt), values_(values), n_(n), rounding_(rounding), counters_(counters) {}

  // Returns the words of the record of a frame whose heads have `heads` bytes; 0: the form does not suit the
  // chunk.
  TAUT_DEVICE std::uint32_t plan(std::size_t heads) {
    if (!has_zeros()) return 0;
    std::uint32_t bytes = 0, numbers = n_;  // numbers of the level, zeros included
    TAUT_ROLLED
    for (levels_ = 0; levels_ == 0 || numbers > 0; ++levels_) {
      const std::uint32_t n = count_lengths();
      if (levels_ == 0 && !is_sparse_count(n, n_)) return 0;
      // The level gets the fewest bits with which few numbers (one in rest_share) have bits in the next
      // level.
      std::uint32_t rests = 0;
      unsigned bits = bitmap_bits<Word>;
      for (; bits > 0 && rest_share * (rests + counters_[bits]) <= n; --bits) rests += counters_[bits];
      level_[levels_] = {numbers, n, bits};
      bytes += level_[levels_].bytes();
      numbers = rests == 0 ? 0 : n;
      simt_.sync_warp();
    }
    return static_cast<std::uint32_t>(sparse_record_bytes(bytes, heads) / 4);
  }

  // Writes the record of plan().
  TAUT_DEVICE void write(std::uint32_t* record, std::uint32_t words) const {
    for (std::uint32_t i = lane(); i < words; i += warp_lanes) record[i] = 0;
    simt_.sync_warp();
    std::uint32_t bit = 0;
    TAUT_ROLLED
    for (unsigned k = 0; k < levels_; ++k) {
      const Level level = level_[k];
      const unsigned low = level.low_bits();
      const std::uint32_t head = (level.nonzero - 1) | (k + 1 < levels_ ? more_levels : 0) | level.bits << 16;
      const std::uint32_t upper = bit + 8 * static_cast<std::uint32_t>(level_header_bytes),
                          lower = upper + 8 * level.upper_bytes(), values = lower + 8 * level.low_bytes();
      if (lane() == 0) put(record, bit, head);
      each_number(k, [&](std::uint32_t place, std::uint32_t i, Word number) {
        put(record, upper + (level.dense() ? place : (place >> low) + i), 1);
        put(record, lower + i * low, place & ((1u << low) - 1));
        put(record, values + i * level.bits,
            level.bits == 0 ? 0 : number & ~std::uint64_t{0} >> (64 - level.bits));
      });
      bit += 8 * level.bytes();
    }
    simt_.sync_warp();
  }

 private:
  TAUT_DEVICE unsigned lane() const { return simt_.thread() % warp_lanes; }
  TAUT_DEVICE Word value(std::uint32_t i) const { return input_word(values_[i], rounding_); }

  TAUT_DEVICE bool has_zeros() const {
    const bool zero = lane() < probed_words && value(probed_word(lane() % probed_words, n_)) == 0;
    return simt_.popcount(simt_.ballot(zero)) >= min_zero_probes;
  }

  // Calls take(place, index, number - 1) for the numbers of level k that are not 0. Returns how many there
  // are.
  template <class Take>
  TAUT_DEVICE std::uint32_t each_number(unsigned k, const Take& take) const {
    std::uint32_t counts[max_levels] = {};
    TAUT_ROLLED
    for (std::uint32_t first = 0; first < n_; first += warp_lanes) {
      std::uint32_t place = first + lane();
      Word number = place < n_ ? number_of(value(place)) : Word{0};
      TAUT_ROLLED
      for (unsigned level = 0; level < k; ++level) {
        place = rank_among(number != 0, counts[level]);
        number =
            number == 0 ? Word{0} : static_cast<Word>(static_cast<Word>(number - 1) >> level_[level].bits);
      }
      const std::uint32_t i = rank_among(number != 0, counts[k]);
      if (number != 0) take(place, i, static_cast<Word>(number - 1));
    }
    return counts[k];
  }

  // Returns the number of lanes that set `counted` before this lane did: in earlier steps, which `count`
  // counts, and in this step.
  TAUT_DEVICE std::uint32_t rank_among(bool counted, std::uint32_t& count) const {
    const std::uint32_t mask = simt_.ballot(counted), before = count;
    count += simt_.popcount(mask);
    return before + simt_.popcount(mask & static_cast<std::uint32_t>(below(lane())));
  }

  // Counts the numbers of the next level, by length. Returns how many there are.
  TAUT_DEVICE std::uint32_t count_lengths() const {
    for (unsigned i = lane(); i <= 64; i += warp_lanes) counters_[i] = 0;
    simt_.sync_warp();
    const std::uint32_t n = each_number(levels_, [&](std::uint32_t, std::uint32_t, Word number) {
      simt_.atomic_add(counters_ + (64 - simt_.leading_zeros(std::uint64_t{number})), 1);
    });
    simt_.sync_warp();
    return n;
  }

  // Adds bits to a record, where they are 0.
  TAUT_DEVICE void put(std::uint32_t* record, std::uint32_t bit, std::uint64_t bits) const {
    const unsigned shift = bit % 32;
    const std::uint64_t low = bits << shift, high = shift == 0 ? 0 : bits >> (64 - shift);
    std::uint32_t* const to = record + bit / 32;
    if (static_cast<std::uint32_t>(low) != 0) simt_.atomic_add(to, static_cast<std::uint32_t>(low));
    if (low >> 32 != 0) simt_.atomic_add(to + 1, static_cast<std::uint32_t>(low >> 32));
    if (high != 0) simt_.atomic_add(to + 2, static_cast<std::uint32_t>(high));
  }

  const Simt& simt_;
  const Word* values_;
  std::uint32_t n_;
  const Rounding& rounding_;
  std::uint32_t* counters_;
  Level level_[max_levels];  // the levels of plan()
  unsigned levels_ = 0;
};

}  // namespace taut::mpc::cuda
