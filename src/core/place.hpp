// Place: the kind of memory that buffers are in, and its pool of scratch memory. This file has the interface
// and host memory, the only place so far.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "core/slice.hpp"

namespace taut {

class Place;

// Scratch memory of a place: at least as large as requested, uninitialised, 64-byte aligned. The destructor
// returns the memory to the pool of its place.
class Buffer {
 public:
  Buffer() = default;
  Buffer(Place* place, std::byte* data, std::size_t capacity) noexcept
      : place_(place), data_(data), capacity_(capacity) {}
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    Buffer old(std::move(other));
    swap(old);
    return *this;
  }
  ~Buffer();

  std::byte* data() const noexcept { return data_; }
  std::size_t capacity() const noexcept { return capacity_; }
  Bytes bytes() const noexcept { return {data_, capacity_}; }

 private:
  friend class Reserve;
  void swap(Buffer& other) noexcept {
    std::swap(place_, other.place_);
    std::swap(data_, other.data_);
    std::swap(capacity_, other.capacity_);
  }
  Place* place_ = nullptr;
  std::byte* data_ = nullptr;
  std::size_t capacity_ = 0;
};

class Place {
 public:
  virtual ~Place() = default;

  // Returns scratch memory from the pool; throws Error(out_of_memory). In the steady state no memory is
  // requested from the system.
  virtual Buffer scratch(std::size_t bytes) = 0;
  // Ensures that the next `blocks` requests for up to `bytes` each succeed; throws Error(out_of_memory).
  virtual void reserve(std::size_t bytes, std::size_t blocks) = 0;
  virtual void copy(std::byte* to, const std::byte* from, std::size_t bytes) = 0;

 private:
  friend class Buffer;
  virtual void recycle(std::byte* data, std::size_t capacity) noexcept = 0;
};

// Memory of this process. Keeps returned blocks for reuse. For one thread at a time.
class HostPlace final : public Place {
 public:
  HostPlace() = default;
  HostPlace(const HostPlace&) = delete;
  HostPlace& operator=(const HostPlace&) = delete;
  ~HostPlace() override;

  Buffer scratch(std::size_t bytes) override;
  void reserve(std::size_t bytes, std::size_t blocks) override;
  void copy(std::byte* to, const std::byte* from, std::size_t bytes) override;

 private:
  struct Block {
    std::byte* data;
    std::size_t capacity;
  };
  Block take(std::size_t i) noexcept;
  Block allocate(std::size_t capacity);
  static void release(const Block& block) noexcept;
  void recycle(std::byte* data, std::size_t capacity) noexcept override;

  std::vector<Block> free_;
  std::size_t blocks_ = 0;  // number of blocks, free or in use
};

// Reserve: scratch memory for one of several users of a place, who must not take each other's memory.
// reserve() takes memory from that place at once, and the destructor gives it back. Requests beyond the
// reserve are served by that place.
class Reserve final : public Place {
 public:
  explicit Reserve(Place& place) noexcept : place_(place) {}
  Reserve(const Reserve&) = delete;
  Reserve& operator=(const Reserve&) = delete;
  ~Reserve() override;

  Buffer scratch(std::size_t bytes) override;
  void reserve(std::size_t bytes, std::size_t blocks) override;
  void copy(std::byte* to, const std::byte* from, std::size_t bytes) override {
    place_.copy(to, from, bytes);
  }

 private:
  struct Free {  // stored at the start of each free block
    Free* next;
    std::size_t capacity;
  };
  void recycle(std::byte* data, std::size_t capacity) noexcept override;

  Place& place_;
  Free* free_ = nullptr;  // free blocks; the block returned last is taken first, because it is in the caches
};

inline Buffer::~Buffer() {
  if (data_ != nullptr) place_->recycle(data_, capacity_);
}

}  // namespace taut
