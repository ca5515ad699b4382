// The pipeline of MPC (Yang, Mukka, Hesaaraki, Burtscher: "MPC: A Massively Parallel Compression Algorithm
// for Scientific Data", IEEE Cluster 2015) on one chunk, written once over the vocabulary of compressor/simd:
//
//   LNVds  replaces each word by its difference from the word `distance` before, in negabinary digits;
//   BIT    transposes 8 differences (a block) into one byte for each of their bits;
//   ZE     drops bytes of 0 and records the remaining ones in a bitmap.
//
// The bitmaps are compressed in the same way: each block's bitmap differs little from the bitmap of the block
// before (LNV), and bytes without a difference are dropped (ZE), twice: flags tell which bytes of the bitmaps
// are kept, and `top` which bytes of the flags. A record is the kept bytes of the planes, of the bitmaps and
// of the flags, the heads (the first `distance` words, which nothing predicts), and `top`. MPC subtracts
// neighbouring planes (LNV1s) to turn equal signs into zeros. Negabinary digits do not need that step: for
// numbers of either sign, the digits above the number's highest digit are 0.
#pragma once

#include <functional>
#include <utility>

#include "compressor/codecs/mpc/grid_kernel.hpp"
#include "compressor/codecs/mpc/kernels.hpp"
#include "compressor/codecs/mpc/sparse_kernel.hpp"

namespace taut::mpc {

namespace {  // one copy for each kernel set, compiled with its instructions

// Rounds words, or registers of words, as rounded() of rounding.hpp does. Word is the type of a word, Words
// the same type or a register.
template <class Word, class Words>
Words rounded_words(Words bits, const Rounding& r) noexcept {
  if constexpr (std::is_same_v<Words, Word>) {
    return rounded(bits, r);
  } else {
    constexpr auto magnitude = static_cast<Word>(static_cast<Word>(~Word{0}) >> 1);
    const auto word = [](std::uint64_t x) { return static_cast<Word>(x); };
    const Words place = (bits & magnitude) - word(r.least_normal), even = bits >> word(r.dropped) & word(1);
    const Words up = bits + word((std::uint64_t{1} << (r.dropped - 1)) - 1) + even;
    const Words result = up & word(~std::uint64_t{0} << r.dropped);
    return place < word(r.range) ? result : bits;
  }
}

template <class Set, class Word>
struct Pipeline {
  using Vector = typename Set::Bytes;

  static std::size_t encode(const std::byte* words, std::size_t vectors, unsigned distance,
                            std::byte* record) noexcept {
    const std::size_t back = distance * sizeof(Word);
    Tables tables;
    std::byte* out = record;
    Vector before = first_predictions(words, back);
    std::uint64_t bitmap = 0;
    for (std::size_t v = 0; v < vectors; ++v) {
      const std::byte* at = words + v * vector_bytes;
      if (v != 0 && back != 0) before = Set::load(at - back);
      const Vector planes = planes_of(subtract(Set::load(at), before));
      const std::uint64_t bitmap_before = std::exchange(bitmap, Set::nonzero_mask(planes));
      tables.coded[v] = bitmap ^ delayed(bitmap, bitmap_before);
      out = Set::compress(out, planes, bitmap);
    }
    std::fill(tables.coded + vectors, tables.coded + 8 * groups(vectors), 0);
    return write_tables(tables, groups(vectors), {words, back}, record, out);
  }

  static bool decode(ConstBytes record, std::size_t vectors, unsigned distance, std::byte* words) noexcept {
    using Decode = bool (*)(ConstBytes, std::size_t, std::byte*);
    static constexpr Decode at_distance[] = {decode_at<0>, decode_at<1>, decode_at<2>,
                                             decode_at<3>, decode_at<4>, decode_at<5>,
                                             decode_at<6>, decode_at<7>, decode_at<8>};
    static_assert(std::size(at_distance) == max_distance + 1);
    return at_distance[distance](record, vectors, words);
  }

  static void round(const std::byte* words, std::size_t vectors, const Rounding& rounding,
                    std::byte* rounded) noexcept {
    const Rounding r = rounding;  // the stores cannot change a copy
    for (std::size_t i = 0; i < vectors * vector_bytes; i += vector_bytes)
      Set::store(rounded + i, Set::template map_words<Word>([&](auto v) { return rounded_words<Word>(v, r); },
                                                            Set::load(words + i)));
  }

  static void subtract_lags(const Sources& sources, std::size_t vectors, std::byte* to) noexcept {
    each_vector(sources, vectors, to, [](const Sources& s, std::size_t i) {
      return less_lags<Set, Word>(Set::load(s.words + i), s, i);
    });
  }

