// Decodes a record in the sparse form (codecs/mpc/sparse.hpp) into shared memory, from the last level to the
// first. The numbers of a level are spread in place: a warp takes 32 at a time, the last ones first, and no
// number moves to a lower place. Rejects the same records as compressor/codecs/mpc/sparse_kernel.hpp.
#pragma once

#include "compressor/codecs/mpc/sparse.hpp"
#include "compressor/gpu/mpc/chunk.hpp"
#include "compressor/gpu/simt/source.hpp"

namespace taut::mpc::cuda {

TAUT_DEVICE bool is_sparse(const Words& record, std::size_t heads) {
  return 4 * record.count > sparse_end_bytes && 4 * record.count != empty_record_bytes(heads) &&
         record.data[record.count - 1] == 0 && record.data[record.count - 2] == 0;
}

template <class Word, class Simt>
class SparseDecoder {
 public:
  // `words`: memory for a chunk of words. `before`: memory for one number for each 32 bits of a bitmap.
  TAUT_DEVICE SparseDecoder(const Simt& simt, const Words& record, std::uint8_t* words, std::uint32_t* before)
      : simt_(simt), record_(record), words_(words), before_(before) {}

  // Decodes n words. Returns false for a malformed record.
  TAUT_DEVICE bool decode(std::uint32_t n) {
    Level level[max_levels];
    std::uint32_t at[max_levels];
    const unsigned levels = find_levels(n, level, at);
    for (std::uint32_t i = lane(); levels > 0 && i < level[levels - 1].nonzero; i += warp_lanes) put(i, 0);
    TAUT_ROLLED
    for (unsigned k = levels; k-- > 0;)
      if (!spread(level[k], at[k], k == 0)) return false;
    return levels > 0;
  }

 private:
  TAUT_DEVICE unsigned lane() const { return simt_.thread() % warp_lanes; }
  TAUT_DEVICE void put(std::uint32_t i, Word word) const { store_as(words_ + i * sizeof word, word); }

  // Returns up to 64 bits of the record.
  TAUT_DEVICE std::uint64_t bits_at(std::uint32_t byte, std::uint32_t bit, unsigned width) const {
    byte += bit / 8;
    const unsigned shift = bit % 8;
    std::uint64_t x = (record_.word(byte) | std::uint64_t{record_.word(byte + 4)} << 32) >> shift;
    if (shift + width > 64) x |= std::uint64_t{record_.word(byte + 8)} << (64 - shift);
    return width == 0 ? 0 : x & ~std::uint64_t{0} >> (64 - width);
  }
  TAUT_DEVICE bool ends_in_zeros(std::uint32_t byte, std::uint32_t bits) const {
    return bits % 8 == 0 || record_.byte(byte + bits / 8) >> bits % 8 == 0;
  }

  // Returns the number of levels, with the places of their bitmaps; 0: reject.
  TAUT_DEVICE unsigned find_levels(std::uint32_t words, Level (&level)[max_levels],
                                   std::uint32_t (&at)[max_levels]) const {
    const auto end = static_cast<std::uint32_t>(4 * record_.count - sparse_end_bytes);
    constexpr auto header = static_cast<std::uint32_t>(level_header_bytes);
    std::uint32_t from = 0;
    TAUT_ROLLED
    for (unsigned k = 0; k < max_levels; ++k) {
      if (end - from < header) return 0;
      const std::uint32_t head = record_.word(from) & 0xFFFFFF;
      const bool more = (head & more_levels) != 0;
      const Level l{words, (head & (more_levels - 1)) + 1, head >> 16};
      if (l.nonzero > words || l.bits > bitmap_bits<Word> - more || end - from < l.bytes()) return 0;
      const std::uint32_t upper = from + header, lower = upper + l.upper_bytes();
      if (!ends_in_zeros(upper, l.upper_bits()) || !ends_in_zeros(lower, l.nonzero * l.low_bits()) ||
          !ends_in_zeros(lower + l.low_bytes(), l.nonzero * l.bits))
        return 0;
      level[k] = l;
      at[k] = upper;
      from += l.bytes();
      words = l.nonzero;
      if (more) continue;
      const bool filled = from + lane() < end && record_.byte(from + lane()) != 0;
      return end - from < 8 && simt_.ballot(filled) == 0 ? k + 1 : 0;
    }
    return 0;
  }

