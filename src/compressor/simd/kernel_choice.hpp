// Choice among the kernel sets of a codec. A set has a `name`, and supported() returns true if this processor
// can run the set.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "compressor/base/status.hpp"

namespace taut {

// Return true if this processor runs the files compiled for this set; see cmake/InstructionSets.cmake.
bool has_avx2() noexcept;
bool has_avx512() noexcept;

// Returns all sets of this build, best first. The scalar set is the last one and is always supported.
template <class Set>
std::span<const Set* const> built_kernels() noexcept {
#if TAUT_X86
  static const std::array sets{&Set::avx512(), &Set::avx2(), &Set::scalar()};
#elif defined(__aarch64__)
  static const std::array sets{&Set::neon(), &Set::scalar()};
#else
  static const std::array sets{&Set::scalar()};
#endif
  return sets;
}

// Returns the set called `name` if this processor supports it; for "" the first supported set; null if there
// is none.
template <class Set>
const Set* choose_kernels(std::span<const Set* const> sets, const char* name) noexcept {
  const std::string_view wanted(name);
  for (const Set* set : sets)
    if ((wanted.empty() || wanted == set->name) && set->supported()) return set;
  return nullptr;
}

// Returns the set that choose_kernels() returns; throws Error(invalid_argument) with the remedy if there is
// none.
template <class Set>
const Set& require_kernels(std::span<const Set* const> sets, const char* name) {
  if (const Set* const set = choose_kernels(sets, name)) return *set;
  std::string names;
  for (const Set* const set : sets) names += (names.empty() ? "" : ", ") + std::string(set->name);
  throw Error(Status::invalid_argument, "kernel set '" + std::string(name) +
                                            "' is unknown or not supported by this processor; there are " +
                                            names);
}

}  // namespace taut
