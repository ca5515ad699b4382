// Encoder and decoder of records in the sparse form (sparse.hpp), written once for all instruction sets. A
// record is a chain of levels: level 1 has a number for each word of the chunk; the bits of its numbers that
// do not fit the level are the numbers of the next level.
#pragma once

#include <algorithm>
#include <cstring>

#include "compressor/codecs/mpc/bit_packing.hpp"
#include "compressor/codecs/mpc/kernels.hpp"
#include "compressor/codecs/mpc/sparse.hpp"

namespace taut::mpc {

namespace {  // one copy for each kernel set, compiled with its instructions

template <class Set, class Word>
class SparsePipeline {
 public:
  // Writes level after level, until no number has further bits (Kernels::encode_sparse). Gives up as soon as
  // the record cannot be shorter than `limit`.
  static SparseSize encode(const std::byte* words, std::size_t size, std::size_t heads, std::size_t limit,
                           std::byte* record) noexcept {
    Numbers numbers;
    auto count = static_cast<std::uint32_t>(size / sizeof(Word));  // of the numbers of a level
    // True if a coded record of `limit` bytes exists. Otherwise most words are 0.
    const bool has_coded = limit < max_record_bytes;
    numbers.collect(words, size);
    if (numbers.n == 0 || !is_sparse_count(numbers.n, count)) return {};
    std::size_t min_coded_bytes = 0;
    std::byte* out = record;
    for (bool more = true; more;) {
      std::size_t min_bytes = static_cast<std::size_t>(out - record) + sparse_end_bytes;  // of the record
      std::size_t most_bits = 8 * sizeof(Word);
      if (has_coded) {
        const std::size_t least = min_bytes + Level{count, numbers.n, 0}.bytes();
        if (least >= limit) return {};
        most_bits = (limit - least) * 8 / numbers.n;
      }
      const auto [bits, longer] = numbers.bits(most_bits);
      const Level level{count, numbers.n, bits};
      min_bytes += level.bytes();
      if (has_coded && longer > 0) min_bytes += Level{numbers.n, longer, 0}.bytes();
      if (min_bytes >= limit) return {};
      if (!level.dense()) numbers.find_places(count);
      if (!has_coded && out == record && !level.dense())
        min_coded_bytes = sizeof(std::uint64_t) + heads + 3 * numbers.wide_gaps();
      std::byte* const header = out;
      out = write_level(level, numbers, out + level_header_bytes);
      count = level.nonzero;
      numbers.keep_rests(level.bits);
      more = numbers.n > 0;
      store(header, static_cast<std::uint16_t>((level.nonzero - 1) | (more ? more_levels : 0)));
      header[2] = static_cast<std::byte>(level.bits);
    }
    const std::size_t bytes = sparse_record_bytes(static_cast<std::size_t>(out - record), heads);
    std::fill(out, record + bytes, std::byte{0});
    return {bytes, min_coded_bytes};
  }

  // Decodes the levels from the last one on: its numbers are the upper bits of those of the level before.
  static bool decode(ConstBytes record, std::size_t size, std::byte* words) noexcept {
    FoundLevel found[max_levels];
    const unsigned levels = find_levels(record, static_cast<std::uint32_t>(size / sizeof(Word)), found);
    if (levels == 0) return false;
    Word rests[2][chunk_words];
    for (unsigned k = levels; k-- > 1;) {
      const Word* const next_level = k + 1 < levels ? rests[(k + 1) % 2] : nullptr;
      if (!spread(
              found[k], next_level, [&](std::uint32_t i, Word x) { rests[k % 2][i] = x; }, rests[k % 2]))
        return false;
    }
    const auto put = [words](std::uint32_t i, Word x) { store(words + i * sizeof x, word_of(x)); };
    return spread(found[0], levels > 1 ? rests[1] : nullptr, put, words);
  }

 private:
  using Vector = typename Set::Bytes;
  static constexpr std::uint32_t chunk_words = chunk_bytes / sizeof(Word);

  // Number of bits of a level, and the number of numbers that have more.
  struct Bits {
    unsigned bits;
    std::uint32_t longer;
  };

