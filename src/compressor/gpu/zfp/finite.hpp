// Finds the values of a tile that are not finite, their map (codecs/zfp/classes.hpp), and the values that are
// coded in their place, by a block of threads.
#pragma once

#include "compressor/gpu/zfp/bits.hpp"
#include "compressor/gpu/zfp/field.hpp"

namespace taut::zfp::cuda {

inline constexpr unsigned most_groups = max_tile_values / group_size;
inline constexpr unsigned mark_words = most_groups / 32;
inline constexpr unsigned group_class_bytes = class_bytes(group_size);

template <class T>
TAUT_DEVICE ValueClass class_at(T x) {
  constexpr T greatest = std::numeric_limits<T>::max();
  return x != x          ? ValueClass::nan
         : x > greatest  ? ValueClass::infinity
         : x < -greatest ? ValueClass::negative_infinity
                         : ValueClass::finite;
}

TAUT_DEVICE std::uint32_t group_values(std::uint32_t values, std::uint32_t group) {
  const std::uint32_t left = values - group * group_size;
  return left < group_size ? left : group_size;
}
TAUT_DEVICE std::uint64_t all_of(std::uint32_t values) {
  return values < 64 ? (std::uint64_t{1} << values) - 1 : ~std::uint64_t{0};
}

// Returns a mask whose bit i is set if value i of the group is finite. Called by a warp.
template <class T, unsigned D, class Simt>
TAUT_DEVICE std::uint64_t finite_values(const Simt& simt, const T* field, const Tile<D>& tile,
                                        std::uint32_t values, std::uint32_t group) {
  std::uint32_t mask[2];
  for (unsigned k = 0; k < 2; ++k) {
    const std::uint32_t i = group * group_size + k * warp_lanes + simt.thread() % warp_lanes;
    mask[k] = simt.ballot(i < values && class_at(field[tile.place(i)]) == ValueClass::finite);
  }
  return mask[0] | std::uint64_t{mask[1]} << 32;
}

// The map of a tile, in shared memory: the groups of 64 values that have values that are not finite.
struct Marks {
  std::uint32_t words[mark_words];   // a bit for each group
  std::uint32_t before[mark_words];  // number of marked groups in the preceding words
  std::uint32_t bytes;               // size of the map

  TAUT_DEVICE bool has(std::uint32_t group) const { return (words[group / 32] >> group % 32 & 1) != 0; }

  // Returns the position of a marked group's classes in the map.
  template <class Simt>
  TAUT_DEVICE std::uint32_t place(const Simt& simt, std::uint32_t values, std::uint32_t group) const {
    const std::uint32_t rank =
        before[group / 32] + simt.popcount(words[group / 32] & ~(all_lanes << group % 32));
    return static_cast<std::uint32_t>(mark_bytes(values)) + rank * group_class_bytes;
  }

  // Computes the other members from `words`. Called by a warp.
  template <class Simt>
  TAUT_DEVICE void count(const Simt& simt, std::uint32_t values) {
    const unsigned lane = simt.thread() % warp_lanes;
    const auto last = static_cast<std::uint32_t>(class_groups(values)) - 1;
    const std::uint32_t own = simt.popcount(words[lane]), up_to = simt.inclusive_sum(own);
    before[lane] = up_to - own;
    if (lane + 1 < warp_lanes) return;
    const auto not_there =
        static_cast<std::uint32_t>(group_class_bytes - class_bytes(group_values(values, last)));
    bytes = static_cast<std::uint32_t>(mark_bytes(values)) + up_to * group_class_bytes -
            (has(last) ? not_there : 0);
  }
};
static_assert(mark_words == warp_lanes);

// Values that are coded in place of values that are not finite: the last finite value before, in the order of
// memory, or else the first finite value of the tile.
struct FiniteValues {
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  std::uint64_t masks[most_groups];
  std::uint16_t before[most_groups];  // last finite value of the earlier groups, or the first one of the tile
  bool exists;                        // false: no value is finite, and `before` has no meaning

  // Returns the index of the value that is coded for value i of the tile; `none` if no value is finite.
  template <class Simt>
  TAUT_DEVICE std::uint32_t coded_index(const Simt& simt, std::uint32_t i) const {
    const std::uint32_t group = i / group_size;
    const std::uint64_t up_to = masks[group] & all_of(i % group_size + 1);
    return !exists ? none : up_to == 0 ? before[group] : last_of(simt, group, up_to);
  }

  // Computes `before` and `exists`. Called by a warp.
  template <class Simt>
  TAUT_DEVICE void find_substitutes(const Simt& simt, std::uint32_t groups) {
    const unsigned lane = simt.thread() % warp_lanes;
    std::uint32_t last = first_of_all(simt, groups);
    if (lane == 0) exists = last != none;
    TAUT_ROLLED
    for (std::uint32_t first = 0; first < groups; first += warp_lanes) {
      const std::uint32_t group = first + lane;
      const std::uint64_t own = group < groups ? masks[group] : 0;
      const std::uint32_t any = simt.ballot(own != 0), lower = any & ~(all_lanes << lane);
      const std::uint32_t of_own = own == 0 ? none : last_of(simt, group, own);
      const std::uint32_t of_lower = simt.shuffle(of_own, lower == 0 ? 0 : 31 - simt.leading_zeros(lower));
      const std::uint32_t of_all = simt.shuffle(of_own, any == 0 ? 0 : 31 - simt.leading_zeros(any));
      if (group < groups) before[group] = static_cast<std::uint16_t>(lower == 0 ? last : of_lower);
      if (any != 0) last = of_all;
    }
  }

 private:
  template <class Simt>
  TAUT_DEVICE static std::uint32_t last_of(const Simt& simt, std::uint32_t group, std::uint64_t finite) {
    return group * group_size + 63 - simt.leading_zeros(finite);
  }

  template <class Simt>
  TAUT_DEVICE std::uint32_t first_of_all(const Simt& simt, std::uint32_t groups) const {
    TAUT_ROLLED
    for (std::uint32_t first = 0; first < groups; first += warp_lanes) {
      const std::uint32_t group = first + simt.thread() % warp_lanes;
      const std::uint64_t own = group < groups ? masks[group] : 0;
      const std::uint32_t any = simt.ballot(own != 0);
      if (any == 0) continue;
      const std::uint32_t of_own = group * group_size + trailing_zeros(simt, own);
      return simt.shuffle(of_own, trailing_zeros(simt, any));
    }
    return none;
  }
};

}  // namespace taut::zfp::cuda