  TAUT_DEVICE std::uint32_t upper_word(const Level& level, std::uint32_t at, std::uint32_t i) const {
    const std::uint32_t left = level.upper_bits() - 32 * i, word = record_.word(at + 4 * i);
    return left < 32 ? word & ((1u << left) - 1) : word;
  }

  // Counts the ones before each word of a bitmap. Returns the number of all ones.
  TAUT_DEVICE std::uint32_t count_ones(const Level& level, std::uint32_t at, std::uint32_t words) const {
    std::uint32_t all = 0;
    TAUT_ROLLED
    for (std::uint32_t first = 0; first < words; first += warp_lanes) {
      const std::uint32_t i = first + lane();
      const std::uint32_t own = i < words ? simt_.popcount(upper_word(level, at, i)) : 0u;
      const std::uint32_t up_to = simt_.inclusive_sum(own);
      if (i < words) before_[i] = all + up_to - own;
      all += simt_.shuffle(up_to, warp_lanes - 1);
    }
    simt_.sync_warp();
    return all;
  }

  // Returns the place of the i-th one in the bitmap.
  TAUT_DEVICE std::uint32_t bit_of(const Level& level, std::uint32_t at, std::uint32_t words,
                                   std::uint32_t i) const {
    std::uint32_t index = 0;  // of the word that has the bit
    for (std::uint32_t by = 64; by > 0; by /= 2)
      if (index + by < words && before_[index + by] <= i) index += by;
    std::uint32_t word = upper_word(level, at, index);
    for (std::uint32_t skip = i - before_[index]; skip > 0; --skip) word &= word - 1;
    return 32 * index + 31 - simt_.leading_zeros(word & (0 - word));
  }

  // Replaces the numbers of the next level, one for each number of this level, by level.count numbers, or by
  // words. `at`: place of the bitmap. Returns false if a place is invalid.
  TAUT_DEVICE bool spread(const Level& level, std::uint32_t at, bool to_words) const {
    const std::uint32_t words = (level.upper_bits() + 31) / 32, lower = at + level.upper_bytes(),
                        values = lower + level.low_bytes();
    const unsigned low = level.low_bits();
    if (count_ones(level, at, words) != level.nonzero) return false;
    for (std::uint32_t i = level.nonzero + lane(); i < level.count; i += warp_lanes) put(i, 0);
    std::uint32_t end = level.count;  // the places of all later numbers begin there
    TAUT_ROLLED
    for (std::uint32_t first = (level.nonzero - 1) / warp_lanes * warp_lanes;; first -= warp_lanes) {
      const std::uint32_t i = first + lane();
      const bool there = i < level.nonzero;
      std::uint32_t place = level.count;
      Word number = 0;
      if (there) {
        place = bit_of(level, at, words, i);
        if (!level.dense())
          place = (place - i) << low | static_cast<std::uint32_t>(bits_at(lower, i * low, low));
        number = static_cast<Word>(bits_at(values, i * level.bits, level.bits));
        const auto rest = load_as<Word>(words_ + i * sizeof(Word));
        if (rest != 0) number = static_cast<Word>(number | rest << level.bits);
        number = static_cast<Word>(number + 1);
      }
      const std::uint32_t after = simt_.shuffle(place, (lane() + 1) % warp_lanes);
      const bool last = i + 1 == level.nonzero || lane() + 1 == warp_lanes;
      if (simt_.ballot(there && place >= (last ? end : after)) != 0) return false;
      end = simt_.shuffle(place, 0);
      if (there) put(i, 0);
      simt_.sync_warp();
      if (there) put(place, to_words ? word_of(number) : number);
      simt_.sync_warp();
      if (first == 0) return true;
    }
  }

  const Simt& simt_;
  const Words& record_;
  std::uint8_t* words_;
  std::uint32_t* before_;  // ones before each word of a level's bitmap
};

}  // namespace taut::mpc::cuda
