// Where memory lives. This file: the interface and pooled scratch; the host is the only place so far.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "core/slice.hpp"

namespace taut {

class Place;

// Scratch memory of a place, at least `size` bytes, uninitialised, 64-byte aligned. Returns to its place's
// pool.
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

  // Scratch from the pool; throws Error(out_of_memory). In the steady state no memory is taken from the
  // system.
  virtual Buffer scratch(std::size_t bytes) = 0;
  // Sees that the next `blocks` requests for up to `bytes` at a time succeed; throws Error(out_of_memory).
  virtual void reserve(std::size_t bytes, std::size_t blocks) = 0;
  virtual void copy(std::byte* to, const std::byte* from, std::size_t bytes) = 0;

 private:
  friend class Buffer;
  virtual void recycle(std::byte* data, std::size_t capacity) noexcept = 0;
};

// Memory of this process. Keeps what comes back; for one thread at a time.
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
  std::size_t blocks_ = 0;  // free ones and those in use
};

// Scratch for one of several users of a place, who must not take what another one counts on. What is reserved
// here is taken from that place at once, and given back at the end; what is asked for beyond it comes from
// there too.
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
  struct Free {  // stands at the start of each free block
    Free* next;
    std::size_t capacity;
  };
  void recycle(std::byte* data, std::size_t capacity) noexcept override;

  Place& place_;
  Free* free_ = nullptr;  // the one that came back last is taken first: it is in the caches
};

inline Buffer::~Buffer() {
  if (data_ != nullptr) place_->recycle(data_, capacity_);
}

}  // namespace taut
