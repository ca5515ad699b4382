#include "compressor/codecs/planes/prediction.hpp"

#include <algorithm>
#include <optional>

#include "compressor/frame/codec.hpp"

namespace taut::planes {
namespace {

constexpr struct {
  const char* name;
  Predictor predictor;
} inner_names[] = {{"delta", Predictor::delta},
                   {"pairs", Predictor::pairs},
                   {"none", Predictor::none},
                   {"second", Predictor::second}};

Prediction lorenzo(std::string_view name, const Dims& dims) {
  const unsigned n = name.back() == '2' ? 2 : 3;
  const Lags lags = n == 2 ? row_lag(dims) : row_and_plane_lags(dims);
  if (dims.n < n || lags.n + 1 < n)
    throw Error(Status::invalid_policy,
                "predictor '" + std::string(name) + "' needs the extents of the field");
  return {Predictor::delta, lags};
}

std::optional<Predictor> inner_named(std::string_view name) noexcept {
  for (const auto& known : inner_names)
    if (name == known.name) return known.predictor;
  return {};
}

}  // namespace

Prediction prediction_named(std::string_view name, const Dims& dims) {
  if (name == "lorenzo2" || name == "lorenzo3") return lorenzo(name, dims);
  const std::size_t plus = name.find('+');
  const std::optional<Predictor> inner = inner_named(name.substr(0, plus));
  if (!inner)
    throw Error(Status::invalid_policy, "predictor '" + std::string(name) +
                                            "' is unknown; use auto, delta, pairs, none, second, lorenzo2 or "
                                            "lorenzo3, or one with lags in values, as delta+192");
  if (plus == name.npos) return {*inner, {}};
  const std::optional<Lags> lags = lags_named(name.substr(plus + 1));
  if (!lags)
    throw Error(Status::invalid_policy, "predictor '" + std::string(name) +
                                            "': give up to two lags of 64 to 1073741823 values, as "
                                            "delta+192+18432");
  return {*inner, *lags};
}

std::string name_of(const Prediction& prediction) {
  std::string name;
  for (const auto& known : inner_names)
    if (prediction.inner == known.predictor) name = known.name;
  return name + name_of(prediction.lags);
}

// The candidates are chosen by measurements on the available fields: docs/adr/0004-lags.md.
std::vector<Prediction> candidates(const Dims& dims) {
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
