// Arrays of floats in the memory of a GPU; on_host/memory.hpp describes the functions.
#pragma once

#include <memory>
#include <utility>

#include "../../gpu/device.hpp"

namespace wave3d {

class Array {
 public:
  Array() = default;
  explicit Array(std::size_t count) : Array(std::vector<float>(count)) {}
  explicit Array(const std::vector<float>& values)
      : count_(values.size()), memory_(std::make_unique<DeviceArray>(values)) {}

  float* data() { return memory_ ? memory_->data() : nullptr; }
  const float* data() const { return memory_ ? memory_->data() : nullptr; }
  std::vector<float> read() const { return memory_ ? memory_->read() : std::vector<float>(); }
  float read(std::size_t i) const {
    float value = 0;
    check(cudaMemcpy(&value, data() + i, sizeof value, cudaMemcpyDeviceToHost));
    return value;
  }

  float* to_host() {
    host_ = read();
    return host_.data();
  }
  void from_host() {
    check(cudaMemcpy(data(), host_.data(), count_ * sizeof(float), cudaMemcpyHostToDevice));
  }

 private:
  std::size_t count_ = 0;
  std::unique_ptr<DeviceArray> memory_;
  std::vector<float> host_;
};

inline void choose_memory() { choose_device(); }

}  // namespace wave3d
