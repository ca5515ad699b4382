// List of the escapes of a tile: values that are stored unchanged beside zfp's stream. An item of the list
// has the position of consecutive escapes, and their values, or one value that all of them have. Format:
// spec.md.
#pragma once

#include <cstring>
#include <optional>

#include "compressor/values/slice.hpp"

namespace taut::zfp {

// Writer of bytes to `room`. After one item did not fit, the writer drops all further items.
class ByteWriter {
 public:
  explicit ByteWriter(Bytes room) noexcept : room_(room) {}

  void put(const void* bytes, std::size_t n) noexcept {
    fits_ = fits_ && n <= room_.size() - at_;
    if (!fits_) return;
    std::memcpy(room_.data() + at_, bytes, n);
    at_ += n;
  }
  // Writes a number with 7 bits a byte, the lowest first; bit 7 is clear in the last byte.
  void put_number(std::size_t number) noexcept {
    for (; number >= 128; number >>= 7) put_byte(static_cast<std::uint8_t>(number | 128));
    put_byte(static_cast<std::uint8_t>(number));
  }
  bool fits() const noexcept { return fits_; }
  std::size_t bytes() const noexcept { return at_; }

 private:
  void put_byte(std::uint8_t byte) noexcept { put(&byte, 1); }

  Bytes room_;
  std::size_t at_ = 0;
  bool fits_ = true;
};

// Reader of bytes from the start of `bytes`.
class ByteReader {
 public:
  explicit ByteReader(ConstBytes bytes) noexcept : rest_(bytes) {}

  bool empty() const noexcept { return rest_.empty(); }
  const std::byte* take(std::size_t n) noexcept {  // null: too few left
    if (n > rest_.size()) return nullptr;
    const std::byte* const taken = rest_.data();
    rest_ = rest_.subspan(n);
    return taken;
  }
  // Reads a number that put_number() wrote: at most four bytes, more than any tile needs.
  std::optional<std::size_t> take_number() noexcept {
    std::size_t number = 0;
    for (unsigned shift = 0; shift < 28; shift += 7) {
      const std::byte* const byte = take(1);
      if (byte == nullptr) return {};
      number |= (std::to_integer<std::size_t>(*byte) & 127) << shift;
      if (std::to_integer<unsigned>(*byte) < 128) return number;
    }
    return {};
  }

 private:
  ConstBytes rest_;
};

// Writes the list of the values for which `escapes(i)` is true.
template <class T, class Escapes>
void write_escapes(const T* values, std::size_t count, Escapes escapes, ByteWriter& out) noexcept {
  const auto same = [&](std::size_t a, std::size_t b) {
    return std::memcmp(values + a, values + b, sizeof(T)) == 0;
  };
  std::size_t end = 0;  // end of the last item's values
  for (std::size_t i = 0; i < count && out.fits(); ++i) {
    if (!escapes(i)) continue;
    std::size_t n = 1;
    while (i + n < count && escapes(i + n) && same(i, i + n)) ++n;
    const bool repeats = n > 1;
    while (!repeats && i + n < count && escapes(i + n) && !same(i + n - 1, i + n)) ++n;
    out.put_number(i - end);
    out.put_number(2 * n + (repeats ? 1 : 0));
    out.put(values + i, (repeats ? 1 : n) * sizeof(T));
    end = i + n;
    i = end - 1;
  }
}

// Calls put(i, value) for each value of the list. Returns false if the list is damaged.
template <class T, class Put>
bool read_escapes(ConstBytes list, std::size_t count, Put put) noexcept {
  ByteReader in(list);
  for (std::size_t at = 0; !in.empty();) {
    const auto gap = in.take_number(), length = in.take_number();
    if (!gap || !length || *gap > count - at) return false;
    at += *gap;
    const bool repeats = *length % 2 != 0;
    const std::size_t n = *length / 2;
    if (n == 0 || n > count - at) return false;
    const std::byte* const values = in.take((repeats ? 1 : n) * sizeof(T));
    if (values == nullptr) return false;
    for (std::size_t k = 0; k < n; ++k) {
      T value;
      std::memcpy(&value, values + (repeats ? 0 : k) * sizeof(T), sizeof(T));
      put(at + k, value);
    }
    at += n;
  }
  return true;
}

}  // namespace taut::zfp
