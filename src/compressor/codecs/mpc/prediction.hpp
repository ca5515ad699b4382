// Predictors of the mpc codec (predictor=), and the predictions that `auto` considers.
#pragma once

#include "compressor/codecs/mpc/format.hpp"
#include "compressor/frame/codec.hpp"

namespace taut::mpc {

// Prediction of words. The residual of a word is its difference from the word one lag before, or, with two
// lags, minus the same difference at the second lag before. With references the residual of a word is its
// difference from the same word of a reference. The codec codes the difference of each residual from the
// residual `inner` words before it in the chunk; with inner = 0 the residual itself.
using Prediction = taut::Prediction<unsigned>;

// Names of predictors, numbered by their distance. The last one, `grid`, stands for a search for a grid and
// for the best distance and lags on it.
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

// Returns the predictions that `auto` chooses from, the usual one first; fewer than max_predictors.
std::vector<Prediction> automatic_predictions(const Dims& dims);

}  // namespace taut::mpc
