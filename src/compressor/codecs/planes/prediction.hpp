// Predictors of the planes codec (predictor=), and the predictions that `auto` considers.
#pragma once

#include "compressor/codecs/planes/format/lags.hpp"
#include "compressor/frame/codec.hpp"

namespace taut::planes {

inline constexpr std::string_view predictors[] = {"none", "delta", "pairs",
                                                  "second"};  // numbered as Predictor

// Returns the prediction that a coding names, with lags in values. Throws Error(invalid_policy) with the
// remedy.
inline Prediction prediction_of(const NamedPredictor& predictor, const Dims& dims) {
  return taut::prediction_of<Predictor>(predictor, dims, predictors);
}

// Returns the predictions that `auto` chooses from, the most common one first; at most max_predictors.
std::vector<Prediction> automatic_predictions(const Dims& dims);

}  // namespace taut::planes
