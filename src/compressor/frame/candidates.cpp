#include "compressor/frame/candidates.hpp"

#include <algorithm>

namespace taut {
namespace {

// Adds the candidates of a codec that knows the coding's predictor.
void add_predictors(const CodecInfo& codec, const Coding& coding, std::vector<Coding>& all) {
  Coding one = coding;
  one.codec = &codec;
  if (coding.predictor.automatic() && codec.automatic != nullptr) {
    for (const NamedPredictor& predictor : codec.automatic(coding.dims)) {
      one.predictor = predictor;
      all.push_back(one);
    }
    return;
  }
  if (!coding.predictor.automatic()) {
    const Prediction<unsigned> prediction =
        numbered_prediction(coding.predictor, coding.dims, codec.predictors);
    one.predictor = {codec.predictors[prediction.inner], prediction.lags};
  }
  all.push_back(one);
}

// Returns the coding of values that must not change although the coding has a bound: of integers, and of a
// range of 0 under a relative bound. Any codec may be chosen if the named one does not code such values.
Coding exact_coding(const Coding& coding, DType type) {
  Coding exact = coding;
  exact.bound = {};
  exact.predictor = {};
  if (exact.codec != nullptr && !exact.codec->serves(type, Bound::Kind::exact)) exact.codec = nullptr;
  return exact;
}

}  // namespace

std::vector<Coding> candidates(const Coding& coding, DType type, Bound bound) {
  if (bound.exact() && !coding.bound.exact()) return candidates(exact_coding(coding, type), type, bound);
  std::vector<const CodecInfo*> able;
  for (const CodecInfo* codec : registered_codecs()) {
    if (!codec->serves(type, bound.kind)) continue;
    const bool wanted = coding.codec == nullptr ? codec->priority(bound.kind) != CodecInfo::only_by_name &&
                                                      has_predictor(*codec, coding.predictor)
                                                : coding.codec == codec;
    const auto priority = [&](const CodecInfo* other) { return other->priority(bound.kind); };
    if (wanted) able.insert(std::ranges::upper_bound(able, priority(codec), {}, priority), codec);
  }
  const bool has_others = able.size() > 1 && able.back()->priority(bound.kind) == CodecInfo::last_resort;
  if (has_others) able.pop_back();  // the last resort
  std::vector<Coding> all;
  for (const CodecInfo* codec : able) add_predictors(*codec, coding.with_bound(bound), all);
  if (all.size() > max_candidates) all.erase(all.begin() + max_candidates, all.end());
  return all;
}

std::span<const Coding> CandidateTable::find(const Coding& coding, DType type, Bound bound,
                                             Preference preference) {
  for (const Entry& known : entries_)
    if (known.type == type && known.kind == bound.kind && known.preference == preference)
      return known.candidates;
  Entry entry{type, bound.kind, preference, candidates(coding, type, bound)};
  const auto dispreferred = [preference](const Coding& candidate) {
    return (preference == Preference::adding && !candidate.codec->adds_frames) ||
           (preference == Preference::idempotent && !candidate.codec->idempotent);
  };
  if (!std::ranges::all_of(entry.candidates, dispreferred)) std::erase_if(entry.candidates, dispreferred);
  return entries_.emplace_back(std::move(entry)).candidates;
}

std::size_t best_candidate(std::span<const Coding> candidates, std::span<const float> ratios) noexcept {
  constexpr float worthwhile = 1.1f;
  std::size_t best = 0;
  for (std::size_t i = 1; i < candidates.size(); ++i) {
    const bool same_codec = candidates[i].codec == candidates[best].codec;
    if (ratios[i] > ratios[best] * (same_codec ? 1 : worthwhile)) best = i;
  }
  return best;
}

}  // namespace taut
