// The golden frames: their list, and how they are made.
#pragma once

#include <string>
#include <vector>

#include "golden/values.hpp"
#include "support/subjects.hpp"

namespace taut::test {

// A golden frame: the sum of `addends` frames of the series 0, 1, ... of a pattern, or a frame of series 0
// whose references are series 1 and 2. In a sum with a reference, each addend refers to the series of noise
// of its number, and the sum to the sum of these.
struct Golden {
  Subject subject;
  const char* pattern = "";
  std::size_t count = 0;
  std::size_t addends = 1;
  std::size_t references = 0;

  std::string name() const;
  std::vector<std::byte> encode(const char* kernels) const;                    // returns the frame
  std::vector<std::byte> decode(ConstBytes frame, const char* kernels) const;  // returns the values' bits

 private:
  std::vector<std::byte> encode_one(const Codec& codec, std::size_t series, std::size_t capacity) const;
};

// Returns the golden frames: every registered codec with every type, bound and predictor that it serves, on
// every kind of data.
std::vector<Golden> golden_frames();

// Returns the line of a frame in tests/golden/frames.txt.
std::string golden_line(const Golden& golden, ConstBytes frame, ConstBytes values);

}  // namespace taut::test
