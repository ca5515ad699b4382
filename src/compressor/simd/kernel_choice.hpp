// List of the instruction sets of this build, and choice among the kernel sets of a codec, which has one for
// each instruction set. simd/<name>.hpp implements an instruction set; the build writes instruction_sets.inc,
// best set first, from cmake/InstructionSets.cmake.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "compressor/base/status.hpp"

namespace taut {

// Returns true if this processor has AVX2 and, for halves, F16C.
bool has_avx2() noexcept;

namespace simd {

// name_of is the name of an instruction set `Set`, and supported() returns true if this processor has the
// set.
template <class Set>
inline constexpr const char* name_of = nullptr;
template <class Set>
bool supported() noexcept;

#define TAUT_INSTRUCTION_SET(Set, name, condition)  \
  struct Set;                                       \
  template <>                                       \
  inline constexpr const char* name_of<Set> = name; \
  template <>                                       \
  bool supported<Set>() noexcept;
#include "instruction_sets.inc"
#undef TAUT_INSTRUCTION_SET

// Names of all sets of this build.
inline constexpr const char* set_names[] = {
#define TAUT_INSTRUCTION_SET(Set, name, condition) name,
#include "instruction_sets.inc"
#undef TAUT_INSTRUCTION_SET
};

}  // namespace simd

// Returns the kernel sets of a codec in this build, best first. The scalar set is the last one and is always
// supported.
template <class KernelSet>
std::span<const KernelSet* const> built_kernels() noexcept {
#define TAUT_INSTRUCTION_SET(Set, name, condition) &KernelSet::template with<simd::Set>(),
  static const std::array sets{
#include "instruction_sets.inc"
  };
#undef TAUT_INSTRUCTION_SET
  return sets;
}

// Returns the set called `name` if this processor supports it; for "" the first supported set; null if there
// is none.
template <class Set>
const Set* choose_kernels(std::span<const Set* const> sets, std::string_view name) noexcept {
  for (const Set* set : sets)
    if ((name.empty() || name == set->name) && set->supported()) return set;
  return nullptr;
}

// Returns the set that choose_kernels() returns; throws Error(invalid_argument) with the remedy if there is
// none.
template <class Set>
const Set& require_kernels(std::span<const Set* const> sets, std::string_view name) {
  if (const Set* const set = choose_kernels(sets, name)) return *set;
  std::string names;
  for (const Set* const set : sets) names += (names.empty() ? "" : ", ") + std::string(set->name);
  throw Error(Status::invalid_argument, "kernel set '" + std::string(name) +
                                            "' is unknown or not supported by this processor; there are " +
                                            names);
}

}  // namespace taut
