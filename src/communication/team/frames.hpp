// Frames: encoded blocks as they travel in one message, usually one block.
#pragma once

#include "communication/team/place.hpp"
#include "compressor/frame/frame.hpp"

namespace taut {

// Whole frames, one after the other, with an error frame in the place of each frame that failed. If there is
// no buffer, for lack of memory, all frames have failed.
struct Frames {
  Buffer buffer;
  std::size_t bytes = 0;  // size of the frames so far
  DType type = DType::f32;
  std::size_t count = 0;  // values in the largest frame

  // Position of the frame found last: code that walks through the frames in order reads each header once.
  struct Mark {
    std::size_t frame = 0, begin = 0;
  };
  mutable Mark mark = {};

  // Returns the bytes of `n` frames from frame `first` on; fewer or none if the frames end before.
  ConstBytes part(int first, int n) const noexcept;

  Bytes room() const noexcept { return buffer.bytes().subspan(bytes); }
};

// Returns the room of a frame of up to `bytes` among several in one buffer: each room is aligned to 64 bytes.
constexpr std::size_t frame_room(std::size_t bytes) noexcept { return (bytes + 63) / 64 * 64; }

// Writes an error frame to `out` and returns it: a frame without payload whose header holds the reason.
ConstBytes write_error_frame(Status failure, DType type, std::size_t count, Bytes out) noexcept;

// Checks one frame of a sum of up to `addends` frames. Returns ok if the frame is as expected, and otherwise
// the reason why it cannot be used.
Status inspect(ConstBytes frame, DType type, std::size_t count, std::uint32_t addends) noexcept;

// Returns the size of the frame at the start of `bytes`; 0 if there is none.
std::size_t frame_size(ConstBytes bytes) noexcept;

}  // namespace taut