  // Numbers of a level that are not 0, reduced by 1, and their places.
  struct Numbers {
    std::uint32_t n = 0;
    Word all = 0;  // bitwise or of the reduced numbers
    alignas(64) Word reduced[chunk_words + vector_bytes];
    alignas(64) std::uint16_t places[chunk_words + vector_bytes];
    // A bit for each number of the level: 1 if it is not 0. Zeros follow.
    alignas(64) std::byte bitmap[chunk_words / 8 + sizeof(std::uint64_t)];

    // Takes the numbers of the words that are not 0.
    void collect(const std::byte* words, std::size_t size) noexcept {
      const auto number = [](auto x) {
        constexpr Word sign = 8 * sizeof(Word) - 1;
        return ((x << Word{1}) ^ -(x >> sign)) - Word{1};
      };
      take_nonzero(words, size, number, static_cast<Word>(~Word{0}));
    }

    // Finds the places among `words` words, if take_nonzero() has not found them.
    void find_places([[maybe_unused]] std::uint32_t words) noexcept {
      if constexpr (by_words) {
        PlaceVector<std::uint16_t> at;
        std::uint16_t* to = places;
        for (std::uint32_t i = 0; i < words; i += 32, at.next()) {
          const auto mask = load<std::uint32_t>(bitmap + i / 8);
          Set::store(to, Set::template compressed_words<std::uint16_t>(at.places(), mask));
          to += std::popcount(mask);
        }
      }
    }

    // Returns the number of pairs of successive words other than 0 between which a block of differences is 0,
    // whatever the distance of the predictor. For each pair a coded record has at least 3 bytes: two changes
    // of the bitmap, and a plane of the second word's difference.
    std::uint32_t wide_gaps() const noexcept {
      constexpr std::uint32_t wide = max_distance + 2 * block_words;  // words
      std::uint32_t count = 0;
      for (std::uint32_t i = 1; i < n; ++i) count += places[i] - places[i - 1] >= static_cast<int>(wide);
      return count;
    }

    // Returns the minimum number of bits that at most one in rest_share numbers exceed, and how many do.
    // Returns `at_most` + 1 bits if the minimum is more than `at_most`.
    Bits bits(std::size_t at_most) const noexcept {
      unsigned least = 0;
      Bits most{static_cast<unsigned>(std::bit_width(all)), 0};
      if (at_most < most.bits) {
        most = {static_cast<unsigned>(at_most), longer_than(static_cast<unsigned>(at_most))};
        if (rest_share * most.longer > n) return {most.bits + 1, most.longer};
      }
      while (least < most.bits) {
        const unsigned bits = (least + most.bits) / 2;
        const std::uint32_t longer = longer_than(bits);
        if (rest_share * longer <= n)
          most = {bits, longer};
        else
          least = bits + 1;
      }
      return most;
    }

    // Replaces the numbers by their bits above the lowest `bits`: the numbers of the next level.
    void keep_rests(unsigned bits) noexcept {
      if (bits == 8 * sizeof(Word)) {
        n = 0;
        return;
      }
      for (std::uint32_t i = 0; i < n; ++i) reduced[i] = static_cast<Word>(reduced[i] >> bits);
      take_nonzero(
          reinterpret_cast<const std::byte*>(reduced), n * sizeof(Word), [](auto x) { return x - Word{1}; },
          Word{1});
    }

