// Values on which commands measure codecs.
#pragma once

#include "cli/input.hpp"
#include "compressor/file/coding.hpp"

namespace taut::cli {

// Values of a measurement, which one frame holds, and the name that its table shows.
struct Subject {
  std::string name;
  DType type;
  Piece piece;
  Room values;

  ConstSlice slice() const { return {{values.all().data(), piece.count(), type}}; }
};

// Returns the middle part of the array in a file, at most 2^22 values. Throws Failure.
Subject subject_of(const std::string& path, const Arguments& arguments);

// Returns the values for commands that are given no file: three waves plus noise of a thousandth, the same on
// every machine.
Subject built_in_subject();

}  // namespace taut::cli
