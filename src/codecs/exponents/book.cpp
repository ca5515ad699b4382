#include "codecs/exponents/book.hpp"

#include <algorithm>

namespace taut::exponents {
namespace {

using Frequency = std::array<std::uint32_t, 256>;

// Returns the symbols in the order of their frequency, the smaller symbol first where it is equal.
std::array<std::uint8_t, 256> commonest(const Frequency& frequency) noexcept {
  std::array<std::uint8_t, 256> order;
  auto append = [&, n = std::size_t{0}](bool used) mutable {
    for (unsigned s = 0; s < 256; ++s)
      if ((frequency[s] > 0) == used) order[n++] = static_cast<std::uint8_t>(s);
    return order.begin() + static_cast<std::ptrdiff_t>(n);
  };
  const auto end_of_used = append(true);
  append(false);
  std::sort(order.begin(), end_of_used, [&](std::uint8_t a, std::uint8_t b) {
    return frequency[a] != frequency[b] ? frequency[a] > frequency[b] : a < b;
  });
  return order;
}

// Returns the bits of all codes with a first book of that width.
std::uint64_t bits_with(unsigned width, const Frequency& frequency,
                        const std::array<std::uint8_t, 256>& order) noexcept {
  std::uint64_t bits = 0;
  const std::size_t first = symbols_of(width), second = first + symbols_of(second_width);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const unsigned each = width + (i < first ? 0 : second_width) + (i < second ? 0 : 8);
    bits += std::uint64_t{each} * frequency[order[i]];
  }
  return bits;
}

void fill(Book& book, unsigned width, const std::uint8_t* symbols) noexcept {
  book.width = width;
  std::copy_n(symbols, symbols_of(width), book.symbol);
  book.index();
}

}  // namespace

void Book::index() noexcept {
  std::fill(code, std::end(code), escape());
  for (std::size_t i = symbols_of(width); i-- > 0;) code[symbol[i]] = static_cast<std::uint8_t>(i);
}

Books Books::of(const Frequency& frequency) noexcept {
  const auto order = commonest(frequency);
  unsigned width = 1;
  for (unsigned w = 2; w <= max_width; ++w)
    if (bits_with(w, frequency, order) < bits_with(width, frequency, order)) width = w;
  Books books;
  fill(books.first, width, order.data());
  fill(books.second, second_width, order.data() + symbols_of(width));
  return books;
}

}  // namespace taut::exponents
