// The promise of docs/error-model.md for a result, and its check.
#pragma once

#include <optional>
#include <vector>

#include "compressor/values/value_range.hpp"
#include "robustness/random/memory.hpp"

namespace taut::test {

struct Promise {
  enum class Kind : std::uint8_t {
    absolute,   // within `bound` of the exact result; 0: bit for bit what was sent, or rounded sums of it
    pointwise,  // within bound * |exact result|
    classes     // NaN and infinities keep their class, or are what their reduction gives
  } kind = Kind::absolute;
  long double bound = 0;
  Arithmetic how = Arithmetic::values;
  bool power_of_two_step = false;  // halves and snapping bounds: sums always carry half an ulp more
  bool exact_sums = false;         // sums need no rounding
  bool same_bits = true;           // on all ranks that receive the same values
};

struct Errors {
  double worst = 0;  // greatest error / bound, where rounding does not matter
};

// Returns the first number that breaks the promise; "" when there is none. `ranks`: checks these ranks alone;
// empty: all ranks, and that they have the same bits.
std::string broken(const Promise& promise, const Memory& memory, Errors& errors,
                   const std::vector<int>& ranks = {});

// Returns the range of the finite numbers that the ranks contribute, without those equal to `fill`.
ValueRange range_of_all(const Memory& memory, std::optional<double> fill);

// Returns the promise of a result that is within a bound.
Promise promise_of(Bound bound, const Call& call, Arithmetic how);

}  // namespace taut::test
