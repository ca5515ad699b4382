// Random choices that one number determines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>

namespace taut::test {

class Draw {
 public:
  Draw(std::uint64_t seed, std::uint64_t number) : state_(mixed(mixed(seed) + number)) {}

  // Returns 64 random bits: a mixed counter. A generator with more state takes longer to set up than most
  // configurations take to draw.
  std::uint64_t bits() { return mixed(state_ += 0x9E37'79B9'7F4A'7C15); }
  int pick(int n) { return static_cast<int>(bits() % static_cast<unsigned>(n)); }  // 0 .. n-1
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

}  // namespace taut::test
