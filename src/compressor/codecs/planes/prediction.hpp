// Predictions of the planes codec: the names of its predictors (predictor=), and those that `auto` considers.
#pragma once

#include "compressor/codecs/planes/format/lags.hpp"
#include "compressor/frame/codec.hpp"

namespace taut::planes {

inline constexpr std::string_view predictors[] = {"none", "delta", "pairs",
                                                  "second"};  // numbered as Predictor

// Returns the prediction that a coding names, with lags in values. Throws Error(invalid_policy) with the
// remedy.
inline Prediction prediction_of(const NamedPredictor& predictor, const Dims& dims) {
  const auto [number, lags] = numbered(predictor, dims, predictors);
  return {static_cast<Predictor>(number), lags};
}

inline NamedPredictor named(const Prediction& prediction) {
  return {predictors[static_cast<std::size_t>(prediction.inner)], prediction.lags};
}

// Returns the predictions that `auto` chooses from, the most common one first; at most max_predictors.
std::vector<Prediction> candidates(const Dims& dims);

}  // namespace taut::planes
