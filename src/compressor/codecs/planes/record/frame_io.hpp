// A planes frame as a sequence of chunks. Reading checks every offset; writing stays within a given capacity.
#pragma once

#include "compressor/codecs/planes/record/record.hpp"
#include "compressor/frame/chunk_records.hpp"
#include "compressor/frame/frame.hpp"
#include "compressor/frame/references.hpp"

namespace taut::planes {

inline constexpr std::uint8_t frame_id = 2;

// Copy of the planes of a record near the end of a frame, with bytes behind it that kernels may read.
struct PaddedPlanes {
  alignas(64) std::byte bytes[chunk_values * sizeof(std::int32_t) + overrun];
};

// Returns the number of lags that a frame may have: behind references one, unless each addend has its own.
constexpr unsigned max_lags_of(const Prediction& prediction) noexcept {
  if (prediction.references == 0) return max_lags;
  return prediction.by_addend ? 0 : 1;
}

template <class T>
class FrameReader {
 public:
  // Opens and checks a frame of values of type T, or of complex values with parts of type T.
  Status open(ConstBytes frame) noexcept;

  const FrameHeader& header() const noexcept { return header_; }
  const Prediction& prediction() const noexcept { return prediction_; }
  const StateNumbers& states() const noexcept { return states_; }
  bool stored() const noexcept { return header_.has(FrameHeader::stored); }
  bool holds(DType type, std::size_t count) const noexcept {
    return header_.type == type && header_.count == count;
  }
  std::size_t count() const noexcept { return count_; }  // number of components of type T
  std::size_t chunks() const noexcept { return chunks_of(count_); }
  std::size_t chunk_count(std::size_t i) const noexcept {
    return std::min(chunk_values, count_ - i * chunk_values);
  }

  // Returns the values of chunk i of a stored frame.
  const std::byte* stored_values(std::size_t i) const noexcept {
    return payload_.data() + i * chunk_values * sizeof(T);
  }

  // Reads the record of chunk i of a frame that is not stored. Kernels may read `overrun` bytes beyond the
  // planes of a record that is not wide, so those of a record near the end are copied to `padding`.
  Status read(std::size_t i, const WidthKernels& kernels, Record<T>& record,
              PaddedPlanes& padding) const noexcept;

 private:
  bool read_prediction() noexcept;
  std::uint8_t refused_flags() const noexcept;

  FrameHeader header_;
  Prediction prediction_;
  StateNumbers states_;  // of the references: compressor/frame/references.hpp
  ConstBytes payload_;   // starts at the index
  std::size_t count_ = 0;
};

// Writer of the records of a frame. Flag `two_bits` of table_flags() asks finish_planes() to consider a table
// with three named widths, or with a sparse bitmap; only frames with references have these.
class PlaneRecordWriter : public RecordWriter<max_plane_record<std::int32_t>> {
 public:
  using RecordWriter::RecordWriter;

  std::uint8_t table_flags() const noexcept { return table_flags_; }
  void set_table_flags(std::uint8_t flags) noexcept { table_flags_ = flags; }

 private:
  std::uint8_t table_flags_ = 0;
};

// Writer of the index and the records of a frame into `out`.
class FrameWriter {
 public:
  FrameWriter(Bytes out, std::size_t count, const Prediction& prediction = {},
              const StateNumbers& states = {}) noexcept;

  // Writes all records, with one thread for each of `parts` ranges of chunks. write(chunks, writer) appends
  // the records of a range and returns a Status. `chunk_bytes`: size of the largest record; 0: not known.
  template <class Write>
  Status write(std::size_t parts, const Write& write, std::size_t chunk_bytes = 0) {
    if (index_ == nullptr) return Status::buffer_too_small;
    const Bytes records{records_, static_cast<std::size_t>(end_ - records_)};
    if (chunk_bytes == 0) chunk_bytes = even_share(records.size(), chunks_);
    const auto write_part = [&](Range chunks, PlaneRecordWriter& writer) {
      writer.set_table_flags(prediction_.references > 0 ? two_bits : 0);
      return write(chunks, writer);
    };
    const SizeOrStatus written =
        write_records<PlaneRecordWriter>(parts, {index_, records, chunks_, chunk_bytes}, write_part);
    bytes_ = written.bytes;
    return written.status;
  }

  // Completes header and frame after the records are written; returns the frame's size.
  std::size_t finish(FrameHeader header) noexcept;

  // Completes a frame whose records are one raw layer each, as a stored frame, which takes fewer bytes.
  std::size_t finish_stored(FrameHeader header) noexcept;

 private:
  Prediction prediction_;
  std::size_t chunks_, bytes_ = 0;
  std::byte *frame_, *index_ = nullptr, *records_ = nullptr, *end_;
};

}  // namespace taut::planes
