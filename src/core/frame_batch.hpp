// Frames of several blocks that travel in one message.
#pragma once

#include "core/frame.hpp"
#include "core/place.hpp"

namespace taut {

// Whole frames, one after the other, notices among them for those that failed. Without a buffer, because no
// memory was left for it, all of them have failed.
struct FrameBatch {
  Buffer buffer;
  std::size_t bytes = 0;  // of the frames so far
  DType type = DType::f32;
  std::size_t count = 0;      // values in the largest frame
  std::uint32_t addends = 1;  // of each frame

  // Where a frame was found last: who goes through a bundle in order looks at each header once.
  struct Mark {
    std::size_t frame = 0, begin = 0;
  };
  mutable Mark mark = {};

  // The bytes of `n` frames from frame `first` on; fewer or none if the bundle ends before.
  ConstBytes frames(std::size_t first, std::size_t n) const noexcept;

  Bytes room() const noexcept { return buffer.bytes().subspan(bytes); }
};

// ---- Frames as they come in

// A frame without a payload that says why there is none.
ConstBytes write_notice(Status failure, DType type, std::size_t count, Bytes out) noexcept;

// Why a frame that came in, or was found in a bundle, cannot be used. ok: it is what was expected.
Status inspect(ConstBytes bytes, DType type, std::size_t count, std::uint32_t addends) noexcept;

// The size of the frame at the start of `bytes`; 0 when there is none.
std::size_t frame_size(ConstBytes bytes) noexcept;

}  // namespace taut
