// Prediction of words from earlier words. Names of predictions, and the predictions that `auto` considers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compressor/frame/lags.hpp"

namespace taut::mpc {

// The residual of a word is its difference from the word a row before, minus the same difference a plane
// before. The number that is coded is the difference of the residual from the one `distance` before it in
// the chunk; with distance 0 it is the residual.
struct Prediction {
  unsigned distance = 1;
  Lags lags = {};

  friend bool operator==(const Prediction&, const Prediction&) = default;
};

// Parses a prediction such as "d1+192+18432": the distance, then the lags in values. "lorenzo2" and
// "lorenzo3" stand for d1 with the lags that the extents give. Throws Error(invalid_policy) with the remedy.
Prediction prediction_named(std::string_view name, const Dims& dims);

std::string name_of(const Prediction& prediction);

// Returns the predictions that `auto` chooses from, the usual one first; at most max_predictors.
std::vector<Prediction> candidates(const Dims& dims);

}  // namespace taut::mpc
