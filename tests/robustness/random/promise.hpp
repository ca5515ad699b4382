// What docs/error-model.md promises of a result, and whether it holds.
#pragma once

#include <optional>

#include "core/value_range.hpp"
#include "robustness/random/memory.hpp"

namespace taut::test {

struct Promise {
  enum class Kind : std::uint8_t {
    absolute,   // within `bound` of the exact result; 0: bit for bit what was sent, or rounded sums of it
    pointwise,  // within bound * |exact result|
    classes,    // NaN and infinities stay what they are
    nothing
  } kind = Kind::absolute;
  long double bound = 0;
  Arithmetic how = Arithmetic::values;
  bool power_of_two_step = false;  // halves and snapping bounds: sums carry half an ulp on top, always
  bool same_bits = true;           // on all ranks that get the same values
};

struct Errors {
  double worst = 0;  // greatest error over its bound, where rounding does not matter
};

// The first number that breaks the promise; "" when there is none. `rank`: of this one alone; else of all,
// and that they have the same bits.
std::string broken(const Promise& promise, const Memory& memory, Errors& errors, int rank = -1);

// Of the finite numbers that the ranks contribute; those equal to `fill` left out.
ValueRange range_of_all(const Memory& memory, std::optional<double> fill);

// Of a result that is within a bound.
Promise promise_of(Bound bound, const Call& call, Arithmetic how);

}  // namespace taut::test
