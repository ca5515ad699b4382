// Reader and writer of an exponents frame as a sequence of chunks. The reader checks every offset; the writer
// stays within a given capacity.
#pragma once

#include "compressor/codecs/exponents/kernels.hpp"
#include "compressor/frame/chunk_records.hpp"
#include "compressor/frame/frame.hpp"

namespace taut::exponents {

// Writes the record of a chunk's values, which begin and end with whole groups, to `record`, which has room
// for max_record_bytes. Returns the record's size, a multiple of 4.
std::size_t encode_chunk(const std::byte* values, std::size_t groups, DType type, const CodeBooks& books,
                         const KernelSet& kernels, std::byte* record) noexcept;

// Decodes a record and writes all groups. Reads `overrun` bytes beyond the record. Returns false if the
// record is malformed.
bool decode_chunk(ConstBytes record, std::size_t groups, DType type, const KernelSet& kernels,
                  std::byte* values) noexcept;

// Writes index and records of `values` into `payload`. Returns their bytes; 0 if they do not fit.
std::size_t write_chunks(ConstSlice values, const KernelSet& kernels, int threads, Bytes payload) noexcept;

class FrameReader {
 public:
  // Opens a whole frame of the type and count of `values`. The reader refers to `frame` afterwards.
  Status open(ConstBytes frame, ConstSlice values) noexcept;

  std::size_t chunks() const noexcept { return chunks_of(header_.count); }
  std::size_t values_of_chunk(std::size_t i) const noexcept {
    return std::min<std::size_t>(chunk_values, header_.count - i * chunk_values);
  }

  // Checks the record of chunk i and writes the chunk's values to `to`.
  Status read(std::size_t i, const KernelSet& kernels, std::byte* to) const noexcept;

 private:
  bool decode(ConstBytes record, std::size_t n, const KernelSet& kernels, std::byte* to) const noexcept;

  FrameHeader header_;
  ConstBytes frame_, payload_;  // frame_: the memory that may be read
};

}  // namespace taut::exponents
