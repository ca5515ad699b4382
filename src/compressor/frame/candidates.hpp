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
// exact although the coding's is not; the named codec and predictor are then dropped if they do not suit.
// Throws Error(invalid_policy) if the named codec lacks the predictor, or that lacks extents.
std::vector<Coding> candidates(const Coding& coding, DType type, Bound bound);

// Property of a codec from which a call gains most.
enum class Preference : std::uint8_t { none, adding, idempotent, fast };  // fast: fast_codec alone

// Cache of candidates(), for the calls under one coding.
class CandidateTable {
 public:
  // Returns the preferred candidates, if there are any; otherwise all.
  std::span<const Coding> of(const Coding& coding, DType type, Bound bound, Preference preference);

 private:
  struct Entry {
    DType type;
    Bound::Kind kind;
    Preference preference;
    std::vector<Coding> candidates;  // their bound is that of the first call
  };
  std::deque<Entry> entries_;  // all of one coding
};

// Returns the index of the best candidate, given the expected ratio of values to frames of each candidate.
// Another codec is preferred only if its ratio is more than 1.1 times as high.
std::size_t best_candidate(std::span<const Coding> candidates, std::span<const float> ratios) noexcept;

// Candidate cache: the candidate that coded the last messages of one kind.
class CandidateCache {
 public:
  static constexpr std::uint32_t samples_last = 32;

  // Returns the candidate that was last chosen, if it is still valid. It expires when its ratio changes, or
  // after `samples_last` messages. Then all candidates have to be sampled.
  std::optional<std::size_t> get() const noexcept {
    return left_ > 0 ? std::optional(candidate_) : std::nullopt;
  }

  // Records a choice, by samples of the cached candidate alone or of all candidates.
  void choose(std::size_t candidate, float ratio) noexcept {
    if (left_ == 0) {
      candidate_ = candidate;
      ratio_ = ratio;
      left_ = samples_last;
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
  std::shared_ptr<const Codec> of(const Coding& candidate, Bound bound) {
    Coding coding = candidate.with(bound);
    coding.kernels = kernels_;
    for (const Entry& entry : entries_)
      if (entry.coding == coding) return entry.codec;
    if (entries_.size() >= most) entries_.erase(entries_.begin());  // relative bounds change with the data
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
  static constexpr std::size_t most = 2 * max_candidates;

  std::string kernels_;
  std::vector<Entry> entries_;
};

}  // namespace taut
