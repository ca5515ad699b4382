#include "compressor/codecs/mpc/prediction.hpp"

#include <algorithm>

#include "compressor/codecs/mpc/format.hpp"
#include "compressor/frame/codec.hpp"

namespace taut::mpc {
namespace {

Prediction lorenzo(std::string_view name, const Dims& dims) {
  const unsigned n = name.back() == '2' ? 2 : 3;
  const Lags lags = n == 2 ? row_lag(dims) : row_and_plane_lags(dims);
  if (dims.n < n || lags.n + 1 < n)
    throw Error(Status::invalid_policy,
                "predictor '" + std::string(name) + "' needs the extents of the field");
  return {1, lags};
}

bool is_distance(std::string_view name) noexcept {
  return name.size() == 2 && name[0] == 'd' && name[1] >= '0' &&
         name[1] <= static_cast<char>('0' + max_distance);
}

}  // namespace

Prediction prediction_named(std::string_view name, const Dims& dims) {
  if (name == "lorenzo2" || name == "lorenzo3") return lorenzo(name, dims);
  const std::size_t plus = name.find('+');
  if (!is_distance(name.substr(0, plus)))
    throw Error(Status::invalid_policy, "predictor '" + std::string(name) +
                                            "' is unknown; use auto, d0 to d8, lorenzo2 or lorenzo3, or one "
                                            "with lags in values, as d1+192");
  const auto distance = static_cast<unsigned>(name[1] - '0');
  if (plus == name.npos) return {distance, {}};
  const std::optional<Lags> lags = lags_named(name.substr(plus + 1));
  if (!lags)
    throw Error(Status::invalid_policy, "predictor '" + std::string(name) +
                                            "': give up to two lags of 64 to 1073741823 values, as "
                                            "d1+192+18432");
  return {distance, *lags};
}

std::string name_of(const Prediction& prediction) {
  std::string name = std::to_string(prediction.distance);
  name.insert(name.begin(), 'd');
  return name.append(name_of(prediction.lags));
}

// The candidates are chosen by measurements on the available fields: docs/adr/0034-lossless-lags.md.
std::vector<Prediction> candidates(const Dims& dims) {
  std::vector<Prediction> all;
  const unsigned most = row_lag(dims).any() ? 4 : max_distance;
  for (unsigned distance = 1; distance <= most; ++distance) all.push_back({distance, {}});
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
