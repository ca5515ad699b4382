// The operations that are measured: whole frames through the codec interface, as its users call it.
#pragma once

#include "subject.hpp"

namespace bench {

struct Operation {
  const char* name;
  std::uint32_t addends;  // the result contains operands 0 .. addends - 1
  bool makes_frame;
  bool sums_frames;  // the codec must have sums of frames
  taut::SizeOrStatus (*run)(const taut::Codec& codec, Subject& subject);
};

const std::vector<Operation>& operations();

struct Check {
  double max_error = 0;  // over the values compared
  bool within_bound = true;
};

// Runs the operation once and compares a sample of the result with the exact result. Passes if the error is
// within the bounds of all addends plus the rounding to the type, and NaN came for NaN.
Check check(const Operation& operation, const taut::Codec& codec, Subject& subject);

}  // namespace bench
