#include "codecs/planes/prediction.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "core/codec.hpp"

namespace taut::planes {
namespace {

constexpr struct {
  const char* name;
  Predictor predictor;
} inner_names[] = {{"delta", Predictor::delta},
                   {"pairs", Predictor::pairs},
                   {"none", Predictor::none},
                   {"second", Predictor::second}};

// Returns the stride of an extent as a lag; 0: none. A stride shorter than least_lag is extended to a
// multiple of the stride.
std::uint32_t lag_of(std::uint64_t stride) noexcept {
  if (stride == 0 || stride >= max_count) return 0;
  return static_cast<std::uint32_t>((least_lag + stride - 1) / stride * stride);
}

// Returns the lags of these extents in ascending order. Extents that do not exist are skipped.
Lags lags_of(const Dims& dims, std::initializer_list<unsigned> extents) noexcept {
  Lags lags;
  for (const unsigned i : extents)
    if (const std::uint32_t lag = i < dims.n ? lag_of(dims.stride(i)) : 0; lag != 0) lags.of[lags.n++] = lag;
  if (lags.n == 2 && lags.of[1] < lags.of[0]) std::swap(lags.of[0], lags.of[1]);
  return lags;
}

// Lags of the extents before the fastest one.
Lags row(const Dims& d) noexcept { return lags_of(d, {d.n - 2}); }
Lags plane(const Dims& d) noexcept { return lags_of(d, {d.n - 3}); }
Lags row_and_plane(const Dims& d) noexcept { return lags_of(d, {d.n - 2, d.n - 3}); }

Prediction lorenzo(std::string_view name, const Dims& dims) {
  const unsigned n = name.back() == '2' ? 2 : 3;
  const Lags lags = n == 2 ? row(dims) : row_and_plane(dims);
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

// Removes and returns the part of `text` before the next plus; the plus is dropped.
std::string_view next_part(std::string_view& text) noexcept {
  const std::size_t end = std::min(text.find('+'), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

bool read_lag(std::string_view part, std::uint32_t& lag) noexcept {
  const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), lag);
  return error == std::errc() && end == part.data() + part.size() && lag >= least_lag && lag < max_count;
}

}  // namespace

Prediction prediction_named(std::string_view name, const Dims& dims) {
  if (name == "lorenzo2" || name == "lorenzo3") return lorenzo(name, dims);
  std::string_view rest = name;
  const std::optional<Predictor> inner = inner_named(next_part(rest));
  if (!inner)
    throw Error(Status::invalid_policy, "predictor '" + std::string(name) +
                                            "' is unknown; use auto, delta, pairs, none, second, lorenzo2 or "
                                            "lorenzo3, or one with lags in values, as delta+192");
  Prediction prediction{*inner, {}};
  Lags& lags = prediction.lags;
  while (!rest.empty() || name.back() == '+') {
    if (lags.n == max_lags || !read_lag(next_part(rest), lags.of[lags.n++]))
      throw Error(Status::invalid_policy, "predictor '" + std::string(name) +
                                              "': give up to two lags of 64 to 1073741823 values, as "
                                              "delta+192+18432");
  }
  if (lags.n == 2) std::sort(lags.of, lags.of + 2);
  return prediction;
}

std::string name_of(const Prediction& prediction) {
  std::string name;
  for (const auto& known : inner_names)
    if (prediction.inner == known.predictor) name = known.name;
  for (unsigned k = 0; k < prediction.lags.n; ++k)
    name.append("+").append(std::to_string(prediction.lags.of[k]));
  return name;
}

// The candidates are chosen by measurements on the available fields: docs/adr/0004-lags.md.
std::vector<Prediction> candidates(const Dims& dims) {
  using enum Predictor;
  std::vector<Prediction> all{{delta, {}}, {pairs, {}}, {none, {}}, {second, {}}};
  const auto add = [&](const Lags& lags, std::initializer_list<Predictor> inner) {
    for (const Predictor p : inner)
      if (lags.any() && std::ranges::find(all, Prediction{p, lags}) == all.end()) all.push_back({p, lags});
  };
  add(row(dims), {delta, none, second});
  if (dims.n < 3) return all;
  add(row_and_plane(dims), {delta, second});
  add(plane(dims), {delta, none});
  if (dims.n > 3) add(lags_of(dims, {0}), {delta});
  return all;
}

}  // namespace taut::planes
