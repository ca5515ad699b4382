// A zfp frame: extents, an index of pieces, the pieces. Format: spec.md.
#pragma once

#include "compressor/codecs/zfp/piece.hpp"
#include "compressor/frame/frame.hpp"

namespace taut::zfp {

inline constexpr std::uint8_t frame_id = 5;
inline constexpr std::size_t max_count = most_frame_values, entry_bytes = 4;

// Returns true if the codec has frames for this bound.
bool usable(const Bound& bound) noexcept;

// Returns the bytes before the pieces.
constexpr std::size_t front_bytes(unsigned dims, std::size_t boxes) noexcept {
  return (dims > 1 ? dims * sizeof(std::uint32_t) : 0) + boxes * entry_bytes;
}
void write_extents(const Shape& shape, std::byte* to) noexcept;
void write_entry(const Piece& piece, std::byte* to) noexcept;

class FrameReader {
 public:
  // Checks everything except the pieces. `values`: the values that the frame is expected to hold.
  Status open(ConstBytes frame, ConstSlice values) noexcept;

  const Grid& grid() const noexcept { return grid_; }

  // Decodes the next piece, which holds this box. Returns false if the piece is damaged. There are as many
  // pieces as boxes.
  template <class T>
  bool decode_next(Scratch<T>& scratch, const View<T>& box) noexcept;

 private:
  static bool read_shape(const FrameHeader& header, ConstBytes payload, Shape& shape) noexcept;

  Bound bound_;
  Grid grid_{Shape{{1, 1, 1, 0}, 1}};
  ConstBytes index_, pieces_;  // the remaining entries and pieces
};

}  // namespace taut::zfp
