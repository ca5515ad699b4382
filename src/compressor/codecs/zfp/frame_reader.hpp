// Reader of a zfp frame, and parts of a writer. The payload is extents, an index of records, and one record
// for each tile. Format: spec.md.
#pragma once

#include "compressor/codecs/zfp/tile.hpp"
#include "compressor/frame/frame.hpp"

namespace taut::zfp {

inline constexpr std::uint8_t frame_id = 5;
inline constexpr std::size_t max_count = max_frame_values;  // values in a frame
inline constexpr std::size_t entry_bytes = 4;               // bytes of an index entry

// Returns true if a frame can have this bound: an absolute one, or a rate.
bool usable(const Bound& bound) noexcept;

// Returns the bytes of the extents and the index, which precede the records.
constexpr std::size_t front_bytes(unsigned dims, std::size_t tiles) noexcept {
  return (dims > 1 ? dims * sizeof(std::uint32_t) : 0) + tiles * entry_bytes;
}
void write_extents(const Shape& shape, std::byte* to) noexcept;
void write_entry(const Record& record, std::byte* to) noexcept;  // index entry: form and size of a record

class FrameReader {
 public:
  // Checks a frame, except its records. `values`: the values that the frame is expected to hold.
  Status open(ConstBytes frame, ConstSlice values) noexcept;

  const Tiling& tiling() const noexcept { return tiling_; }

  // Decodes the next record, which holds this tile. Returns false if the record is damaged. There are as many
  // records as tiles.
  template <class T>
  bool decode_next(Scratch<T>& scratch, const View<T>& tile) noexcept;

 private:
  static bool read_shape(const FrameHeader& header, ConstBytes payload, Shape& shape) noexcept;

  Bound bound_;
  Tiling tiling_{Shape{{1, 1, 1, 0}, 1}};
  ConstBytes index_, records_;  // entries and records that decode_next() has not read
};

}  // namespace taut::zfp
