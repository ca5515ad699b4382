#include "communication/team/place.hpp"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <new>

#include "compressor/values/reduction.hpp"

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

template <class T>
void divide(T* values, std::size_t count, int n) noexcept {
  using Computed = ComputedIn<T>;
  const auto divisor = static_cast<Computed>(n);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = static_cast<T>(static_cast<Computed>(values[i]) / divisor);
}

}  // namespace

void divide(Slice values, int n) noexcept {
  const auto parts = values.components();
  with_component(parts.type, [&]<class T>() {
    if constexpr (is_real<T>) divide(static_cast<T*>(parts.data), parts.count, n);
  });
}

Status Place::copy(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  if (bytes != 0) std::memmove(to, from, bytes);
  return Status::ok;
}

Status Place::reduce(Slice values, ConstSlice operand, Reduction op) noexcept {
  reduce_values(values, operand, op);
  return Status::ok;
}

Status Place::divide(Slice values, int n) noexcept {
  taut::divide(values, n);
  return Status::ok;
}

Status Place::reduce_widely(const std::byte* operands, int n, Slice result, Reduction op,
                            int divisor) noexcept {
  taut::reduce_widely(operands, static_cast<std::size_t>(n), result, op, divisor);
  return Status::ok;
}

Buffer PooledPlace::scratch(std::size_t bytes) {
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
      release(take(largest).data);
      --blocks_;
    }
    block = new_block(wanted);
  }
  return Buffer(this, block.data, block.capacity);
}

void PooledPlace::reserve(std::size_t bytes, std::size_t blocks) {
  const std::size_t wanted = rounded(bytes);
  std::size_t enough = 0;
  for (const Block& block : free_) enough += block.capacity >= wanted;
  for (; enough < blocks; ++enough) free_.push_back(new_block(wanted));
}

PooledPlace::Block PooledPlace::new_block(std::size_t capacity) {
  free_.reserve(blocks_ + 1);  // room for the return of every block
  std::byte* const data = allocate(capacity);
  if (data == nullptr) throw Error(Status::out_of_memory, "no scratch memory");
  ++blocks_;
  return {data, capacity};
}

PooledPlace::Block PooledPlace::take(std::size_t i) noexcept {
  const Block block = free_[i];
  free_[i] = free_.back();
  free_.pop_back();
  return block;
}

void PooledPlace::recycle(std::byte* data, std::size_t capacity) noexcept {
  free_.push_back({data, capacity});
}

void PooledPlace::trim() noexcept {
  for (const Block& block : free_) release(block.data);
  blocks_ -= free_.size();
  free_.clear();
}

std::byte* HostPlace::allocate(std::size_t bytes) noexcept {
  return static_cast<std::byte*>(::operator new(bytes, alignment, std::nothrow));
}

void HostPlace::release(std::byte* data) noexcept { ::operator delete(data, alignment); }

Reserve::~Reserve() {
  while (free_ != nullptr) {
    Buffer block = take(free_);
    block.place_ = &place_;
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
  for (Free** link = &free_; *link != nullptr; link = &(*link)->larger)
    if ((*link)->capacity >= bytes) return take(*link);
  return place_.scratch(bytes);
}

Buffer Reserve::take(Free*& link) noexcept {
  Free* const block = link;
  link = block->larger;
  if (block->same != nullptr) {
    block->same->larger = block->larger;
    link = block->same;
  }
  return Buffer(this, reinterpret_cast<std::byte*>(block), block->capacity);
}

void Reserve::recycle(std::byte* data, std::size_t capacity) noexcept {
  Free** link = &free_;
  while (*link != nullptr && (*link)->capacity < capacity) link = &(*link)->larger;
  Free* const there = *link;
  const bool first = there == nullptr || there->capacity > capacity;
  *link = new (data) Free{first ? there : there->larger, first ? nullptr : there, capacity};
}

// The kernel copies the byte to a pipe and back: it reports memory that it must not write to.
bool is_writable(ConstBytes memory) noexcept {
  int ends[2];
  if (memory.empty() || pipe(ends) != 0) return true;
  auto* const first = const_cast<std::byte*>(memory.data());
  const bool refused = write(ends[1], first, 1) == 1 && read(ends[0], first, 1) < 0 && errno == EFAULT;
  close(ends[0]);
  close(ends[1]);
  return !refused;
}

}  // namespace taut
