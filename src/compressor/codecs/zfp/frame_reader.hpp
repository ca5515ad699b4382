// A zfp frame: extents, an index of records, the records. Format: spec.md.
#pragma once

#include "compressor/codecs/zfp/tile.hpp"
#include "compressor/frame/frame.hpp"

namespace taut::zfp {

inline constexpr std::uint8_t frame_id = 5;
inline constexpr std::size_t max_count = most_frame_values, entry_bytes = 4;

// Returns true if the codec has frames for this bound.
bool usable(const Bound& bound) noexcept;

// Returns the bytes before the records.
constexpr std::size_t front_bytes(unsigned dims, std::size_t tiles) noexcept {
  return (dims > 1 ? dims * sizeof(std::uint32_t) : 0) + tiles * entry_bytes;
}
void write_extents(const Shape& shape, std::byte* to) noexcept;
void write_entry(const Record& record, std::byte* to) noexcept;

class FrameReader {
 public:
  // Checks everything except the records. `values`: the values that the frame is expected to hold.
  Status open(ConstBytes frame, ConstSlice values) noexcept;

  const Tiling& grid() const noexcept { return grid_; }

  // Decodes the next record, which holds this tile. Returns false if the record is damaged. There are as many
  // records as tiles.
  template <class T>
  bool decode_next(Scratch<T>& scratch, const View<T>& tile) noexcept;

 private:
  static bool read_shape(const FrameHeader& header, ConstBytes payload, Shape& shape) noexcept;

  Bound bound_;
  Tiling grid_{Shape{{1, 1, 1, 0}, 1}};
  ConstBytes index_, records_;  // the remaining entries and records
};

}  // namespace taut::zfp
