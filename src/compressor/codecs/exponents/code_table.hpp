// A CodeTable gives the commonest symbols short codes. A symbol's code is its place in the table; the
// greatest code of the width, the escape, stands for all other symbols.
#pragma once

#include <array>
#include <span>

#include "compressor/codecs/exponents/format.hpp"

namespace taut::exponents {

struct CodeTable {
  unsigned width = 0;
  alignas(16) std::uint8_t symbol[16] = {};  // by code
  alignas(64) std::uint8_t code[256] = {};   // by symbol

  std::uint8_t escape() const noexcept { return static_cast<std::uint8_t>(symbols_of(width)); }

  // Fills in `code` from the symbols and the width.
  void index() noexcept;
};

struct CodeTables {
  CodeTable first, second;

  // Chooses the tables: `first` has the commonest symbols, with the width that needs fewest bits; `second`
  // has the next 15.
  static CodeTables choose(const std::array<std::uint32_t, 256>& frequency) noexcept;
};

}  // namespace taut::exponents
