// Converts a tile of values to its record in the frame, and back: zfp's stream, plus corrections beside it
// where zfp does not keep the bound. Format: spec.md.
#pragma once

#include "compressor/codecs/zfp/zfp_stream.hpp"
#include "compressor/values/bound.hpp"

namespace taut::zfp {

// How a record stores its tile.
enum class Form : std::uint32_t {
  coded = 0,     // a zfp stream
  stored = 1,    // the values, unchanged
  repaired = 2,  // a zfp stream, plus the values that it does not hold
};

struct Record {
  Form form = Form::stored;
  std::size_t bytes = 0;
};

// Least bound that is coded with zfp. Below it zfp's integers would overflow, so every tile is stored. At a
// bound above it, zfp may code a block whose greatest exponent e is below the bound's by 2(dims + 1), at most
// 10; 2^(30 - e) has to be a float, 2^(62 - e) a double.
template <class T>
inline constexpr double least_bound = sizeof(T) == 4 ? 0x1p-86 : 0x1p-948;

// Least magnitude that is coded at a fixed rate, where zfp would code blocks of such small values too.
// Smaller values count as 0.
template <class T>
inline constexpr T least_at_a_rate = static_cast<T>(sizeof(T) == 4 ? 0x1p-96 : 0x1p-960);

// Bits that zfp spends on a block at `rate` bits a value, and bytes of a tile of such blocks.
template <class T>
unsigned block_bits(double rate, const Shape& tile) noexcept;
template <class T>
std::size_t coded_bytes(double rate, const Shape& tile) noexcept;

// Least rate at which even a tile of nothing but NaN and infinities, with its map, fits coded_bytes().
inline constexpr double least_fixed_rate = 7;

// Memory of one encode() or decode(), allocated once, for the largest tile.
template <class T>
class Scratch {
 public:
  explicit Scratch(const Shape& largest);  // throws std::bad_alloc

  ZfpStream& stream() noexcept { return stream_; }
  T* source() noexcept { return values_; }
  T* decoded() noexcept { return values_ + count_; }

 private:
  std::size_t count_;
  std::unique_ptr<std::uint64_t[]> memory_;
  T* values_;
  ZfpStream stream_;
};

// Encodes a tile. `out` holds the unchanged values; at a rate of at least least_fixed_rate, coded_bytes() is
// enough if it is less. Returns a stored record of 0 bytes if `out` is too small.
template <class T>
Record encode_tile(const View<const T>& tile, const Bound& bound, PackedBits bits, Scratch<T>& scratch,
                   Bytes out) noexcept;

// Decodes a record. Any bytes are safe; returns false for a damaged record.
template <class T>
bool decode_tile(Form form, ConstBytes record, const Bound& bound, Scratch<T>& scratch,
                 const View<T>& tile) noexcept;

}  // namespace taut::zfp
