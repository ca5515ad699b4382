// Random choices of all random tests, each determined by one number: numbers, and what calls consist of.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <span>

#include "communication/team/algorithm.hpp"

namespace taut::test {

class Draw {
 public:
  explicit Draw(std::uint64_t seed, std::uint64_t number = 0) : state_(mixed(mixed(seed) + number)) {}

  // Returns 64 random bits: a mixed counter. A generator with more state takes longer to set up than most
  // configurations take to draw.
  std::uint64_t bits() { return mixed(state_ += 0x9E37'79B9'7F4A'7C15); }
  template <std::integral N>
  N pick(N n) {  // 0 .. n-1
    return static_cast<N>(bits() % static_cast<std::make_unsigned_t<N>>(n));
  }
  bool one_in(int n) { return pick(n) == 0; }
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }  // 0 .. 1
  template <class T>
  T choose(std::initializer_list<T> all) {
    return all.begin()[pick(static_cast<int>(all.size()))];
  }
  template <class Container>
  auto one_of(const Container& all) {
    return all[static_cast<std::size_t>(pick(static_cast<int>(std::size(all))))];
  }

 private:
  // Maps neighbouring numbers to unrelated ones (the finaliser of MurmurHash3).
  static std::uint64_t mixed(std::uint64_t x) noexcept {
    x = (x ^ (x >> 33)) * 0xFF51'AFD7'ED55'8CCD;
    x = (x ^ (x >> 33)) * 0xC4CE'B9FE'1A85'EC53;
    return x ^ (x >> 33);
  }
  std::uint64_t state_;
};

// Returns an operator that the type has; `sum` if the collective does not reduce.
inline Reduction draw_operator(Draw& draw, Collective collective, DType type) {
  const auto drawn = reduces(collective) ? static_cast<Reduction>(1 + draw.pick(3)) : Reduction::sum;
  return is_defined(drawn, type) ? drawn : Reduction::sum;
}

// Returns true if the call divides its sum by the number of ranks.
inline bool draw_mean(Draw& draw, Collective collective, DType type, Reduction op) {
  const bool sums = reduces(collective) && op == Reduction::sum;
  const bool may = sums && !computes_prefixes(collective) && info_of(type).family != Family::integer;
  return may && draw.one_in(3);
}

}  // namespace taut::test
