#include "compressor/frame/candidates.hpp"

#include <algorithm>

namespace taut {
namespace {

void add_predictors(const CodecInfo& codec, const Coding& coding, std::vector<Candidate>& all) {
  if (coding.predictor != "auto" || codec.predictors == nullptr) {
    all.push_back({&codec, coding.predictor});
  } else {
    for (const std::string& predictor : codec.predictors({.dims = coding.dims}))
      all.push_back({&codec, predictor});
  }
}

bool knows_predictor(const CodecInfo& codec, const Coding& coding, Bound bound) {
  if (coding.predictor == "auto") return true;
  try {
    Candidate{&codec, coding.predictor}.make(coding, bound, "");
    return true;
  } catch (const Error&) {
    return false;
  }
}

// Returns the coding of values that must not change although the coding has a bound: of integers, and of a
// range of 0 under a relative bound. Any codec may be chosen if the named one does not code such values.
Coding exact_coding(const Coding& coding, DType type) {
  Coding exact = coding;
  exact.bound = {};
  exact.predictor = "auto";
  if (exact.codec != nullptr && !exact.codec->serves(type, Bound::Kind::exact)) exact.codec = nullptr;
  return exact;
}

}  // namespace

std::unique_ptr<Codec> Candidate::make(const Coding& coding, Bound bound, const std::string& kernels) const {
  return codec->make({.bound = bound,
                      .checksum = coding.checksum,
                      .predictor = predictor.c_str(),
                      .kernels = kernels.c_str(),
                      .dims = coding.dims,
                      .threads = std::max(coding.threads, 1),
                      .bits = coding.bits});
}

std::vector<Candidate> candidates(const Coding& coding, DType type, Bound bound) {
  if (bound.exact() && !coding.bound.exact()) return candidates(exact_coding(coding, type), type, bound);
  std::vector<const CodecInfo*> able;
  for (const CodecInfo* codec : registered_codecs()) {
    if (!codec->serves(type, bound.kind)) continue;
    const bool wanted = coding.codec == nullptr ? codec->rank(bound.kind) != CodecInfo::only_by_name &&
                                                      knows_predictor(*codec, coding, bound)
                                                : coding.codec == codec;
    const auto rank = [&](const CodecInfo* other) { return other->rank(bound.kind); };
    if (wanted) able.insert(std::ranges::upper_bound(able, rank(codec), {}, rank), codec);
  }
  const bool more = able.size() > 1 && able.back()->rank(bound.kind) == CodecInfo::last_resort;
  if (more) able.pop_back();
  std::vector<Candidate> all;
  for (const CodecInfo* codec : able) add_predictors(*codec, coding, all);
  if (all.size() > max_candidates) all.erase(all.begin() + max_candidates, all.end());
  return all;
}

std::span<const Candidate> CandidateTable::of(const Coding& coding, DType type, Bound bound,
                                              Preference preference) {
  for (const Entry& known : entries_)
    if (known.type == type && known.kind == bound.kind && known.preference == preference)
      return known.candidates;
  Entry entry{type, bound.kind, preference, candidates(coding, type, bound)};
  const auto dispreferred = [preference](const Candidate& candidate) {
    return (preference == Preference::adding && !candidate.codec->adds_frames) ||
           (preference == Preference::idempotent && !candidate.codec->idempotent);
  };
  if (!std::ranges::all_of(entry.candidates, dispreferred)) std::erase_if(entry.candidates, dispreferred);
  return entries_.emplace_back(std::move(entry)).candidates;
}

std::size_t best_candidate(std::span<const Candidate> candidates, std::span<const float> ratios) noexcept {
  constexpr float worthwhile = 1.1f;
  std::size_t best = 0;
  for (std::size_t i = 1; i < candidates.size(); ++i) {
    const bool same_codec = candidates[i].codec == candidates[best].codec;
    if (ratios[i] > ratios[best] * (same_codec ? 1 : worthwhile)) best = i;
  }
  return best;
}

}  // namespace taut
