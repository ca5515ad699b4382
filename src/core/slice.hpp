// Typed views of memory. A Slice owns nothing; `count` is in elements.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace taut {

using Bytes = std::span<std::byte>;
using ConstBytes = std::span<const std::byte>;

// Value types as they stand in frames: pinned numbers, independent of any MPI.
enum class DType : std::uint8_t { f32 = 1, f64 = 2 };

constexpr std::size_t size_of(DType type) noexcept { return type == DType::f64 ? 8 : 4; }
constexpr const char* name_of(DType type) noexcept { return type == DType::f64 ? "f64" : "f32"; }
constexpr bool is_dtype(std::uint8_t code) noexcept { return code == 1 || code == 2; }

template <class T>
constexpr DType dtype_of = sizeof(T) == 8 ? DType::f64 : DType::f32;

template <class Void, class Byte>
struct BasicSlice {
  Void* data = nullptr;
  std::size_t count = 0;
  DType type = DType::f32;

  std::size_t bytes() const noexcept { return count * size_of(type); }
  std::span<Byte> as_bytes() const noexcept { return {static_cast<Byte*>(data), bytes()}; }

  // The elements [first, first + n) of this slice.
  BasicSlice part(std::size_t first, std::size_t n) const noexcept {
    return {static_cast<Byte*>(data) + first * size_of(type), n, type};
  }
};

struct ConstSlice : BasicSlice<const void, const std::byte> {};

struct Slice : BasicSlice<void, std::byte> {
  operator ConstSlice() const noexcept { return {data, count, type}; }
};

// Part `i` of `parts` nearly equal parts of `count` elements: the first count % parts have one element more.
struct Range {
  std::size_t first, count;
};
constexpr Range part_range(std::size_t count, std::size_t i, std::size_t parts) noexcept {
  const std::size_t size = count / parts, longer = count % parts;
  return {i * size + std::min(i, longer), size + (i < longer ? 1 : 0)};
}

template <class S>
S block(const S& slice, std::size_t i, std::size_t parts) noexcept {
  const Range r = part_range(slice.count, i, parts);
  return {slice.part(r.first, r.count)};
}

}  // namespace taut
