#include "core/place.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

#include "core/status.hpp"

namespace taut {
namespace {

constexpr std::align_val_t alignment{64};

// Rounds a size up to an eighth of its power of two, so that slightly different calls share blocks.
std::size_t rounded(std::size_t bytes) noexcept {
  constexpr std::size_t smallest = 4096;
  if (bytes <= smallest) return smallest;
  const std::size_t unit = std::bit_floor(bytes) / 8;
  return (bytes + unit - 1) / unit * unit;
}

}  // namespace

HostPlace::~HostPlace() {
  for (const Block& block : free_) release(block);
}

Buffer HostPlace::scratch(std::size_t bytes) {
  const std::size_t wanted = rounded(bytes);
  std::size_t best = free_.size(), largest = free_.size();
  for (std::size_t i = 0; i < free_.size(); ++i) {
    const std::size_t capacity = free_[i].capacity;
    if (capacity >= wanted && (best == free_.size() || capacity < free_[best].capacity)) best = i;
    if (largest == free_.size() || capacity > free_[largest].capacity) largest = i;
  }
  Block block;
  if (best < free_.size()) {
    block = take(best);
  } else {
    if (largest < free_.size()) {  // too small: a larger block replaces it
      release(take(largest));
      --blocks_;
    }
    block = allocate(wanted);
  }
  return Buffer(this, block.data, block.capacity);
}

void HostPlace::reserve(std::size_t bytes, std::size_t blocks) {
  const std::size_t wanted = rounded(bytes);
  std::size_t enough = 0;
  for (const Block& block : free_) enough += block.capacity >= wanted;
  for (; enough < blocks; ++enough) free_.push_back(allocate(wanted));
}

HostPlace::Block HostPlace::allocate(std::size_t capacity) {
  free_.reserve(blocks_ + 1);  // room for the return of every block
  void* const data = ::operator new(capacity, alignment, std::nothrow);
  if (data == nullptr) throw Error(Status::out_of_memory, "no scratch memory");
  ++blocks_;
  return {static_cast<std::byte*>(data), capacity};
}

void HostPlace::copy(std::byte* to, const std::byte* from, std::size_t bytes) {
  if (bytes != 0) std::memcpy(to, from, bytes);
}

HostPlace::Block HostPlace::take(std::size_t i) noexcept {
  const Block block = free_[i];
  free_[i] = free_.back();
  free_.pop_back();
  return block;
}

void HostPlace::release(const Block& block) noexcept { ::operator delete(block.data, alignment); }

void HostPlace::recycle(std::byte* data, std::size_t capacity) noexcept { free_.push_back({data, capacity}); }

Reserve::~Reserve() {
  while (free_ != nullptr) {
    const Free block = *free_;
    Buffer(&place_, reinterpret_cast<std::byte*>(std::exchange(free_, block.next)), block.capacity);
  }
}

void Reserve::reserve(std::size_t bytes, std::size_t blocks) {
  bytes = std::max(bytes, sizeof(Free));
  place_.reserve(bytes, blocks);
  for (std::size_t i = 0; i < blocks; ++i) {
    Buffer block = place_.scratch(bytes);
    block.place_ = this;  // its destructor returns the block to this reserve
  }
}

Buffer Reserve::scratch(std::size_t bytes) {
  for (Free** link = &free_; *link != nullptr; link = &(*link)->next) {
    Free* const block = *link;
    if (block->capacity < bytes) continue;
    *link = block->next;
    return Buffer(this, reinterpret_cast<std::byte*>(block), block->capacity);
  }
  return place_.scratch(bytes);
}

void Reserve::recycle(std::byte* data, std::size_t capacity) noexcept {
  free_ = new (data) Free{free_, capacity};
}

}  // namespace taut
