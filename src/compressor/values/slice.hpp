// Typed views of memory. A Slice owns nothing; `count` is in elements.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "compressor/values/dtype.hpp"

namespace taut {

using Bytes = std::span<std::byte>;
using ConstBytes = std::span<const std::byte>;

// Slice of memory that can be written (Void = void, Byte = std::byte) or only read (both const).
template <class Void, class Byte>
struct BasicSlice {
  Void* data = nullptr;
  std::size_t count = 0;
  DType type = DType::f32;

  std::size_t bytes() const noexcept { return count * size_of(type); }
  std::span<Byte> as_bytes() const noexcept { return {static_cast<Byte*>(data), bytes()}; }

  // Returns complex elements as twice as many real elements, and other elements unchanged.
  BasicSlice components() const noexcept { return {data, count * components_of(type), component_of(type)}; }

  // Returns the address of element i, which may be outside the slice; null if the slice has no data.
  Void* address(std::ptrdiff_t i) const noexcept {
    return data == nullptr ? nullptr
                           : static_cast<Byte*>(data) + i * static_cast<std::ptrdiff_t>(size_of(type));
  }

  // Returns the elements [first, first + n) of this slice.
  BasicSlice part(std::size_t first, std::size_t n) const noexcept {
    return {address(static_cast<std::ptrdiff_t>(first)), n, type};
  }
};

struct ConstSlice : BasicSlice<const void, const std::byte> {};

struct Slice : BasicSlice<void, std::byte> {
  operator ConstSlice() const noexcept { return {data, count, type}; }
};

// Returns true if two slices share memory.
inline bool overlap(ConstSlice a, ConstSlice b) noexcept {
  const auto address = [](const ConstSlice& s) { return reinterpret_cast<std::uintptr_t>(s.data); };
  return a.count != 0 && b.count != 0 && address(a) < address(b) + b.bytes() &&
         address(b) < address(a) + a.bytes();
}

// Range of elements. part_range() returns part `i` of `parts` nearly equal parts of `count` elements: the
// first count % parts have one element more.
struct Range {
  std::size_t first, count;
};
constexpr Range part_range(std::size_t count, std::size_t i, std::size_t parts) noexcept {
  const std::size_t size = count / parts, longer = count % parts;
  return {i * size + std::min(i, longer), size + (i < longer ? 1 : 0)};
}

// Returns block i of a slice that is divided into `parts` blocks by part_range().
template <class S>
S block(const S& slice, std::size_t i, std::size_t parts) noexcept {
  const Range r = part_range(slice.count, i, parts);
  return {slice.part(r.first, r.count)};
}

}  // namespace taut
