// Damage of a message in transfer.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace taut::test {

using Message = std::vector<std::byte>;  // its bytes

struct Damage {
  const char* name;
  void (*apply)(Message&);
};
// Kinds of damage, each of which the size or a checksum shows.
inline constexpr Damage damages[] = {
    {"emptied", [](Message& m) { m.clear(); }},
    {"cut in the header", [](Message& m) { m.resize(std::min<std::size_t>(m.size(), 63)); }},
    {"cut by one byte", [](Message& m) { m.pop_back(); }},
    {"cut in half", [](Message& m) { m.resize(m.size() / 2); }},
    {"too long", [](Message& m) { m.resize(m.size() + (std::size_t{1} << 20)); }},
    {"bit of the count flipped", [](Message& m) { m[8] ^= std::byte{4}; }},
    {"bit of the magic flipped", [](Message& m) { m[0] ^= std::byte{1}; }},
    {"last bit flipped", [](Message& m) { m.back() ^= std::byte{128}; }},
    {"middle bit flipped", [](Message& m) { m[m.size() / 2] ^= std::byte{16}; }},
    {"all zero", [](Message& m) { std::fill(m.begin(), m.end(), std::byte{0}); }},
    {"noise",
     [](Message& m) {
       for (std::size_t i = 0; i < m.size(); ++i) m[i] ^= std::byte(i * i * 37 + 1);
     }},
};

}  // namespace taut::test
