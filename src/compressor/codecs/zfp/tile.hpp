// Conversion of a tile of values to its record in the frame, and back. A record is zfp's stream, plus
// corrections beside it where zfp does not keep the bound. Format: spec.md.
#pragma once

#include "compressor/codecs/zfp/zfp_stream.hpp"
#include "compressor/values/bound.hpp"

namespace taut::zfp {

// Form in which a record stores its tile.
enum class Form : std::uint32_t {
  coded = 0,     // a zfp stream
  stored = 1,    // the values, unchanged
  repaired = 2,  // a zfp stream, plus the values that it does not give within the bound
};

struct Record {
  Form form = Form::stored;
  std::size_t bytes = 0;
};

// Minimum bound that is coded with zfp. Below it zfp's integers would overflow, so every tile is stored. The
// limit follows from zfp's scaling of a block with the greatest exponent e by 2^(30 - e), a float, or by
// 2^(62 - e), a double: e may be 2(dims + 1), at most 10, below the exponent of the bound.
template <class T>
inline constexpr double min_bound = sizeof(T) == 4 ? 0x1p-86 : 0x1p-948;

// Minimum magnitude that is coded at a fixed rate, at which zfp would code blocks of smaller values too.
// Smaller values are coded as 0.
template <class T>
inline constexpr T min_magnitude_at_rate = static_cast<T>(sizeof(T) == 4 ? 0x1p-96 : 0x1p-960);

// block_bits() returns the bits that zfp spends on a block at `rate` bits a value, and coded_bytes() the
// bytes of a tile of such blocks.
template <class T>
unsigned block_bits(double rate, const Shape& tile) noexcept;
template <class T>
std::size_t coded_bytes(double rate, const Shape& tile) noexcept;

// Minimum rate at which even a tile of nothing but NaN and infinities, with its map, fits coded_bytes().
inline constexpr double min_fixed_rate = 7;

// Memory of one encode() or decode(), allocated once, for the largest tile.
template <class T>
class Scratch {
 public:
  explicit Scratch(const Shape& largest);  // throws std::bad_alloc

  ZfpStream& stream() noexcept { return stream_; }
  T* source() noexcept { return values_; }            // a tile for zfp to encode
  T* decoded() noexcept { return values_ + count_; }  // a decoded tile

 private:
  std::size_t count_;
  std::unique_ptr<std::uint64_t[]> memory_;
  T* values_;
  ZfpStream stream_;
};

// Encodes a tile. `out` has room for the unchanged values; at a rate of at least min_fixed_rate,
// coded_bytes() are enough if they are fewer. Returns a stored record of 0 bytes if `out` is too small.
template <class T>
Record encode_tile(const View<const T>& tile, const Bound& bound, PackedBits bits, Scratch<T>& scratch,
                   Bytes out) noexcept;

// Decodes a record. Any bytes are safe; returns false for a damaged record.
template <class T>
bool decode_tile(Form form, ConstBytes record, const Bound& bound, Scratch<T>& scratch,
                 const View<T>& tile) noexcept;

}  // namespace taut::zfp
