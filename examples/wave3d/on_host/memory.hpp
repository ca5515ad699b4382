// Arrays of floats in the memory in which the waves are: here that of the host (on_gpu/memory.hpp: of a GPU).
#pragma once

#include <vector>

namespace wave3d {

class Array {
 public:
  Array() = default;
  explicit Array(std::size_t count) : values_(count) {}
  explicit Array(std::vector<float> values) : values_(std::move(values)) {}

  float* data() { return values_.data(); }
  const float* data() const { return values_.data(); }
  const std::vector<float>& read() const { return values_; }
  float read(std::size_t i) const { return values_[i]; }

  // Memory for plain MPI, which may not be able to access that of a GPU: to_host() fills it, from_host()
  // copies it back. Here it is the array itself.
  float* to_host() { return values_.data(); }
  void from_host() {}

 private:
  std::vector<float> values_;
};

inline void choose_memory() {}  // before the first array is made

}  // namespace wave3d
