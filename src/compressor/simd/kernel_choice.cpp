#include "compressor/simd/kernel_choice.hpp"

#ifdef __x86_64__
#include <cpuid.h>

namespace taut {
namespace {

// Returns true if the processor has F16C. Not every compiler supports a query of this feature by name.
bool converts_halves() noexcept {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}

}  // namespace

// The processor is asked once: the instruction CPUID takes 20 us and more in a virtual machine.
bool has_avx2() noexcept {
  static const bool has =
      __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && converts_halves();
  return has;
}

}  // namespace taut
#endif

namespace taut::simd {

#define TAUT_INSTRUCTION_SET(Set, name, condition) \
  template <>                                      \
  bool supported<Set>() noexcept {                 \
    return condition;                              \
  }
#include "instruction_sets.inc"
#undef TAUT_INSTRUCTION_SET

}  // namespace taut::simd
