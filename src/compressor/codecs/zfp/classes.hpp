// Map of the NaN and infinities of a tile at a fixed rate: a bit for each group of 64 values, which marks
// groups with such values, then a class of two bits for each value of the marked groups. Format: spec.md.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "compressor/values/slice.hpp"

namespace taut::zfp {

inline constexpr std::size_t class_group = 64;  // values

enum class ValueClass : unsigned { finite = 0, nan = 1, infinity = 2, negative_infinity = 3 };

template <class T>
ValueClass class_of(T x) noexcept {
  if (std::isfinite(x)) return ValueClass::finite;
  return x != x ? ValueClass::nan : x > 0 ? ValueClass::infinity : ValueClass::negative_infinity;
}

template <class T>
T value_of(ValueClass c) noexcept {
  constexpr T infinity = std::numeric_limits<T>::infinity();
  return c == ValueClass::nan        ? std::numeric_limits<T>::quiet_NaN()
         : c == ValueClass::infinity ? infinity
                                     : -infinity;
}

constexpr std::size_t class_groups(std::size_t count) noexcept {
  return (count + class_group - 1) / class_group;
}
constexpr std::size_t mark_bytes(std::size_t count) noexcept { return (class_groups(count) + 7) / 8; }
// Returns the bytes of the classes of a marked group of that many values.
constexpr std::size_t class_bytes(std::size_t values) noexcept { return (values + 3) / 4; }

// Writes the map and returns its bytes. `out` holds mark_bytes(count) + class_bytes(count).
template <class T>
std::size_t write_classes(const T* values, std::size_t count, std::byte* out) noexcept {
  std::byte* const marks = out;
  std::fill_n(marks, mark_bytes(count), std::byte{0});
  out += mark_bytes(count);
  for (std::size_t first = 0; first < count; first += class_group) {
    const std::size_t n = std::min(class_group, count - first);
    std::byte classes[class_bytes(class_group)] = {};
    bool all_finite = true;
    for (std::size_t i = 0; i < n; ++i) {
      const ValueClass c = class_of(values[first + i]);
      all_finite = all_finite && c == ValueClass::finite;
      classes[i / 4] |= std::byte(static_cast<unsigned>(c) << i % 4 * 2);
    }
    if (all_finite) continue;
    marks[first / class_group / 8] |= std::byte(1u << first / class_group % 8);
    out = std::copy_n(classes, class_bytes(n), out);
  }
  return static_cast<std::size_t>(out - marks);
}

// Returns the size of the map at the start of `bytes`. The size is beyond the end of `bytes` if the map is
// truncated.
inline std::size_t map_bytes(ConstBytes bytes, std::size_t count) noexcept {
  std::size_t size = mark_bytes(count);
  if (size > bytes.size()) return size;
  for (std::size_t g = 0; g < class_groups(count); ++g)
    if ((bytes[g / 8] & std::byte(1u << g % 8)) != std::byte{0})
      size += class_bytes(std::min(class_group, count - g * class_group));
  return size;
}

// Calls put(i, value) for each value that is not finite. The map is complete: it has map_bytes() bytes.
template <class T, class Put>
void read_classes(const std::byte* map, std::size_t count, Put put) noexcept {
  const std::byte* classes = map + mark_bytes(count);
  for (std::size_t g = 0; g < class_groups(count); ++g) {
    if ((map[g / 8] & std::byte(1u << g % 8)) == std::byte{0}) continue;
    const std::size_t first = g * class_group, n = std::min(class_group, count - first);
    for (std::size_t i = 0; i < n; ++i) {
      const auto c = static_cast<ValueClass>(std::to_integer<unsigned>(classes[i / 4]) >> i % 4 * 2 & 3);
      if (c != ValueClass::finite) put(first + i, value_of<T>(c));
    }
    classes += class_bytes(n);
  }
}

}  // namespace taut::zfp
