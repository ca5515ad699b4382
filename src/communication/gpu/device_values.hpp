// DeviceValues is the place of the values of a call of which some are on a GPU.
#pragma once

#include <cstdint>
#include <span>

#include "communication/gpu/device.hpp"
#include "compressor/base/guarded.hpp"
#include "compressor/frame/candidates.hpp"

namespace taut::gpu {

// Returns true if the values are aligned as kernels need it.
inline bool suits_kernels(ConstSlice values) noexcept {
  return reinterpret_cast<std::uintptr_t>(values.data) % size_of(component_of(values.type)) == 0;
}

// Place of the values of one call. Scratch memory is on the GPU. Values may be there or on the host. Messages
// of values are in the same memory if the transport accesses that of GPUs, once the work on it is complete.
class DeviceValues final : public Place, private MessageMemory {
 public:
  explicit DeviceValues(std::shared_ptr<Device> device) noexcept
      : Place(device->frames_on_device() ? this : nullptr, false), device_(std::move(device)) {}
  DeviceValues(const DeviceValues&) = delete;
  // Waits for work that is left when a call ends early: the program may free the values.
  ~DeviceValues() override { device_->wait(); }

  Device& device() const noexcept { return *device_; }

  Buffer scratch(std::size_t bytes) override { return scratch_pool().scratch(bytes); }
  void reserve(std::size_t bytes, std::size_t blocks) override { scratch_pool().reserve(bytes, blocks); }
  // Waits for the copy, unless it is within the GPU.
  Status copy(std::byte* to, const std::byte* from, std::size_t bytes) noexcept override;
  Status reduce(Slice values, ConstSlice operand, Reduction op) noexcept override;
  Status divide(Slice values, int n) noexcept override;
  Status reduce_widely(const std::byte* operands, int n, Slice result, Reduction op,
                       int divisor) noexcept override;

  // Finds the range of values as range_of() does, by a kernel or on copies.
  Status range(ConstSlice values, const Coding& coding, ValueRange& range) noexcept;

  // Runs action(copy), where `copy` holds the values in host memory.
  template <class Action>
  Status with_host_copy(ConstSlice values, const Action& action) noexcept {
    return guarded([&] {
      const Buffer memory = device_->pinned().scratch(values.bytes());
      const Status status = copy(memory.data(), static_cast<const std::byte*>(values.data), values.bytes());
      return status == Status::ok ? action(Slice{{memory.data(), values.count, values.type}}) : status;
    });
  }

 private:
  ConstBytes outgoing(ConstBytes values) noexcept override {
    return device_->wait() == Status::ok ? values : ConstBytes();
  }
  Bytes incoming(Bytes values) noexcept override { return device_->wait() == Status::ok ? values : Bytes(); }
  Status arrived(Bytes) noexcept override { return Status::ok; }

  // Returns plain memory where the transport moves values by nodes: it cannot share memory of CUDA's pool.
  DevicePool& scratch_pool() const noexcept {
    return device_->frames_on_device() ? device_->plain() : device_->pooled();
  }
  std::optional<Status> reduce_on_device(Slice values, ConstSlice operand, Reduction op) noexcept;
  std::optional<Status> divide_on_device(Slice values, int n) noexcept;
  void recycle(std::byte*, std::size_t) noexcept override {}  // blocks return to the pool of the device

  std::shared_ptr<Device> device_;
};

// Computes values <- values / n for values on a GPU, on Taut's own stream there, and waits. Throws Error if
// kernels cannot be used in this process.
Status divide(Slice values, int n);

// Copies in host memory of parts of values on a GPU: those that samples for some candidates read
// (compressor/frame/sample.hpp), and others.
class SampledParts {
 public:
  // `others`: in values. Throws Error, std::bad_alloc.
  SampledParts(Device& device, ConstSlice values, std::span<const Coding> candidates,
               std::span<const Range> others = {});

  // Returns the parts that samples read, each with the offset that it has in the values; other bytes are
  // unspecified. Without data if there are no candidates.
  ConstSlice values() const noexcept { return values_; }
  // Returns the other parts, one behind the other.
  ConstSlice others() const noexcept { return others_; }

 private:
  Buffer copies_;
  std::unique_ptr<std::byte[]> memory_;
  ConstSlice values_, others_;
};

}  // namespace taut::gpu
