// Prediction of words from earlier words. Names of predictions, and the predictions that `auto` considers.
#pragma once

#include "compressor/codecs/mpc/format.hpp"
#include "compressor/frame/codec.hpp"

namespace taut::mpc {

// The residual of a word is its difference from the word a row before, minus the same difference a plane
// before. With references the residual of a word is its difference from the same word of a reference. The
// number that is coded is the difference of the residual from the one `distance` before it in
// the chunk; with distance 0 it is the residual.
struct Prediction {
  unsigned distance = 1;
  Lags lags = {};
  unsigned references = 0;  // used in place of lags

  friend bool operator==(const Prediction&, const Prediction&) = default;
};

inline constexpr std::string_view predictors[] = {"d0", "d1", "d2", "d3", "d4", "d5", "d6", "d7", "d8"};
static_assert(std::size(predictors) == max_distance + 1);  // numbered by their distance

// Returns the prediction that a coding names, with lags in values. Throws Error(invalid_policy) with the
// remedy.
inline Prediction prediction_of(const NamedPredictor& predictor, const Dims& dims) {
  const auto [distance, lags] = numbered(predictor, dims, predictors);
  return {distance, lags};
}

inline NamedPredictor named(const Prediction& prediction) {
  return {predictors[prediction.distance], prediction.lags};
}

// Returns the predictions that `auto` chooses from, the usual one first; at most max_predictors.
std::vector<Prediction> candidates(const Dims& dims);

}  // namespace taut::mpc
