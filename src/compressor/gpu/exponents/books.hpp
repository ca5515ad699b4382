// Chooses the code books of all chunks of a message: a thread block has 64 chunks, which share their books,
// and a thread one symbol. Writes what CodeBooks::choose() finds.
#pragma once

#include "compressor/gpu/exponents/chunk.hpp"

namespace taut::exponents::cuda {

inline constexpr unsigned symbols = 256;

// Both books of 64 chunks. Each element of `code` holds two codes of a symbol: the lower four bits are its
// code in the first book, the upper four its code in the second book.
struct alignas(16) Books {
  std::uint8_t code[symbols];
  std::uint8_t order[32];  // symbols of the first book, then those of the second
  std::uint32_t width;     // bits of a code of the first book

  TAUT_DEVICE std::uint32_t escape() const { return (1u << width) - 1; }
};
inline constexpr unsigned book_words = sizeof(Books) / 4;

constexpr std::uint32_t books_of(std::uint32_t chunks) {
  return static_cast<std::uint32_t>((chunks + chunks_sharing_books - 1) / chunks_sharing_books);
}

struct BooksJob {
  const std::uint16_t* values;
  std::uint64_t count;
  Books* books;
};

struct BooksShared {
  std::uint32_t frequency[symbols];          // by symbol, in the samples
  alignas(16) std::uint32_t keys[symbols];   // order of the symbols: the most frequent has the greatest key
  std::uint64_t bits[symbols / warp_lanes];  // best_width(): sums of a warp
};

template <class T>
struct BooksKernel {
  using Job = BooksJob;
  using Shared = BooksShared;
  static constexpr BlockShape shape{symbols, 8};

  template <class Simt>
  TAUT_DEVICE static void run(Simt simt, Shared& shared, const Job& job) {
    const unsigned symbol = simt.thread();
    shared.frequency[symbol] = 0;
    simt.barrier();
    count_samples(simt, shared, job);
    simt.barrier();
    const std::uint32_t frequency = shared.frequency[symbol], key = frequency << 8 | (symbols - 1 - symbol);
    shared.keys[symbol] = key;
    simt.barrier();
    const unsigned rank = rank_of(shared, key);
    const unsigned width = best_width(simt, shared, frequency, rank);
    Books& books = job.books[simt.block()];
    const unsigned first = (1u << width) - 1, second = symbols_of(second_width);
    const unsigned in_first = rank < first ? rank : first,
                   in_second = rank - first < second ? rank - first : second;
    books.code[symbol] = static_cast<std::uint8_t>(in_first | in_second << 4);
    if (rank < sizeof books.order) books.order[rank] = static_cast<std::uint8_t>(symbol);
    if (symbol == 0) books.width = width;
  }

 private:
  // Counts the symbols of the first and the last `sampled` values of each chunk. The symbol of a value is its
  // exponent; the sign is shifted out.
  template <class Simt>
  TAUT_DEVICE static void count_samples(const Simt& simt, Shared& shared, const Job& job) {
    const auto all = static_cast<std::uint32_t>((job.count + chunk_values - 1) / chunk_values);
    const std::uint32_t first = simt.block() * chunks_sharing_books;
    const std::uint32_t chunks =
        all - first < chunks_sharing_books ? all - first : std::uint32_t{chunks_sharing_books};
    const std::uint32_t sampled = sampled_values / 2 / chunks;
    TAUT_ROLLED
    for (std::uint32_t i = simt.thread(); i < 2 * sampled * chunks; i += symbols) {
      const std::uint32_t chunk = first + i / (2 * sampled), k = i % (2 * sampled);
      const std::uint32_t n = values_of(job.count, chunk), own = n < sampled ? n : sampled;
      const std::uint32_t at = k < sampled ? k : n - own + (k - sampled);
      if (k % sampled >= own) continue;
      const std::uint32_t value = job.values[std::uint64_t{chunk} * chunk_values + at];
      simt.atomic_add(&shared.frequency[(value << 1 & 0xFFFF) >> (8 + spare_bits_of<T>)], 1);
    }
  }

  // Returns the number of symbols that precede the symbol of a key.
  TAUT_DEVICE static unsigned rank_of(const Shared& shared, std::uint32_t key) {
    unsigned rank = 0;
    TAUT_ROLLED
    for (unsigned i = 0; i < symbols; i += 4) {
      const Quad keys = load_as<Quad>(&shared.keys[i]);
      for (const std::uint32_t other : keys.words) rank += other > key;
    }
    return rank;
  }

  // Returns the width of the first book with which the samples take the fewest bits. `bits` holds a sum of 16
  // bits for each width.
  template <class Simt>
  TAUT_DEVICE static unsigned best_width(const Simt& simt, Shared& shared, std::uint32_t frequency,
                                         unsigned rank) {
    static_assert(sampled_values * (max_width + second_width + 8) < 1 << 16);
    std::uint64_t bits = 0;
    for (unsigned w = 1; w <= max_width; ++w) {
      const unsigned first = (1u << w) - 1, second = first + symbols_of(second_width);
      const unsigned each = w + (rank < first ? 0 : second_width) + (rank < second ? 0 : 8);
      bits |= std::uint64_t{frequency * each} << (16 * (w - 1));
    }
    const std::uint64_t warp_bits = simt.reduce_add(bits);
    if (simt.thread() % warp_lanes == 0) shared.bits[simt.thread() / warp_lanes] = warp_bits;
    simt.barrier();
    std::uint64_t all = 0;
    for (const std::uint64_t some : shared.bits) all += some;
    unsigned width = 1;
    for (unsigned w = 2; w <= max_width; ++w)
      if ((all >> (16 * (w - 1)) & 0xFFFF) < (all >> (16 * (width - 1)) & 0xFFFF)) width = w;
    return width;
  }
};

}  // namespace taut::exponents::cuda
