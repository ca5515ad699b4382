// Predictors of the mpc codec (predictor=), and the predictions that `auto` considers.
#pragma once

#include "compressor/codecs/mpc/format.hpp"
#include "compressor/frame/codec.hpp"

namespace taut::mpc {

// The residual of a word is its difference from the word a row before, minus the same difference a plane
// before. With references the residual of a word is its difference from the same word of a reference. The
// number that is coded is the difference of the residual from an earlier one in the chunk; `inner` is their
// distance, and with distance 0 the residual is coded.
using Prediction = taut::Prediction<unsigned>;

// Names of predictors, numbered by their distance. The last one looks for a grid, and for the best distance
// and lags on it.
inline constexpr std::string_view predictors[] = {"d0", "d1", "d2", "d3", "d4",
                                                  "d5", "d6", "d7", "d8", "grid"};
inline constexpr unsigned grid_predictor = max_distance + 1;
static_assert(std::size(predictors) == grid_predictor + 1);

// Returns the prediction that a coding names, with lags in values. Throws Error(invalid_policy) with the
// remedy.
inline Prediction prediction_of(const NamedPredictor& predictor, const Dims& dims) {
  Prediction prediction = taut::prediction_of<unsigned>(predictor, dims, predictors);
  if (prediction.inner == grid_predictor) prediction.inner = 1;
  return prediction;
}

// Returns the predictions that `auto` chooses from, the usual one first; less than max_predictors.
std::vector<Prediction> automatic_predictions(const Dims& dims);

}  // namespace taut::mpc
