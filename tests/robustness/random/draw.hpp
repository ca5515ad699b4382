// Random choices that one number determines.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <random>

namespace taut::test {

class Draw {
 public:
  Draw(std::uint64_t seed, std::uint64_t number) : random_(mixed(mixed(seed) + number)) {}

  std::uint64_t bits() { return random_(); }
  int pick(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }  // 0 .. n-1
  bool one_in(int n) { return pick(n) == 0; }
  double uniform() { return static_cast<double>(random_() >> 11) * 0x1p-53; }  // 0 .. 1
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
  std::mt19937_64 random_;
};

}  // namespace taut::test
