// What is measured: whole frames through the codec interface, as its users call it.
#pragma once

#include "subject.hpp"

namespace bench {

struct Operation {
  const char* name;
  const char* heading;
  std::uint32_t addends;  // operands 0 .. addends - 1 are in the result
  bool makes_frame;
  enum class Needs { nothing, reduce, frame_sums } needs;  // of the codec
  taut::Sized (*run)(const taut::Codec& codec, Subject& subject);
};

const std::vector<Operation>& operations();

struct Check {
  double max_error = 0;  // of the values looked at
  bool within_bound = true;
};

// Runs it once and compares a sample of the result with the exact one: within the bounds of all addends and
// the rounding to the type, NaN for NaN.
Check check(const Operation& operation, const taut::Codec& codec, Subject& subject);

}  // namespace bench
