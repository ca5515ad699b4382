// A planes frame as a sequence of chunks: reading with every offset checked, writing within a given capacity.
#pragma once

#include "codecs/planes/record.hpp"
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

// Appends records behind the index, never beyond `out`. Writes the prediction into the header.
class FrameWriter {
 public:
  FrameWriter(Bytes out, std::size_t count, const Prediction& prediction = {}) noexcept;

  // Room for a record of up to max_plane_record<int32>, in place or aside; commit takes it over. False: out
  // is full.
  std::byte* room() noexcept { return left() >= sizeof aside_ ? at_ : aside_; }
  bool commit(std::size_t bytes) noexcept;

  // For records written in place: where, how much fits, and that `bytes` now stand there.
  std::byte* at() noexcept { return at_; }
  std::size_t left() const noexcept { return static_cast<std::size_t>(end_ - at_); }
  bool advance(std::size_t bytes) noexcept;

  // A part of the frame: the records of these chunks go to `room`, which lies where `whole` has room. The
  // whole then takes them over: shift says where they came to lie, take how many bytes there are.
  FrameWriter(const FrameWriter& whole, Range chunks, Bytes room) noexcept;
  Bytes records() const noexcept { return {records_, static_cast<std::size_t>(end_ - records_)}; }
  std::size_t bytes() const noexcept { return static_cast<std::size_t>(at_ - records_); }
  void shift(Range chunks, std::size_t bytes) noexcept;
  void take(std::size_t chunks, std::size_t bytes) noexcept;

  // Completes header and frame; returns its size, 0 when `out` could not even hold the index.
  std::size_t finish(FrameHeader header) noexcept;

  // The same for records of one layer each: the stored form says it in fewer bytes.
  std::size_t finish_stored(FrameHeader header) noexcept;

 private:
  FrameWriter(const FrameWriter&) = delete;

  Prediction prediction_;
  std::byte *frame_, *index_, *records_, *at_, *end_;
  alignas(64) std::byte aside_[max_plane_record<std::int32_t>];
};

// Writes `values` as they are, behind a header.
std::size_t write_stored(FrameHeader header, ConstBytes values, Bytes out) noexcept;

}  // namespace taut::planes