   private:
    // Moves number(word) of each word that is not 0 to `reduced`, which may be the memory of the words.
    // `first`: the word for which number() is 0.
    template <class Number>
    void take_nonzero(const std::byte* words, std::size_t size, const Number& number,
                      [[maybe_unused]] Word first) noexcept {
      [[maybe_unused]] PlaceVector<Word> at;
      std::uint32_t taken = 0;
      std::byte* bits = bitmap;
      // Appends the words of a vector in the mask; without by_words also their places.
      const auto take = [&](const Vector& v, std::uint64_t mask) {
        if constexpr (by_words) {
          bits = store(bits, static_cast<VectorMask>(mask));
          store_vector(reduced + taken, Set::template compressed_words<Word>(v, mask));
        } else {
          bits = store(bits, static_cast<VectorMask>(gathered(mask)));
          if (Set::has_compress || mask != 0) {
            Set::compress(reinterpret_cast<std::byte*>(reduced + taken), v, mask * whole_word);
            at.append(mask, places + taken);
          }
          at.next();
        }
        taken += static_cast<std::uint32_t>(std::popcount(mask));
      };
      const std::size_t rest = size % vector_bytes, whole = size - rest;
      for (std::size_t i = 0; i < whole; i += vector_bytes) {
        const Vector v = Set::load(words + i);
        take(v, nonzero(v));
      }
      if (rest != 0) {
        const Vector v = Set::load(words + whole);
        take(v, nonzero(v) & ((std::uint64_t{1} << rest / stride) - 1));
      }
      store(bits, std::uint64_t{0});
      n = taken;
      all = 0;
      if constexpr (by_words) {  // zeros follow the numbers, up to a whole vector
        Vector every = Set::splat(0);
        const auto plus = [first](auto x) { return x + first; };
        store_vector(reduced + n, Set::template map_words<Word>(plus, every));
        for (std::uint32_t i = 0; i < n; i += vector_bytes / sizeof(Word)) {
          const Vector numbers = Set::template map_words<Word>(number, load_vector(reduced + i));
          store_vector(reduced + i, numbers);
          every = Set::bit_or(every, numbers);
        }
        alignas(64) Word folded[vector_bytes / sizeof(Word)];
        store_vector(folded, every);
        for (const Word word : folded) all = static_cast<Word>(all | word);
      } else {
        for (std::uint32_t i = 0; i < n; ++i) {
          reduced[i] = static_cast<Word>(number(reduced[i]));
          all = static_cast<Word>(all | reduced[i]);
        }
      }
    }

    static Vector load_vector(const Word* from) noexcept {
      return Set::load(reinterpret_cast<const std::byte*>(from));
    }
    static void store_vector(Word* to, const Vector& v) noexcept {
      Set::store(reinterpret_cast<std::byte*>(to), v);
    }

    // Returns how many numbers have more than `bits` bits.
    std::uint32_t longer_than(unsigned bits) const noexcept {
      if constexpr (by_words) {
        std::uint32_t longer = 0;
        const auto above = [by = static_cast<Word>(bits)](auto x) { return x >> by; };
        for (std::uint32_t i = 0; i < n; i += vector_bytes / sizeof(Word))
          longer += static_cast<std::uint32_t>(
              std::popcount(nonzero(Set::template map_words<Word>(above, load_vector(reduced + i)))));
        return longer;
      }
      using Count = std::conditional_t<sizeof(Word) == 1, std::uint16_t, Word>;
      Count count = 0;
      for (std::uint32_t i = 0; i < n; ++i)
        count = static_cast<Count>(count + (static_cast<Word>(reduced[i] >> bits) != 0));
      return static_cast<std::uint32_t>(count);
    }
  };

  // True if masks of words have a bit for each word of a vector. Otherwise they have a bit for each byte, and
  // the bit of a word is at its lowest byte.
  static constexpr bool by_words = sizeof(Word) >= 4 && requires(Vector v) {
    Set::template nonzero_words<Word>(v);
  };
  static constexpr std::size_t stride = by_words ? sizeof(Word) : 1;  // bytes of a vector for a bit of a mask
  static std::uint64_t nonzero(const Vector& v) noexcept {
    if constexpr (by_words)
      return Set::template nonzero_words<Word>(v);
    else
      return lowest_bits(Set::nonzero_mask(v));
  }

  // Bits of one word in a mask of bytes. lowest_bits() keeps one bit of each word, at its lowest byte.
  static constexpr std::uint64_t whole_word = (std::uint64_t{1} << sizeof(Word)) - 1;
  static std::uint64_t lowest_bits(std::uint64_t mask) noexcept {
    for (unsigned by = 1; by < sizeof(Word); by *= 2) mask |= mask >> by;
    return mask & ~std::uint64_t{0} / whole_word;
  }

  // Mask with a bit for each word of a vector.
  using VectorMask = std::conditional_t<
      sizeof(Word) == 1, std::uint64_t,
      std::conditional_t<sizeof(Word) == 2, std::uint32_t,
                         std::conditional_t<sizeof(Word) == 4, std::uint16_t, std::uint8_t>>>;

