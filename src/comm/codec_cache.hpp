// Cache of codecs that earlier calls made.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "policy/plan/coding.hpp"

namespace taut {

class CodecCache {
 public:
  // `coding` must stay in place while the cache lives.
  CodecCache(const Coding& coding, std::string kernels) : coding_(coding), kernels_(std::move(kernels)) {}

  // Returns the codec for a candidate and a bound. Throws Error if the codec cannot serve them.
  std::shared_ptr<const Codec> of(const Candidate& candidate, Bound bound) {
    for (const Entry& entry : entries_)
      if (entry.candidate == candidate && entry.bound == bound) return entry.codec;
    if (entries_.size() >= most) entries_.erase(entries_.begin());  // relative bounds change with the data
    entries_.push_back({candidate, bound, candidate.make(coding_, bound, kernels_)});
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
