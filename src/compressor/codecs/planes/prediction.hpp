// Predictions of the planes codec: their names in policies (predictor=), and those that `auto` considers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compressor/codecs/planes/format/lags.hpp"
#include "compressor/values/dims.hpp"

namespace taut::planes {

// Parses a prediction such as "second+192+18432": the predictor, then the lags in values. "lorenzo2" and
// "lorenzo3" stand for delta with the lags that the extents give. Throws Error(invalid_policy) with the
// remedy.
Prediction prediction_named(std::string_view name, const Dims& dims);

std::string name_of(const Prediction& prediction);

// Returns the predictions that `auto` chooses from, the most common one first; at most max_predictors.
std::vector<Prediction> candidates(const Dims& dims);

}  // namespace taut::planes
