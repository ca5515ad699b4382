#include "compressor/frame/codec.hpp"

#include <algorithm>
#include <array>

namespace taut {
namespace {

// Predictors of every codec that has predictors; they take their lags from the extents of the field.
constexpr std::array<std::string_view, 2> lorenzo_names{"lorenzo2", "lorenzo3"};

constexpr const char* text_on_lags =
    ", or one with up to two lags of 64 to 1073741823 values, as delta+192+18432 or d1+192";

bool contains(std::span<const std::string_view> names, std::string_view name) noexcept {
  return std::ranges::find(names, name) != names.end();
}

std::string listed(std::span<const std::string_view> names) {
  std::string list;
  for (const std::string_view name : names) list += (list.empty() ? "" : ", ") + std::string(name);
  return list;
}

// Returns the name in static memory; empty if no codec has such a predictor.
std::string_view interned(std::string_view name) noexcept {
  if (const NamedPredictor automatic; name == automatic.name) return automatic.name;
  if (const auto known = std::ranges::find(lorenzo_names, name); known != lorenzo_names.end()) return *known;
  for (const CodecInfo* codec : registered_codecs())
    if (const auto known = std::ranges::find(codec->predictors, name); known != codec->predictors.end())
      return *known;
  return {};
}

Lags lags_of_extents(std::string_view name, const Dims& dims) {
  const bool planes = name == lorenzo_names[1];
  const Lags lags = planes ? row_and_plane_lags(dims) : row_lag(dims);
  if (dims.n < (planes ? 3U : 2U) || !lags.any() || (planes && lags.n < 2))
    throw Error(Status::invalid_policy,
                "predictor '" + std::string(name) + "' needs the extents of the field; give dims=");
  return lags;
}

}  // namespace

// ---- Predictors

std::optional<NamedPredictor> predictor_named(std::string_view text) noexcept {
  const std::size_t plus = text.find('+');
  NamedPredictor predictor{interned(text.substr(0, plus)), {}};
  if (predictor.name.empty()) return {};
  if (plus == text.npos) return predictor;
  const std::optional<Lags> lags = lags_named(text.substr(plus + 1));
  const bool may_have_lags = !predictor.automatic() && !contains(lorenzo_names, predictor.name);
  if (!lags || !may_have_lags) return {};
  predictor.lags = *lags;
  return predictor;
}

std::string predictor_texts() {
  std::string texts = "auto, " + listed(lorenzo_names);
  for (const CodecInfo* codec : registered_codecs())
    if (!codec->predictors.empty()) texts += ", " + listed(codec->predictors);
  return texts + text_on_lags;
}

NamedPredictor::NamedPredictor(std::string_view text) {
  const auto found = predictor_named(text);
  if (!found)
    throw Error(Status::invalid_policy,
                "predictor '" + std::string(text) + "' is unknown; use one of " + predictor_texts());
  *this = *found;
}

std::string text_of(const NamedPredictor& predictor) {
  return std::string(predictor.name) + name_of(predictor.lags);
}

bool has_predictor(const CodecInfo& codec, const NamedPredictor& predictor) noexcept {
  if (predictor.automatic()) return true;
  return contains(codec.predictors, predictor.name) ||
         (!codec.predictors.empty() && contains(lorenzo_names, predictor.name));
}

Prediction<unsigned> numbered_prediction(const NamedPredictor& predictor, const Dims& dims,
                                         std::span<const std::string_view> predictors) {
  if (!predictors.empty() && contains(lorenzo_names, predictor.name))
    return {CodecInfo::usual_predictor, lags_of_extents(predictor.name, dims)};
  const auto known = std::ranges::find(predictors, predictor.name);
  if (known == predictors.end())
    throw Error(Status::invalid_policy,
                "predictor '" + std::string(predictor.name) + "' is not known to the codec; use " +
                    (predictors.empty() ? "auto"
                                        : "one of auto, " + listed(lorenzo_names) + ", " +
                                              listed(predictors) + text_on_lags));
  return {static_cast<unsigned>(known - predictors.begin()), predictor.lags};
}

// ---- Codings

std::unique_ptr<Codec> Coding::make() const { return codec->make(*this); }

}  // namespace taut
