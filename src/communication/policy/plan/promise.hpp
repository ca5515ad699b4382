// Promise: what a policy says of the error of a call's results (docs/configuration.md).
#pragma once

#include "compressor/frame/coding.hpp"

namespace taut {

struct Promise {
  Bound bound;          // of a value of the result: exact, absolute, pointwise, or a rate without any bound
  bool certain = true;  // false: the bound holds with a probability (on=likely)
};

}  // namespace taut
