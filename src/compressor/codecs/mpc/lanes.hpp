// Arithmetic on the words in a register, of any instruction set.
#pragma once

#include "compressor/codecs/mpc/rounding.hpp"

namespace taut::mpc {
namespace {  // one copy for each kernel set, compiled with its instructions

template <class Word, std::size_t bytes>
struct Lanes {
  typedef long long Register __attribute__((vector_size(bytes)));
  typedef Word Words __attribute__((vector_size(bytes)));

  static Register add(Register a, Register b) noexcept { return (Register)((Words)a + (Words)b); }
  static Register subtract(Register a, Register b) noexcept { return (Register)((Words)a - (Words)b); }

  // Conversion to and from negabinary digits.
  static constexpr auto negabinary = static_cast<Word>(0xAAAAAAAAAAAAAAAA);
  static Register digits(Register v) noexcept { return (Register)(((Words)v + negabinary) ^ negabinary); }
  static Register number(Register v) noexcept { return (Register)(((Words)v ^ negabinary) - negabinary); }

  // Computes `rounded` of rounding.hpp for each word.
  static Register round(Register v, const Rounding& r) noexcept {
    constexpr auto magnitude = static_cast<Word>(static_cast<Word>(~Word{0}) >> 1);
    const auto word = [](std::uint64_t x) { return static_cast<Word>(x); };
    const Words bits = (Words)v, place = (bits & magnitude) - word(r.least_normal);
    const Words even = bits >> word(r.dropped) & word(1);
    const Words up = bits + word((std::uint64_t{1} << (r.dropped - 1)) - 1) + even;
    const Words result = up & word(~std::uint64_t{0} << r.dropped);
    return (Register)(place < word(r.range) ? result : bits);
  }
};

}  // namespace
}  // namespace taut::mpc
