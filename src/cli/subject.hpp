// Values on which commands measure codecs.
#pragma once

#include "cli/input.hpp"
#include "compressor/file/coding.hpp"

namespace taut::cli {

// Input of a measurement: one frame's worth of values.
struct Subject {
  std::string name;
  DType type;
  Piece piece;
  Room values;

  ConstSlice slice() const { return {{values.all().data(), piece.count(), type}}; }
};

// Returns the middle part of the array in a file, at most 2^22 values. Throws Failure.
Subject subject_of(const std::string& path, const Arguments& arguments);

// Returns three waves plus noise of a thousandth. The noise comes from a generator of its own, so that the
// values are the same on every machine.
Subject built_in();

}  // namespace taut::cli
