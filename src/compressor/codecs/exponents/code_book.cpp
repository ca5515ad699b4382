#include "compressor/codecs/exponents/kernels.hpp"

#include <algorithm>
#include <functional>

namespace taut::exponents {
namespace {

using Frequency = std::array<std::uint32_t, 256>;

// Returns the symbols from the most frequent one on, the smaller symbol first where frequencies are equal.
std::array<std::uint8_t, 256> symbols_by_frequency(const Frequency& frequency) noexcept {
  // Sort keys of the symbols that occur: the frequency, then the symbol's complement.
  std::array<std::uint32_t, 256> keys;
  std::array<std::uint8_t, 256> order;
  std::size_t used = 0, unused = order.size();
  for (std::uint32_t s = 256; s-- > 0;) {
    if (frequency[s] > 0)
      keys[used++] = frequency[s] << 8 | (255 - s);
    else
      order[--unused] = static_cast<std::uint8_t>(s);
  }
  std::sort(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(used), std::greater<>());
  for (std::size_t i = 0; i < used; ++i) order[i] = static_cast<std::uint8_t>(~keys[i]);
  return order;
}

// Returns the bits of the codes of all symbols if the first book has that width.
std::uint64_t bits_with(unsigned width, const Frequency& frequency,
                        const std::array<std::uint8_t, 256>& order) noexcept {
  std::uint64_t bits = 0;
  const std::size_t first = symbols_of(width), second = first + symbols_of(second_width);
  for (std::size_t i = 0; i < order.size() && frequency[order[i]] > 0; ++i) {
    const unsigned code_bits = width + (i < first ? 0 : second_width) + (i < second ? 0 : 8);
    bits += std::uint64_t{code_bits} * frequency[order[i]];
  }
  return bits;
}

void fill(CodeBook& book, unsigned width, const std::uint8_t* symbols) noexcept {
  book.width = width;
  std::copy_n(symbols, symbols_of(width), book.symbol);
  book.set_codes();
}

}  // namespace

void CodeBook::set_codes() noexcept {
  std::fill(code, std::end(code), escape());
  for (std::size_t i = symbols_of(width); i-- > 0;) code[symbol[i]] = static_cast<std::uint8_t>(i);
}

CodeBooks CodeBooks::choose(const Frequency& frequency) noexcept {
  const auto order = symbols_by_frequency(frequency);
  unsigned width = 1;
  for (unsigned w = 2; w <= max_width; ++w)
    if (bits_with(w, frequency, order) < bits_with(width, frequency, order)) width = w;
  CodeBooks books;
  fill(books.first, width, order.data());
  fill(books.second, second_width, order.data() + symbols_of(width));
  return books;
}

}  // namespace taut::exponents
