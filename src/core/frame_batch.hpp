// Frame batch: frames of several blocks that travel in one message.
#pragma once

#include "core/frame.hpp"
#include "core/place.hpp"

namespace taut {

// Whole frames, one after the other, with a notice in the place of each frame that failed. If there is no
// buffer, for lack of memory, all frames have failed.
struct FrameBatch {
  Buffer buffer;
  std::size_t bytes = 0;  // size of the frames so far
  DType type = DType::f32;
  std::size_t count = 0;      // values in the largest frame
  std::uint32_t addends = 1;  // addends of each frame

  // Position of the frame found last: code that walks through a batch in order reads each header once.
  struct Mark {
    std::size_t frame = 0, begin = 0;
  };
  mutable Mark mark = {};

  // Returns the bytes of `n` frames from frame `first` on; fewer or none if the batch ends before.
  ConstBytes frames(std::size_t first, std::size_t n) const noexcept;

  Bytes room() const noexcept { return buffer.bytes().subspan(bytes); }
};

// ---- Received frames

// Writes a notice to `out` and returns it: a frame without payload whose header holds the reason.
ConstBytes write_notice(Status failure, DType type, std::size_t count, Bytes out) noexcept;

// Checks a received frame, or a frame of a batch. Returns ok if the frame is as expected, and otherwise the
// reason why it cannot be used.
Status inspect(ConstBytes bytes, DType type, std::size_t count, std::uint32_t addends) noexcept;

// Returns the size of the frame at the start of `bytes`; 0 if there is none.
std::size_t frame_size(ConstBytes bytes) noexcept;

}  // namespace taut