  // Moves the bits of lowest_bits(), one in sizeof(Word) bits of the mask, next to each other.
  static std::uint64_t gathered(std::uint64_t mask) noexcept {
    for (unsigned n = 1, stride = sizeof(Word); n < stride && stride < 64; n *= 2, stride *= 2) {
      const std::uint64_t twice = (std::uint64_t{1} << 2 * n) - 1;
      const std::uint64_t everywhere =
          stride == 32 ? twice : ~std::uint64_t{0} / ((std::uint64_t{1} << 2 * stride) - 1) * twice;
      mask = (mask | mask >> (stride - n)) & everywhere;
    }
    return mask;
  }

  // Vector of the places of the words of a vector; next() moves on to the next vector of words. Each place is
  // in the lowest two bytes of a number of the size of `Place`.
  template <class Place>
  class PlaceVector {
   public:
    PlaceVector() noexcept {
      alignas(64) std::byte bytes[vector_bytes];
      for (unsigned i = 0; i < in_vector; ++i) store(bytes + i * sizeof(Place), static_cast<Place>(i));
      places_ = Set::load(bytes);
      for (unsigned i = 0; i < in_vector; ++i)
        store(bytes + i * sizeof(Place), static_cast<Place>(in_vector));
      step_ = Set::load(bytes);
    }
    const Vector& places() const noexcept { return places_; }
    // Writes the places of the words in a mask.
    void append(std::uint64_t mask, std::uint16_t* to) const noexcept {
      if constexpr (sizeof(Place) == 1) {
        for (; mask != 0; mask &= mask - 1)
          *to++ = static_cast<std::uint16_t>(first_ + static_cast<unsigned>(std::countr_zero(mask)));
      } else {
        Set::compress(reinterpret_cast<std::byte*>(to), places_, mask * 3);
      }
    }
    void next() noexcept {
      if constexpr (sizeof(Place) == 1)
        first_ += in_vector;
      else
        places_ = Set::template map_words<Place>(std::plus<>(), places_, step_);
    }

   private:
    static constexpr unsigned in_vector = vector_bytes / sizeof(Place);
    Vector places_, step_;
    unsigned first_ = 0;
  };

  // Writes a level, without its header, and returns its end.
  static std::byte* write_level(const Level& level, const Numbers& numbers, std::byte* out) noexcept {
    const unsigned low = level.low_bits();
    if (level.dense())
      std::memcpy(out, numbers.bitmap, level.upper_bytes());
    else
      write_upper(level, out, [&](std::uint32_t i) { return (std::uint32_t{numbers.places[i]} >> low) + i; });
    const auto low_mask = static_cast<std::uint16_t>((1u << low) - 1);
    out = pack<Set>(level.nonzero, low, out + level.upper_bytes(), [&](std::uint32_t i) {
      return static_cast<std::uint16_t>(numbers.places[i] & low_mask);
    });
    const Word mask = level.bits == 0
                          ? Word{0}
                          : static_cast<Word>(static_cast<Word>(~Word{0}) >> (8 * sizeof(Word) - level.bits));
    return pack<Set>(level.nonzero, level.bits, out,
                     [&](std::uint32_t i) { return static_cast<Word>(numbers.reduced[i] & mask); });
  }

  // Writes the bitmap `upper` of a level that is not dense. Its ones are at the indices bit(i), which ascend.
  template <class Bit>
  static void write_upper(const Level& level, std::byte* to, const Bit& bit) noexcept {
    std::memset(to, 0, level.upper_bytes());
    std::uint64_t bits = 0;
    std::uint32_t quadword = 0;
    for (std::uint32_t i = 0; i < level.nonzero; ++i) {
      const std::uint32_t at = bit(i);
      if (at / 64 != quadword) {
        store(to + 8 * quadword, bits);
        quadword = at / 64;
        bits = 0;
      }
      bits |= std::uint64_t{1} << at % 64;
    }
    std::memcpy(to + 8 * quadword, &bits, std::min<std::size_t>(8, level.upper_bytes() - 8 * quadword));
  }