  static void add_lags(const Sources& sources, std::size_t vectors, std::byte* to) noexcept {
    each_vector(sources, vectors, to, [](const Sources& s, std::size_t i) {
      const Vector near = add(Set::load(s.words + i), Set::load(s.near + i));
      if (s.far == nullptr) return near;
      return add(near, subtract(Set::load(s.far + i), Set::load(s.both + i)));
    });
  }

 private:
  static Vector add(const Vector& a, const Vector& b) noexcept {
    return Set::template map_words<Word>(std::plus<>(), a, b);
  }
  static Vector subtract(const Vector& a, const Vector& b) noexcept {
    return Set::template map_words<Word>(std::minus<>(), a, b);
  }

  // Conversion between differences and the bit planes of their negabinary digits.
  static constexpr auto negabinary = static_cast<Word>(0xAAAAAAAAAAAAAAAA);
  static Vector planes_of(const Vector& differences) noexcept {
    const auto digits = [](auto v) { return (v + negabinary) ^ negabinary; };
    return Set::template words_to_planes<sizeof(Word)>(Set::template map_words<Word>(digits, differences));
  }
  static Vector differences_of(const Vector& planes) noexcept {
    return Set::template map_words<Word>([](auto v) { return v - negabinary; },
                                         Set::template planes_to_words<sizeof(Word), 0xAA>(planes));
  }

  // Calls combine(sources, offset) for each vector, and stores the results.
  template <class Combine>
  static void each_vector(const Sources& sources, std::size_t vectors, std::byte* to,
                          const Combine& combine) noexcept {
    const Sources s = sources;  // the stores cannot change a copy
    for (std::size_t i = 0; i < vectors * vector_bytes; i += vector_bytes) Set::store(to + i, combine(s, i));
  }

  // NoScan takes the place of Set::Scan at distance 0, where words are not predicted.
  struct NoScan {
    explicit NoScan(const Vector&) noexcept {}
    template <class Op>
    const Vector& operator()(const Vector& v, const Op&) const noexcept {
      return v;
    }
  };
  template <unsigned distance>
  using Scan = std::conditional_t<distance == 0, NoScan,
                                  typename Set::template Scan<Word, distance == 0 ? 1 : distance>>;

  // Returns the number of groups of 8 bitmaps. A group fills a vector.
  static std::size_t groups(std::size_t vectors) noexcept { return (vectors + 7) / 8; }

  struct Tables {
    alignas(64) std::uint64_t coded[chunk_vectors];  // bitmaps, each block's xor the previous block's
    alignas(64) std::uint64_t flags[8];              // flags[g], bit i: byte i of group g of `coded` is not 0
  };

  static std::byte* bytes(std::uint64_t* words) noexcept { return reinterpret_cast<std::byte*>(words); }
  static std::size_t ones(std::uint64_t mask) noexcept {
    return static_cast<std::size_t>(std::popcount(mask));
  }

  // Returns the predictions of the first vector. The first words predict themselves: the record stores them
  // as its heads.
  static Vector first_predictions(const std::byte* words, std::size_t back) noexcept {
    std::byte buffer[2 * vector_bytes] = {};
    if (back == 0) return Set::load(buffer);
    std::memcpy(buffer, words, vector_bytes);
    std::memcpy(buffer + back, words, vector_bytes);
    return Set::load(buffer);
  }

  // Returns, for each block of a vector, the bitmap of the block before. `bitmap_before`: bitmap of the
  // vector before.
  static std::uint64_t delayed(std::uint64_t bitmap, std::uint64_t bitmap_before) noexcept {
    constexpr unsigned block_bits = 8 * sizeof(Word);
    if constexpr (block_bits == 64) return bitmap_before;
    return bitmap << block_bits % 64 | bitmap_before >> (64 - block_bits);
  }

  // Writes what follows the planes in a record: padding, coded bitmaps, flags, heads, top. Returns the
  // record's size.
  static std::size_t write_tables(Tables& t, std::size_t groups, ConstBytes heads, std::byte* record,
                                  std::byte* out) noexcept {
    std::size_t coded_bytes = 0;
    std::fill(t.flags, std::end(t.flags), 0);
    for (std::size_t g = 0; g < groups; ++g) {
      t.flags[g] = Set::nonzero_mask(Set::load(bytes(t.coded + 8 * g)));
      coded_bytes += ones(t.flags[g]);
    }
    const Vector flags = Set::load(bytes(t.flags));
    const std::uint64_t top = Set::nonzero_mask(flags);
    const std::size_t tables = coded_bytes + ones(top) + heads.size() + sizeof top;
    store(out, std::uint32_t{0});
    out += -(static_cast<std::size_t>(out - record) + tables) % index_unit;
    for (std::size_t g = 0; g < groups; ++g)
      out = Set::compress(out, Set::load(bytes(t.coded + 8 * g)), t.flags[g]);
    out = Set::compress(out, flags, top);
    std::memcpy(out, heads.data(), heads.size());
    store(out + heads.size(), top);
    return static_cast<std::size_t>(out - record) + heads.size() + sizeof top;
  }

