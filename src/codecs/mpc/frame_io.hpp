// An mpc frame as a sequence of chunks: reading with every offset checked, writing within a given capacity.
#pragma once

#include "codecs/mpc/kernels.hpp"
#include "core/chunk_records.hpp"
#include "core/codec.hpp"

namespace taut::mpc {

// How the values of a frame become words.
struct Layout {
  std::size_t word_bytes = 4;
  unsigned distance = 1;
  Rounding rounding = {};

  std::size_t heads_bytes() const noexcept { return distance * word_bytes; }
};

// Index and records of `values`, none beyond `payload`. 0: they do not fit.
std::size_t write_chunks(ConstBytes values, const Layout& layout, const KernelSet& kernels, int threads,
                         Bytes payload) noexcept;

// The values as a stored frame holds them: rounded, but not coded.
void write_rounded(ConstBytes values, const Layout& layout, const KernelSet& kernels, std::byte* to) noexcept;

// The bytes that records of distance `layout.distance` are going to take, in some unit, by a few pieces.
std::size_t sampled_bytes(ConstBytes values, const Layout& layout, const KernelSet& kernels) noexcept;

class FrameReader {
 public:
  // A whole frame of the type and count of `values`; refers to `frame`.
  Status open(ConstBytes frame, ConstSlice values) noexcept;

  std::size_t chunks() const noexcept { return chunks_of(bytes_); }
  std::size_t size_of_chunk(std::size_t i) const noexcept {
    return std::min(chunk_bytes, bytes_ - i * chunk_bytes);
  }

  // Writes chunk i, size_of_chunk bytes. Checks its record.
  Status read(std::size_t i, const KernelSet& kernels, std::byte* to) const noexcept;

 private:
  Status open_index() noexcept;
  bool decode(ConstBytes record, std::size_t size, const KernelSet& kernels, std::byte* to) const noexcept;

  FrameHeader header_;
  ConstBytes frame_, payload_;  // frame_: all that may be read
  std::size_t bytes_ = 0;       // of the values
  std::size_t word_bytes_ = 4;
};

}  // namespace taut::mpc
