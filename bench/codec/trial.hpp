// One codec under one bound on one part of a real field: speeds, ratio, quality, sums.
#pragma once

#include "compressor/base/json.hpp"
#include "compressor/frame/codec.hpp"
#include "real_field.hpp"

namespace bench {

// A part of a field: the two operands of a sum. `name`: 1MiB, whole.
struct FieldPart {
  FieldPart(const RealField& field, std::string name, std::size_t count);

  taut::ConstSlice operand(unsigned k) const noexcept { return {{operands[k].data(), count, field.type()}}; }
  std::size_t bytes() const noexcept { return count * size_of(field.type()); }

  const RealField& field;
  std::string name;
  std::size_t count;
  Buffer operands[2];
};

struct Trial {
  const taut::CodecInfo& codec;
  taut::Bound bound;
  double of_range;  // the bound in units of the field's range; 0: another kind of bound
  bool knows_dims;  // true if the codec gets the extents
  int threads = 1;  // threads for one frame
};

struct TrialResult {
  std::string json;  // a row of the report
  std::string line;  // for people
  bool within_bound;
};

// Runs one trial. Throws taut::Error if the codec fails.
TrialResult run_trial(const Trial& trial, const FieldPart& part, double seconds);

}  // namespace bench
