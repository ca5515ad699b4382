// A planes frame as a sequence of chunks: reading with every offset checked, writing within a given capacity.
#pragma once

#include "codecs/planes/record/record.hpp"
#include "core/chunk_records.hpp"
#include "core/frame.hpp"

namespace taut::planes {

inline constexpr std::uint8_t frame_id = 2;

struct Padding {
  alignas(64) std::byte bytes[chunk_values * sizeof(std::int32_t) + overrun];
};

template <class T>
class FrameReader {
 public:
  // A frame of T, or of complex numbers of them.
  Status open(ConstBytes frame) noexcept;

  const FrameHeader& header() const noexcept { return header_; }
  const Prediction& prediction() const noexcept { return prediction_; }
  bool stored() const noexcept { return header_.has(FrameHeader::stored); }
  bool holds(DType type, std::size_t count) const noexcept {
    return header_.type == type && header_.count == count;
  }
  std::size_t count() const noexcept { return count_; }  // of T
  std::size_t chunks() const noexcept { return chunks_of(count_); }
  std::size_t chunk_count(std::size_t i) const noexcept {
    return std::min(chunk_values, count_ - i * chunk_values);
  }

  // The values of chunk i of a stored frame.
  const std::byte* raw(std::size_t i) const noexcept {
    return payload_.data() + i * chunk_values * sizeof(T);
  }

  // The record of chunk i of a frame that is not stored. The payload of one that is not wide may be read
  // `overrun` bytes beyond its end: near the end of the frame it is copied to `padding`.
  Status read(std::size_t i, const WidthKernels& kernels, Record<T>& record, Padding& padding) const noexcept;

 private:
  bool read_prediction() noexcept;

  FrameHeader header_;
  Prediction prediction_;
  ConstBytes payload_;  // from the index on
  std::size_t count_ = 0;
};

extern template class FrameReader<float>;
extern template class FrameReader<double>;
extern template class FrameReader<f16>;
extern template class FrameReader<bf16>;

using Records = RecordWriter<max_plane_record<std::int32_t>>;

// Index and records of a frame, none beyond `out`.
class FrameWriter {
 public:
  FrameWriter(Bytes out, std::size_t count, const Prediction& prediction = {}) noexcept;

  // Writes all records, as core/chunk_records.hpp says, which may take chunk_bytes each; 0: that is not
  // known.
  template <class Write>
  Status write(std::size_t parts, const Write& write, std::size_t chunk_bytes = 0) {
    if (index_ == nullptr) return Status::buffer_too_small;
    const Bytes records{records_, static_cast<std::size_t>(end_ - records_)};
    if (chunk_bytes == 0) chunk_bytes = even_share(records.size(), chunks_);
    const Sized written = write_records<Records>(parts, {index_, records, chunks_, chunk_bytes}, write);
    bytes_ = written.bytes;
    return written.status;
  }

  // Completes header and frame, whose records are written; returns its size.
  std::size_t finish(FrameHeader header) noexcept;

  // The same for records of one layer each: the stored form says it in fewer bytes.
  std::size_t finish_stored(FrameHeader header) noexcept;

 private:
  Prediction prediction_;
  std::size_t chunks_, bytes_ = 0;
  std::byte *frame_, *index_ = nullptr, *records_ = nullptr, *end_;
};

// Writes `values` as they are, behind a header.
std::size_t write_stored(FrameHeader header, ConstBytes values, Bytes out) noexcept;

}  // namespace taut::planes
