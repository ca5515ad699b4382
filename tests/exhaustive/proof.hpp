// A proof: one codec under one bound, with one predictor, over all patterns of one type.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compressor/frame/codec.hpp"

namespace taut::exhaustive {

enum class Surroundings : std::uint8_t {
  alike,  // patterns in their order, 65536 in a frame
  noise,  // every eighth value of a frame is a pattern; the others are noise of some size
  none,   // a frame for each pattern
};

struct Proof {
  const CodecInfo* codec;
  DType type;
  Bound bound;
  Surroundings surroundings;
  std::string predictor = "auto";

  std::string name() const;
};

// Returns a proof for every codec with every kind of bound and every real type that the codec serves. Where
// the codec is exact, each of its predictors with lags has a proof of its own: `auto` chooses none without
// extents.
std::vector<Proof> all_proofs();

struct Findings {
  std::uint64_t values = 0, violations = 0;
  double worst = 0;           // greatest error / allowed error
  std::string first_example;  // first violation

  void add(const Findings& other);
};

// Checks the patterns [first, first + count). `codec` is the proof's codec.
Findings prove(const Proof& proof, const Codec& codec, std::uint64_t first, std::uint64_t count);

std::unique_ptr<Codec> codec_of(const Proof& proof);

}  // namespace taut::exhaustive
