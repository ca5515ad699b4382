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
  bool within_bound;
};

// Runs one trial. Throws taut::Error if the codec fails.
TrialResult run_trial(const Trial& trial, const FieldPart& part, double seconds);

// Adds the frames of a field and of the same field, shifted by half of its slowest extent. Returns how many
// chunks took which way, as a row of JSON. Throws taut::Error.
std::string count_pipelines(const RealField& field, double of_range);

}  // namespace bench
