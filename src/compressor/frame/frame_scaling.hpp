// Operations on one frame that need no codec options. A codec that adds frames may implement them.
#pragma once

#include "compressor/frame/codec.hpp"
#include "compressor/values/value_statistics.hpp"

namespace taut {

class FrameScaling {
 public:
  virtual ~FrameScaling() = default;

  // Computes out <- factor * frame, as TAUT_Frame_scale promises, for a finite factor other than 0. `out`
  // holds max_bytes of the frame's type, count and addends. Returns invalid_argument if no frame can hold the
  // result.
  virtual SizeOrStatus scale(ConstBytes frame, double factor, Bytes out) const noexcept = 0;

  // Adds the decoded values of a frame of real numbers to `statistics`.
  virtual Status summarize(ConstBytes frame, ValueStatistics& statistics) const noexcept = 0;

  // Returns null for a codec without these operations.
  static const FrameScaling* of(const Codec& codec) noexcept {
    return dynamic_cast<const FrameScaling*>(&codec);
  }
};

}  // namespace taut
