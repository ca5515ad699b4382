#include "compressor/simd/kernel_choice.hpp"

#if TAUT_X86
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

bool has_avx512() noexcept {
  return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi") &&
         __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("avx512vnni") &&
         __builtin_cpu_supports("gfni") && __builtin_cpu_supports("bmi2");
}

}  // namespace taut
#endif
