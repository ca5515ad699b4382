// Candidates: the codecs, each with one of its predictors, among which samples of the values choose.
#pragma once

#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "compressor/frame/coding.hpp"
#include "compressor/frame/coding_stack.hpp"

namespace taut {

// A codec with one of its predictors.
struct Candidate {
  const CodecInfo* codec;
  std::string predictor;

  friend bool operator==(const Candidate&, const Candidate&) = default;

  // Creates the codec. Throws Error if the codec does not support these options.
  std::unique_ptr<Codec> make(const Coding& coding, Bound bound, const std::string& kernels) const;
};

// Greatest number of candidates for one message; further ones are dropped.
inline constexpr std::size_t max_candidates = 16;

// Returns the candidates for values of `type` under `bound` (not relative), the usual choice first. The
// result is empty only if a codec or predictor was named that does not serve such values. `bound` may be
// exact although the coding's is not; the named codec and predictor are then dropped if they do not suit.
std::vector<Candidate> candidates(const Coding& coding, DType type, Bound bound);

// Property of a codec from which a call gains most.
enum class Preference : std::uint8_t { none, adding, idempotent, fast };  // fast: fast_codec alone

// Cache of candidates(), for the calls under one coding.
class CandidateTable {
 public:
  // Returns the preferred candidates, if there are any; otherwise all.
  std::span<const Candidate> of(const Coding& coding, DType type, Bound bound, Preference preference);

 private:
  struct Entry {
    DType type;
    Bound::Kind kind;
    Preference preference;
    std::vector<Candidate> candidates;
  };
  std::deque<Entry> entries_;  // all of one coding
};

// Returns the index of the best candidate, given the expected ratio of values to frames of each candidate.
// Another codec is preferred only if its ratio is more than 1.1 times as high.
std::size_t best_candidate(std::span<const Candidate> candidates, std::span<const float> ratios) noexcept;

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
  // `coding` must stay in place while the cache lives.
  CodecCache(const Coding& coding, std::string kernels) : coding_(coding), kernels_(std::move(kernels)) {}

  // Returns the codec for a candidate and a bound. Throws Error if the codec cannot serve them.
  std::shared_ptr<const Codec> of(const Candidate& candidate, Bound bound) {
    for (const Entry& entry : entries_)
      if (entry.candidate == candidate && entry.bound == bound) return entry.codec;
    if (entries_.size() >= most) entries_.erase(entries_.begin());  // relative bounds change with the data
    entries_.push_back({candidate, bound, on_coding_stack(candidate.make(coding_, bound, kernels_))});
    return entries_.back().codec;
  }

  const std::string& kernels() const noexcept { return kernels_; }

 private:
  struct Entry {
    Candidate candidate;
    Bound bound;
    std::shared_ptr<const Codec> codec;
  };
  static constexpr std::size_t most = 2 * max_candidates;

  const Coding& coding_;
  std::string kernels_;
  std::vector<Entry> entries_;
};

}  // namespace taut