  // Level in a record that is decoded.
  struct FoundLevel {
    Level level;
    const std::byte* upper;  // the bitmap; the lower parts of the places and the values follow

    const std::byte* low() const noexcept { return upper + level.upper_bytes(); }
    const std::byte* values() const noexcept { return low() + level.low_bytes(); }
    // Returns bits 64 i to 64 i + 63 of the bitmap.
    std::uint64_t quadword(std::uint32_t i) const noexcept {
      const std::uint32_t left = level.upper_bits() - 64 * i;
      const auto bits = load<std::uint64_t>(upper + 8 * i);
      return left < 64 ? bits & ((std::uint64_t{1} << left) - 1) : bits;
    }
    std::uint32_t quadwords() const noexcept { return (level.upper_bits() + 63) / 64; }

    bool valid() const noexcept {
      std::uint32_t ones = 0;
      for (std::uint32_t i = 0; i < quadwords(); ++i)
        ones += static_cast<std::uint32_t>(std::popcount(quadword(i)));
      return ones == level.nonzero && ends_in_zeros(upper, level.upper_bits()) &&
             ends_in_zeros(low(), level.nonzero * level.low_bits()) &&
             ends_in_zeros(values(), level.nonzero * level.bits);
    }
  };

  // Finds and checks the levels of a record. Returns their number; 0 if the record is malformed.
  static unsigned find_levels(ConstBytes record, std::uint32_t words,
                              FoundLevel (&found)[max_levels]) noexcept {
    const std::byte* at = record.data();
    const std::byte* const end = at + record.size() - sparse_end_bytes;
    for (unsigned k = 0; k < max_levels; ++k) {
      if (static_cast<std::size_t>(end - at) < level_header_bytes) return 0;
      const std::uint32_t head = load<std::uint16_t>(at);
      const bool more = (head & more_levels) != 0;
      const Level level{words, (head & ~more_levels) + 1, static_cast<unsigned>(at[2])};
      if (level.nonzero > words || level.bits > 8 * sizeof(Word) - more) return 0;
      if (static_cast<std::size_t>(end - at) < level.bytes()) return 0;
      found[k] = {level, at + level_header_bytes};
      if (!found[k].valid()) return 0;
      at += level.bytes();
      words = level.nonzero;
      if (!more)
        return end - at < 8 && std::all_of(at, end, [](std::byte b) { return b == std::byte{0}; }) ? k + 1
                                                                                                   : 0;
    }
    return 0;
  }

  // Sets level.count numbers from `memory` on to 0, and then calls put(place, number) for those that are not
  // 0. `rests`: the numbers of the next level, if there is one. Returns false if a place is invalid.
  template <class Put>
  static bool spread(const FoundLevel& found, const Word* rests, const Put& put, void* memory) noexcept {
    std::memset(memory, 0, found.level.count * sizeof(Word));
    if (found.level.dense()) return spread_at<true>(found, rests, put);
    return spread_at<false>(found, rests, put);
  }

  // Calls put() as spread() does. `dense`: Level::dense().
  template <bool dense, class Put>
  static bool spread_at(const FoundLevel& found, const Word* rests, const Put& put) noexcept {
    const Level level = found.level;
    const unsigned low_bits = level.low_bits();
    const std::byte *const low = found.low(), *const values = found.values();
    std::uint32_t i = 0, least = 0;  // the least place that may follow
    for (std::uint32_t q = 0; q < found.quadwords(); ++q) {
      for (std::uint64_t bits = found.quadword(q); bits != 0; bits &= bits - 1, ++i) {
        std::uint32_t place = 64 * q + static_cast<std::uint32_t>(std::countr_zero(bits));
        if constexpr (!dense) place = (place - i) << low_bits | packed<std::uint16_t>(low, low_bits, i);
        if (place < least || place >= level.count) return false;
        least = place + 1;
        auto number = packed<Word>(values, level.bits, i);
        if (rests != nullptr) number = static_cast<Word>(number | rests[i] << level.bits);
        put(place, static_cast<Word>(number + 1));
      }
    }
    return true;
  }
};

}  // namespace
}  // namespace taut::mpc