  // Decodes a record. The tables are located from the end of the record: top, heads, flags, coded bitmaps.
  template <unsigned distance>
  static bool decode_at(ConstBytes record, std::size_t vectors, std::byte* words) noexcept {
    const std::byte *in = record.data(), *at = in + record.size();
    if (!step_back(in, at, sizeof(std::uint64_t) + distance * sizeof(Word))) return false;
    const auto top = load<std::uint64_t>(record.data() + record.size() - sizeof(std::uint64_t));
    if (vectors < chunk_vectors && top >> vectors != 0) return false;
    if (!step_back(in, at, ones(top))) return false;
    alignas(64) std::uint64_t flags[8];
    Set::store(bytes(flags), Set::expand(at, top));
    std::size_t coded_bytes = 0;
    for (const std::uint64_t f : flags) coded_bytes += ones(f);
    if (!step_back(in, at, coded_bytes)) return false;

    const auto room = static_cast<std::size_t>(at - in);
    const std::byte* heads_end = record.data() + record.size() - sizeof(std::uint64_t);
    Scan<distance> sums(Set::load(heads_end - vector_bytes));
    const std::size_t taken = decode_groups(record, flags, at, vectors, sums, words);
    const std::size_t padding = room - taken;
    return padding < index_unit && (load<std::uint32_t>(in + taken) & ((1u << 8 * padding) - 1)) == 0;
  }

  // Moves `at` back by n bytes. Returns false if it would be before `begin`.
  static bool step_back(const std::byte* begin, const std::byte*& at, std::size_t n) noexcept {
    if (static_cast<std::size_t>(at - begin) < n) return false;
    at -= n;
    return true;
  }

  // Decodes the bitmaps, and then the words. `sums`: the scan that adds differences. Returns the number of
  // bytes that the planes take.
  template <class Sums>
  static std::size_t decode_groups(ConstBytes record, const std::uint64_t* flags, const std::byte* coded,
                                   std::size_t vectors, Sums& sums, std::byte* words) noexcept {
    const std::byte* in = record.data();
    alignas(64) std::uint64_t bitmaps[chunk_vectors];
    std::fill(bitmaps, bitmaps + 8, 0);
    typename Set::template Scan<Word, 1> blocks(Set::load(bytes(bitmaps)));
    for (std::size_t g = 0; g < groups(vectors); ++g) {
      Set::store(bytes(bitmaps + 8 * g), blocks(Set::expand(coded, flags[g]), std::bit_xor<>()));
      coded += ones(flags[g]);
    }
    for (std::size_t v = 0; v < vectors; ++v) {
      const Vector differences = differences_of(Set::expand(in, bitmaps[v]));
      Set::store(words + v * vector_bytes, sums(differences, std::plus<>()));
      in += ones(bitmaps[v]);
    }
    return static_cast<std::size_t>(in - record.data());
  }
};

template <class Set, class Word>
constexpr Kernels kernels_for() {
  using P = Pipeline<Set, Word>;
  using Sparse = SparsePipeline<Set, Word>;
  Kernels kernels{P::encode,        P::decode,   Sparse::encode, Sparse::decode, nullptr,
                  P::subtract_lags, P::add_lags, nullptr,        nullptr};
  if constexpr (sizeof(Word) > 1) kernels.round = P::round;
  if constexpr (sizeof(Word) > 2) {
    kernels.to_codes = GridLoops<Set, Word>::to_codes;
    kernels.from_codes = GridLoops<Set, Word>::from_codes;
  }
  return kernels;
}

}  // namespace

template <class Set>
const KernelSet& KernelSet::with() noexcept {
  static constexpr KernelSet set{simd::name_of<Set>,
                                 simd::supported<Set>,
                                 {kernels_for<Set, std::uint8_t>(), kernels_for<Set, std::uint16_t>(),
                                  kernels_for<Set, std::uint32_t>(), kernels_for<Set, std::uint64_t>()}};
  return set;
}

}  // namespace taut::mpc
