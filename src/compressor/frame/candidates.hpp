// Candidates of a coding: codings that name a codec and one of its predictors, among which samples of the
// values choose.
#pragma once

#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "compressor/frame/coding.hpp"
#include "compressor/frame/coding_stack.hpp"

namespace taut {

// Greatest number of candidates for one message; further ones are dropped.
inline constexpr std::size_t max_candidates = 16;

// Returns the candidates for values of `type` under `bound` (not relative), the usual choice first. The
// result is empty only if a codec or predictor was named that does not serve such values. `bound` may be
// exact although the bound of `coding` is not; a named codec is then dropped if it does not serve exact
// bounds, and a named predictor always. Throws Error(invalid_policy) if the named codec lacks the predictor,
// or if the predictor needs extents and the coding has none.
std::vector<Coding> candidates(const Coding& coding, DType type, Bound bound);

// Property of a codec from which a call gains most. `fast`: the coding names a codec for its speed.
enum class Preference : std::uint8_t { none, adding, idempotent, fast };

// Cache of candidates(), for the calls under one coding.
class CandidateTable {
 public:
  // Returns the preferred candidates, if there are any; otherwise all.
  std::span<const Coding> find(const Coding& coding, DType type, Bound bound, Preference preference);

 private:
  struct Entry {
    DType type;
    Bound::Kind kind;
    Preference preference;
    std::vector<Coding> candidates;  // with the bound of the first call
  };
  std::deque<Entry> entries_;  // all under one coding; their spans stay valid as entries are added
};

// Returns the index of the best candidate, given the expected ratio of values to frames of each candidate.
// Another codec is preferred only if its ratio is more than 1.1 times as high.
std::size_t best_candidate(std::span<const Coding> candidates, std::span<const float> ratios) noexcept;

// Cache of the candidate that coded the last messages of one kind.
class CandidateCache {
 public:
  static constexpr std::uint32_t max_messages = 32;  // for which a choice stays valid

  // Returns the index of the candidate that was last chosen, if the choice is still valid. A choice expires
  // when the ratio changes, or after max_messages. All candidates then have to be sampled.
  std::optional<std::size_t> get() const noexcept {
    return left_ > 0 ? std::optional(candidate_) : std::nullopt;
  }

  // Records a choice, by samples of the cached candidate alone or of all candidates.
  void choose(std::size_t candidate, float ratio) noexcept {
    if (left_ == 0) {
      candidate_ = candidate;
      ratio_ = ratio;
      left_ = max_messages;
    } else if (ratio < 0.8F * ratio_ || ratio > 1.25F * ratio_) {
      left_ = 0;
    } else {
      --left_;
    }
  }

  void forget() noexcept { left_ = 0; }

 private:
  std::size_t candidate_ = 0;
  float ratio_ = 0;         // ratio when all candidates were sampled
  std::uint32_t left_ = 0;  // messages for which the candidate remains valid
};

// Cache of the codecs that earlier calls made.
class CodecCache {
 public:
  explicit CodecCache(std::string kernels) : kernels_(std::move(kernels)) {}

  // Returns the codec for a candidate and a bound. Throws Error if the codec cannot serve them.
  std::shared_ptr<const Codec> find_or_make(const Coding& candidate, Bound bound) {
    Coding coding = candidate.with_bound(bound);
    coding.kernels = kernels_;
    for (const Entry& entry : entries_)
      if (entry.coding == coding) return entry.codec;
    // Relative bounds change with the data, and make new entries.
    if (entries_.size() >= max_entries) entries_.erase(entries_.begin());
    entries_.push_back({coding, on_coding_stack(coding.make())});
    return entries_.back().codec;
  }

  const std::string& kernels() const noexcept { return kernels_; }

 private:
  CodecCache(const CodecCache&) = delete;  // the codings refer to kernels_

  struct Entry {
    Coding coding;
    std::shared_ptr<const Codec> codec;
  };
  static constexpr std::size_t max_entries = 2 * max_candidates;

  std::string kernels_;
  std::vector<Entry> entries_;
};

}  // namespace taut
