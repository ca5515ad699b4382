// Reader of a szx frame as a sequence of chunks, and memory for writing one. The index precedes the records,
// so that any chunk can be decoded separately, and the first chunks as soon as they have arrived.
#pragma once

#include "compressor/codecs/szx/grid.hpp"
#include "compressor/frame/chunk_records.hpp"
#include "compressor/frame/frame.hpp"

namespace taut::szx {

constexpr std::size_t max_frame_bytes(std::size_t value_bytes, std::size_t count) noexcept {
  return frame_header_bytes + count * value_bytes;
}

template <class T>
class FrameReader {
 public:
  // Checks header, payload and index, but not the records.
  Status open(ConstBytes frame) noexcept;

  std::size_t count() const noexcept { return static_cast<std::size_t>(header_.count); }
  bool stored() const noexcept { return header_.has(FrameHeader::stored); }
  ConstBytes payload() const noexcept { return payload_; }  // values of a stored frame
  Grid<T> grid() const noexcept {
    return Grid<T>::with_step(header_.bound.value, static_cast<T>(header_.step));
  }

  std::size_t chunks() const noexcept { return chunks_of(count()); }
  std::size_t chunk_count(std::size_t i) const noexcept {
    return std::min(chunk_values, count() - i * chunk_values);
  }
  ConstBytes record(std::size_t i) const noexcept {
    const std::size_t first = i == 0 ? 0 : end_of(i - 1);
    return payload_.subspan(4 * chunks() + first, end_of(i) - first);
  }

 private:
  std::size_t end_of(std::size_t i) const noexcept {
    return 4 * std::size_t{load<std::uint32_t>(payload_.data() + 4 * i)};
  }

  FrameHeader header_;
  ConstBytes payload_;
};

template <class T>
Status FrameReader<T>::open(ConstBytes frame) noexcept {
  if (const Status s = open_frame(frame, frame_id, header_, payload_); s != Status::ok) return s;
  if (header_.type != dtype_of<T>) return Status::frame_mismatch;
  if (header_.addends != 1 || std::bit_cast<std::uint32_t>(header_.parameters) != 0)
    return Status::corrupt_frame;
  if (stored()) return payload_.size() == count() * sizeof(T) ? Status::ok : Status::corrupt_frame;

  if (!Grid<T>::is_step(header_.step) || payload_.size() < 4 * chunks()) return Status::corrupt_frame;
  const bool fit = ends_fit(payload_.data(), chunks(), payload_.size() - 4 * chunks());
  return fit ? Status::ok : Status::corrupt_frame;
}

// Returns the memory for the records of a frame of `count` values. It is smaller than the values, so that a
// frame is never longer than a stored one.
template <class T>
RecordRoom record_room(Bytes frame, std::size_t count) noexcept {
  const std::size_t chunks = chunks_of(count), before = frame_header_bytes + 4 * chunks,
                    max_bytes = max_frame_bytes(sizeof(T), count) - record_unit,
                    room = max_bytes > before ? max_bytes - before : 0;
  return {frame.data() + frame_header_bytes, frame.subspan(before, room), chunks, even_share(room, chunks)};
}

}  // namespace taut::szx
