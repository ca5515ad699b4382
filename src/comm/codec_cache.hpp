// Codecs that were made before.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "policy/plan/coding.hpp"

namespace taut {

class CodecCache {
 public:
  // `coding` stays where it is.
  CodecCache(const Coding& coding, std::string kernels) : coding_(coding), kernels_(std::move(kernels)) {}

  // Throws Error when the codec cannot serve this.
  std::shared_ptr<const Codec> of(const Candidate& candidate, Bound bound) {
    for (const Entry& entry : entries_)
      if (entry.candidate == candidate && entry.bound == bound) return entry.codec;
    if (entries_.size() >= most) entries_.erase(entries_.begin());  // bounds that follow the data's range
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
