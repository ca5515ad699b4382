// Finds the values of a tile that are not finite, and the values that are coded in their place, by a block of
// threads. ClassMap is the map of these values in a record, whose layout codecs/zfp/classes.hpp has.
#pragma once

#include "compressor/gpu/zfp/bits.hpp"
#include "compressor/gpu/zfp/field.hpp"

namespace taut::zfp::cuda {

inline constexpr unsigned max_groups = max_tile_values / group_size;  // of a tile
inline constexpr unsigned mark_words = max_groups / 32;
inline constexpr unsigned group_class_bytes = class_bytes(group_size);

// Returns the class of a value, as class_of() of classes.hpp does.
template <class T>
TAUT_DEVICE ValueClass class_of_value(T x) {
  constexpr T greatest = std::numeric_limits<T>::max();
  return x != x          ? ValueClass::nan
         : x > greatest  ? ValueClass::infinity
         : x < -greatest ? ValueClass::negative_infinity
                         : ValueClass::finite;
}

// Returns the number of values in a group of a tile of `values` values.
TAUT_DEVICE std::uint32_t group_values(std::uint32_t values, std::uint32_t group) {
  const std::uint32_t left = values - group * group_size;
  return left < group_size ? left : group_size;
}
// Returns the mask of the first `values` values of a group.
TAUT_DEVICE std::uint64_t group_mask(std::uint32_t values) {
  return values < 64 ? (std::uint64_t{1} << values) - 1 : ~std::uint64_t{0};
}

// Returns a mask whose bit i is set if value i of the group is finite. Called by a warp.
template <class T, unsigned D, class Simt>
TAUT_DEVICE std::uint64_t finite_values(const Simt& simt, const T* field, const Tile<D>& tile,
                                        std::uint32_t values, std::uint32_t group) {
  std::uint32_t mask[2];
  for (unsigned k = 0; k < 2; ++k) {
    const std::uint32_t i = group * group_size + k * warp_lanes + simt.thread() % warp_lanes;
    mask[k] = simt.ballot(i < values && class_of_value(field[tile.place(i)]) == ValueClass::finite);
  }
  return mask[0] | std::uint64_t{mask[1]} << 32;
}

// Map of a tile: a bit, the mark, for each group of 64 values (mark_bytes(), in whole bytes); then, for each
// group whose bit is set, two bits (ValueClass) a value (class_bytes()). Groups are marked if some of their
// values are not finite. The marks are in shared memory, the classes in the record alone.
struct ClassMap {
  std::uint32_t marks[mark_words];
  std::uint32_t marked_before[mark_words];  // number of marked groups in the preceding words of `marks`
  std::uint32_t bytes;                      // size of the map

  TAUT_DEVICE bool is_marked(std::uint32_t group) const { return (marks[group / 32] >> group % 32 & 1) != 0; }

  // Returns the byte of the map at which a marked group's classes begin.
  template <class Simt>
  TAUT_DEVICE std::uint32_t classes_at(const Simt& simt, std::uint32_t values, std::uint32_t group) const {
    const std::uint32_t rank =
        marked_before[group / 32] + simt.popcount(marks[group / 32] & ~(all_lanes << group % 32));
    return static_cast<std::uint32_t>(mark_bytes(values)) + rank * group_class_bytes;
  }

  // Computes the other members from `marks`. Called by a warp.
  template <class Simt>
  TAUT_DEVICE void count(const Simt& simt, std::uint32_t values) {
    const unsigned lane = simt.thread() % warp_lanes;
    const auto last = static_cast<std::uint32_t>(class_groups(values)) - 1;
    const std::uint32_t own = simt.popcount(marks[lane]), up_to = simt.inclusive_sum(own);
    marked_before[lane] = up_to - own;
    if (lane + 1 < warp_lanes) return;
    // The last group of the tile may have fewer than 64 values, and its classes fewer bytes.
    const auto missing_bytes =
        static_cast<std::uint32_t>(group_class_bytes - class_bytes(group_values(values, last)));
    bytes = static_cast<std::uint32_t>(mark_bytes(values)) + up_to * group_class_bytes -
            (is_marked(last) ? missing_bytes : 0);
  }
};
static_assert(mark_words == warp_lanes);

// Finds the value that is coded in place of one that is not finite: the last finite value before it, in the
// order of memory, or else the first finite value of the tile.
struct FiniteValues {
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  std::uint64_t masks[max_groups];  // of each group: a bit for each finite value
  // Index of the value that is coded for values before the first finite one of each group: the last finite
  // value of the earlier groups, or else the first finite one of the tile.
  std::uint16_t substitute[max_groups];
  bool any_finite;  // false: `substitute` has no meaning

  // Returns the index of the value that is coded for value i of the tile; `none` if no value is finite.
  template <class Simt>
  TAUT_DEVICE std::uint32_t coded_index(const Simt& simt, std::uint32_t i) const {
    const std::uint32_t group = i / group_size;
    const std::uint64_t up_to = masks[group] & group_mask(i % group_size + 1);
    return !any_finite ? none : up_to == 0 ? substitute[group] : last_of(simt, group, up_to);
  }

  // Computes `substitute` and `any_finite`. Called by a warp.
  template <class Simt>
  TAUT_DEVICE void find_substitutes(const Simt& simt, std::uint32_t groups) {
    const unsigned lane = simt.thread() % warp_lanes;
    std::uint32_t last = first_of_all(simt, groups);
    if (lane == 0) any_finite = last != none;
    TAUT_ROLLED
    for (std::uint32_t first = 0; first < groups; first += warp_lanes) {
      const std::uint32_t group = first + lane;
      const std::uint64_t own = group < groups ? masks[group] : 0;
      const std::uint32_t any = simt.ballot(own != 0), lower = any & ~(all_lanes << lane);
      const std::uint32_t own_last = own == 0 ? none : last_of(simt, group, own);
      const std::uint32_t lower_last =
          simt.shuffle(own_last, lower == 0 ? 0 : 31 - simt.leading_zeros(lower));
      const std::uint32_t warp_last = simt.shuffle(own_last, any == 0 ? 0 : 31 - simt.leading_zeros(any));
      if (group < groups) substitute[group] = static_cast<std::uint16_t>(lower == 0 ? last : lower_last);
      if (any != 0) last = warp_last;
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
      const std::uint32_t own_first = group * group_size + trailing_zeros(simt, own);
      return simt.shuffle(own_first, trailing_zeros(simt, any));
    }
    return none;
  }
};

}  // namespace taut::zfp::cuda
