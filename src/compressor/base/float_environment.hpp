// Floating-point environment that the codecs' proofs assume: round to nearest, denormals honoured, no traps.
// It is in force while a FloatEnvironment lives, whatever the caller has set.
#pragma once

#if defined(__x86_64__)
#include <immintrin.h>
#else
#include <cfenv>
#endif

namespace taut {

class FloatEnvironment {
 public:
  FloatEnvironment(const FloatEnvironment&) = delete;
  FloatEnvironment& operator=(const FloatEnvironment&) = delete;

#if defined(__x86_64__)
  FloatEnvironment() noexcept : saved_(_mm_getcsr()) {
    if (saved_ != standard) _mm_setcsr(standard);
  }
  ~FloatEnvironment() {
    if (saved_ != standard) _mm_setcsr(saved_);
  }

 private:
  static constexpr unsigned standard = 0x1F80;  // all exceptions masked
  unsigned saved_;
#else
  FloatEnvironment() noexcept {
    std::feholdexcept(&saved_);
    std::fesetenv(FE_DFL_ENV);  // also switches off flush-to-zero, which is no part of standard C
  }
  ~FloatEnvironment() { std::fesetenv(&saved_); }

 private:
  std::fenv_t saved_;
#endif
};

}  // namespace taut
