#include "compressor/codecs/mpc/prediction.hpp"

#include <algorithm>

namespace taut::mpc {

// The predictions are chosen by measurements on the available fields: docs/adr/0034-lossless-lags.md.
std::vector<Prediction> automatic_predictions(const Dims& dims) {
  std::vector<Prediction> all;
  const unsigned longest = row_lag(dims).any() ? 4 : max_distance;
  for (unsigned distance = 1; distance <= longest; ++distance) all.push_back({distance, {}});
  all.push_back({0, {}});
  const auto add = [&](const Lags& lags, std::initializer_list<unsigned> distances) {
    for (const unsigned d : distances)
      if (lags.any() && std::ranges::find(all, Prediction{d, lags}) == all.end()) all.push_back({d, lags});
  };
  add(row_lag(dims), {1, 0});
  if (dims.n < 3) return all;
  add(row_and_plane_lags(dims), {1});
  add(plane_lag(dims), {1, 0});
  if (dims.n > 3) add(slowest_lag(dims), {1, 0});
  return all;
}

}  // namespace taut::mpc
