// Interface to libzfp (github.com/LLNL/zfp, documented at zfp.readthedocs.io) for one tile at a time. No
// other code calls libzfp.
#pragma once

#include <zfp.h>

#include <memory>

#include "compressor/codecs/zfp/shape.hpp"
#include "compressor/values/slice.hpp"

namespace taut::zfp {

// Parameters of a zfp stream that Taut sets: minbits, maxbits, minexp. maxprec is always 64.
struct StreamParameters {
  unsigned min_bits = ZFP_MIN_BITS, max_bits = ZFP_MAX_BITS;  // bits of a block
  int min_exponent = ZFP_MIN_EXP;                             // exponent of the lowest bit plane
};

// Fixed accuracy: zfp aims to keep the omitted part below the bound, but blocks of widely different values
// exceed the bound.
StreamParameters accuracy(double bound) noexcept;

// Fixed rate: each block takes `bits`, which are at least min_block_bits.
constexpr StreamParameters rate(unsigned bits) noexcept { return {bits, bits, ZFP_MIN_EXP}; }

// Bits of a block that stores its exponent only: a flag, and the exponent of float32 or float64.
template <class T>
constexpr unsigned min_block_bits = sizeof(T) == 4 ? 1 + 8 : 1 + 11;

// Bytes of zeros that must follow a stream. A damaged stream is not read beyond them: zfp reads the rest of a
// block, then one bit for each further block of the tile, and whole words.
inline constexpr std::size_t stream_tail =
    ZFP_MAX_BITS / 8 + max_tile_values / 4 / 8 + 2 * sizeof(std::uint64_t);

// Stream of zfp in memory of the caller.
class ZfpStream {
 public:
  // `memory` is aligned for 64-bit words and outlives the stream. Call ok() before any other function.
  explicit ZfpStream(Bytes memory) noexcept
      : memory_(memory),
        bits_(stream_open(memory.data(), memory.size())),
        zfp_(zfp_stream_open(bits_.get())) {}

  bool ok() const noexcept { return bits_ != nullptr && zfp_ != nullptr; }  // false: out of memory
  void set(StreamParameters parameters) noexcept {
    zfp_stream_set_params(zfp_.get(), parameters.min_bits, parameters.max_bits, ZFP_MAX_PREC,
                          parameters.min_exponent);
  }

  // Compresses a tile into the memory, which has stream_room() for this shape. Returns the bytes written; 0:
  // failed.
  template <class T>
  std::size_t compress(const View<const T>& tile) noexcept;

  // Copies the bytes to the memory and decodes them.
  template <class T>
  bool decompress(ConstBytes stream, const View<T>& tile) noexcept;

  const std::byte* data() const noexcept { return memory_.data(); }  // the output of compress()

  // Decodes the output of compress() in the memory.
  template <class T>
  bool decompress(const View<T>& tile) noexcept;

 private:
  struct Close {
    void operator()(bitstream* s) const noexcept { stream_close(s); }
    void operator()(zfp_stream* s) const noexcept { zfp_stream_close(s); }
  };
  Bytes memory_;
  std::unique_ptr<bitstream, Close> bits_;
  std::unique_ptr<zfp_stream, Close> zfp_;
};

// Returns the bytes of memory that a stream needs for tiles up to this size.
template <class T>
constexpr std::size_t stream_room(const Shape& tile) noexcept {
  const std::size_t block_bits =
      std::min<std::size_t>(ZFP_MAX_BITS, min_block_bits<T> + tile.block_values() * (8 * sizeof(T) + 1));
  return (tile.blocks() * block_bits / 64 + 1) * sizeof(std::uint64_t) + stream_tail;
}

}  // namespace taut::zfp
