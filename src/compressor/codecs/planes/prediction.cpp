// List of the predictions that `auto` considers.
#include "compressor/codecs/planes/prediction.hpp"

#include <algorithm>

namespace taut::planes {

// The predictions are chosen by measurements on the available fields: docs/adr/0004-lags.md.
std::vector<Prediction> automatic_predictions(const Dims& dims) {
  using enum Predictor;
  std::vector<Prediction> all{{delta, {}}, {pairs, {}}, {none, {}}, {second, {}}};
  const auto add = [&](const Lags& lags, std::initializer_list<Predictor> inner) {
    for (const Predictor p : inner)
      if (lags.any() && std::ranges::find(all, Prediction{p, lags}) == all.end()) all.push_back({p, lags});
  };
  add(row_lag(dims), {delta, none, second});
  if (dims.n < 3) return all;
  add(row_and_plane_lags(dims), {delta, second});
  add(plane_lag(dims), {delta, none});
  if (dims.n > 3) add(slowest_lag(dims), {delta});
  return all;
}

}  // namespace taut::planes
