// One box as bytes and back: zfp's stream with what it cannot promise mended beside it. Format: spec.md.
#pragma once

#include "codecs/zfp/coder.hpp"
#include "core/bound.hpp"

namespace taut::zfp {

// How a piece holds its box.
enum class Form : std::uint32_t {
  coded = 0,   // a zfp stream
  stored = 1,  // the values as they are
  mended = 2,  // a zfp stream, and what it does not hold
};

struct Piece {
  Form form = Form::stored;
  std::size_t bytes = 0;
};

// Below this bound zfp's integers would overflow: every box is stored. Boxes of a bound above it may code a
// block whose greatest exponent is 2(dims + 1) below the bound's, at most 10, and 2^(30 - e) has to be a
// float, 2^(62 - e) a double.
template <class T>
inline constexpr double least_bound = sizeof(T) == 4 ? 0x1p-86 : 0x1p-948;

// At a fixed rate nothing keeps zfp from coding blocks of such values: smaller ones count as 0.
template <class T>
inline constexpr T least_at_a_rate = static_cast<T>(sizeof(T) == 4 ? 0x1p-96 : 0x1p-960);

// Bits that zfp spends on a block at a rate of `rate` bits a value, and bytes of a box of them.
template <class T>
unsigned block_bits(double rate, const Shape& box) noexcept;
template <class T>
std::size_t coded_bytes(double rate, const Shape& box) noexcept;

// From this rate on even a box of nothing but NaN and infinities is mended within coded_bytes().
inline constexpr double least_fixed_rate = 7;

// Memory of one encode() or decode(): taken once, for the largest box.
template <class T>
class Scratch {
 public:
  explicit Scratch(const Shape& largest);  // throws std::bad_alloc

  Coder& coder() noexcept { return coder_; }
  T* source() noexcept { return values_; }
  T* decoded() noexcept { return values_ + count_; }

 private:
  std::size_t count_;
  std::unique_ptr<std::uint64_t[]> memory_;
  T* values_;
  Coder coder_;
};

// `out` holds the values as they are, or at a rate of least_fixed_rate or more coded_bytes() if that is less.
// Stored in no bytes: it did not.
template <class T>
Piece encode_piece(const View<const T>& box, const Bound& bound, PackedBits bits, Scratch<T>& scratch,
                   Bytes out) noexcept;

// Any bytes are safe; false: damaged.
template <class T>
bool decode_piece(Form form, ConstBytes piece, const Bound& bound, Scratch<T>& scratch,
                  const View<T>& box) noexcept;

}  // namespace taut::zfp
