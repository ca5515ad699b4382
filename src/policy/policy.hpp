// What the user asked for, read from a policy string (grammar: include/taut/taut.h).
#pragma once

#include <string>
#include <string_view>

#include "core/algorithm.hpp"

namespace taut {

// How values are coded; the part of a policy that the codec calls know as well.
struct Coding {
  const CodecInfo* codec = nullptr;  // never null once read
  bool codec_named = false;          // by the user; else chosen
  std::string predictor = "auto";
  bool checksum = false;

  CodecOptions options(double bound, const std::string& kernels) const noexcept {
    return {.bound = bound, .checksum = checksum, .predictor = predictor.c_str(), .kernels = kernels.c_str()};
  }
};

struct Policy {
  enum class Kind { off, lossless, absolute };
  enum class Reducing { automatic, frames, values };

  std::string text;  // as given
  Kind kind = Kind::off;
  double bound = 0;       // absolute, in units of the values
  bool on_input = false;  // the bound holds for each rank's contribution; else for the result
  Coding coding;
  bool adds_frames = false;  // of the codec's contract, as is the next
  bool idempotent = false;
  std::string algorithm;  // empty: chosen by size
  Reducing reducing = Reducing::automatic;
  int segments = 0;  // 0: chosen by size
  std::size_t min_bytes = std::size_t{64} << 10;
};

// Both throw Error(invalid_policy) naming the option, its column and the remedy.
Policy parse_policy(std::string_view text);
Coding parse_coding(std::string_view text, double bound);  // options only, no bound in the text

}  // namespace taut
