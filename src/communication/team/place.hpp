// Place: the kind of memory that buffers are in, its pool of scratch memory, and arithmetic on values there.
// This file has the interface and host memory; communication/gpu has pinned memory and the memory of GPUs.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "compressor/base/status.hpp"
#include "compressor/values/reduction.hpp"

namespace taut {

class Place;

// Computes values <- values / n, rounded once, which makes a sum the mean; 16-bit values are divided in float
// and then rounded. Integers are left unchanged.
void divide(Slice values, int n) noexcept;

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

// Memory that messages are sent from and received into, for a place whose memory the host does not access, or
// holds only the headers of frames.
class MessageMemory {
 public:
  // Returns the memory from which frames or values of the place are sent; an empty span after a failure.
  virtual ConstBytes outgoing(ConstBytes message) noexcept = 0;
  // Returns the memory into which a message for memory of the place is received.
  virtual Bytes incoming(Bytes room) noexcept = 0;
  // Completes the receipt of a message for memory of the place.
  virtual Status arrived(Bytes message) noexcept = 0;

 protected:
  ~MessageMemory() = default;
};

class Place {
 public:
  virtual ~Place() = default;

  // Returns the memory of messages; null: messages are in the memory of this place.
  MessageMemory* message_memory() const noexcept { return message_memory_; }

  // Returns scratch memory from the pool; throws Error(out_of_memory). In the steady state no memory is
  // requested from the system.
  virtual Buffer scratch(std::size_t bytes) = 0;
  // Ensures that the next `blocks` requests for up to `bytes` each succeed; throws Error(out_of_memory).
  virtual void reserve(std::size_t bytes, std::size_t blocks) = 0;

  // True if the host can access the memory. The default implementations below are for such memory.
  bool on_host() const noexcept { return on_host_; }
  // Copies memory of this place, or between this place and the host. The ranges may overlap.
  virtual Status copy(std::byte* to, const std::byte* from, std::size_t bytes) noexcept;
  // reduce: values <- values op operand, as reduce_values(). divide: values <- values / n, as taut::divide().
  virtual Status reduce(Slice values, ConstSlice operand, Reduction op) noexcept;
  virtual Status divide(Slice values, int n) noexcept;
  // result <- (operand 0 op operand 1 op ...) / divisor, as taut::reduce_widely(). The n operands are in one
  // block of scratch memory.
  virtual Status reduce_widely(const std::byte* operands, int n, Slice result, Reduction op,
                               int divisor) noexcept;

 protected:
  explicit Place(MessageMemory* message_memory = nullptr, bool on_host = true) noexcept
      : message_memory_(message_memory), on_host_(on_host) {}

 private:
  friend class Buffer;
  virtual void recycle(std::byte* data, std::size_t capacity) noexcept = 0;

  MessageMemory* message_memory_;
  bool on_host_;
};

// Place that keeps returned blocks for reuse. For one thread at a time.
class PooledPlace : public Place {
 public:
  explicit PooledPlace(MessageMemory* message_memory = nullptr, bool on_host = true) noexcept
      : Place(message_memory, on_host) {}
  PooledPlace(const PooledPlace&) = delete;
  PooledPlace& operator=(const PooledPlace&) = delete;

  Buffer scratch(std::size_t bytes) override;
  void reserve(std::size_t bytes, std::size_t blocks) override;

  // Returns the memory that is not in use to the system. The destructor of a derived class calls it.
  void trim() noexcept;

 private:
  struct Block {
    std::byte* data;
    std::size_t capacity;
  };
  // allocate() requests memory from the system, aligned to 64 bytes; null: there is none. release() frees it.
  virtual std::byte* allocate(std::size_t bytes) noexcept = 0;
  virtual void release(std::byte* data) noexcept = 0;

  Block take(std::size_t i) noexcept;
  Block new_block(std::size_t capacity);
  void recycle(std::byte* data, std::size_t capacity) noexcept override;

  std::vector<Block> free_;
  std::size_t blocks_ = 0;  // number of blocks, free or in use
};

// Memory of this process.
class HostPlace final : public PooledPlace {
 public:
  ~HostPlace() override { trim(); }

 private:
  std::byte* allocate(std::size_t bytes) noexcept override;
  void release(std::byte* data) noexcept override;
};

// Reserve: scratch memory for one of several users of a shared place, kept apart from that of the others.
// reserve() takes memory from the shared place at once; the destructor returns it. A request gets the
// smallest free block that is large enough: in any order, requests of the sizes that were reserved get what
// was reserved. Requests beyond the reserve go to the shared place, whose memory must be accessible to the
// host.
class Reserve final : public Place {
 public:
  explicit Reserve(Place& place) noexcept : Place(place.message_memory()), place_(place) {}
  Reserve(const Reserve&) = delete;
  Reserve& operator=(const Reserve&) = delete;
  ~Reserve() override;

  Buffer scratch(std::size_t bytes) override;
  void reserve(std::size_t bytes, std::size_t blocks) override;
  Status copy(std::byte* to, const std::byte* from, std::size_t bytes) noexcept override {
    return place_.copy(to, from, bytes);
  }

 private:
  struct Free {  // stored at the start of each free block
    Free* larger;
    Free* same;  // next block of this capacity
    std::size_t capacity;
  };
  Buffer take(Free*& link) noexcept;
  void recycle(std::byte* data, std::size_t capacity) noexcept override;

  Place& place_;
  // Free blocks of the least capacity. Of blocks of one capacity the one returned last is taken first,
  // because it is in the caches.
  Free* free_ = nullptr;
};

inline Buffer::~Buffer() {
  if (data_ != nullptr) place_->recycle(data_, capacity_);
}

// Returns true if the program may write to host memory, judged by its first byte.
bool is_writable(ConstBytes memory) noexcept;

}  // namespace taut
