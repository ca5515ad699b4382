// Forecast of the ratio of calls under any bound, from samples under bounds relative to the range. Pure
// function.
#pragma once

#include "cli/jobs/report_reader.hpp"
#include "compressor/values/bound.hpp"

namespace taut::cli {

// A bound, and the options of a policy that decide what it leaves to each rank.
struct AskedBound {
  Bound bound{Bound::Kind::range, 1e-4};
  bool on_input = false;     // on=input: a sum does not share the bound among its ranks
  bool names_codec = false;  // codec=: sums under a rate are compressed
};

struct RatioForecast {
  double ratio = 0;  // 0: unknown, or the calls go to plain MPI
  double seconds_a_byte = 0;
};

// Returns the ratio and time of encoding. Between two samples the ratio is interpolated. Below the least
// sampled bound, each halving costs a bit a value. Under `pwrel`, the ratio without loss stands for a ratio
// that is at least as large; under `rate`, the ratio follows from the rate.
RatioForecast forecast_ratio(const SeenCalls& seen, const AskedBound& asked, int ranks) noexcept;

}  // namespace taut::cli
