// The references of a fuzz target's receiver: two earlier messages of a type and count, always the same ones.
#pragma once

#include <vector>

#include "compressor/frame/references.hpp"
#include "support/values.hpp"

namespace taut::fuzz {

class Earlier {
 public:
  // `n`: the number of references, at most max_references.
  Earlier(DType type, std::size_t count, std::size_t n) {
    constexpr test::Pattern patterns[max_references] = {test::Pattern::smooth, test::Pattern::wild};
    for (std::size_t k = 0; k < n; ++k) values_.push_back(test::make_values(type, count, patterns[k], k));
    for (const test::Values& values : values_)
      references_.push_back({state_number_of(values.slice()), values.slice()});
  }
  Earlier(const Earlier&) = delete;
  Earlier& operator=(const Earlier&) = delete;

  References references() const noexcept { return references_; }

 private:
  std::vector<test::Values> values_;
  std::vector<Reference> references_;
};

}  // namespace taut::fuzz
