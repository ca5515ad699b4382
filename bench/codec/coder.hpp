// The codecs that are measured, each with every kernel set of this processor.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "compressor/frame/codec.hpp"

namespace bench {

struct Coder {
  std::string name;   // kernel set; any: the codec has none
  std::string codec;  // planes, szx, ..
  taut::Bound::Kind kind = taut::Bound::Kind::absolute;
  bool adds_frames = false;
  bool (*serves)(taut::DType type, taut::Bound::Kind kind) noexcept = nullptr;
  std::function<std::unique_ptr<taut::Codec>(taut::Bound bound)> make = nullptr;

  // Returns the codec's name and, where the codec serves several kinds of bound, the kind: planes, szx, mpc,
  // mpc:pointwise, zfp:rate
  std::string coding() const;
};

const char* name_of(taut::Bound::Kind kind) noexcept;

// Returns the kinds of bound at which the codec works differently, and which are measured.
std::vector<taut::Bound::Kind> measured_kinds(const taut::CodecInfo& codec);

// Returns the bound of `kind` for a field: `absolute` for absolute bounds, else the fixed bound of the kind.
taut::Bound bound_of(taut::Bound::Kind kind, double absolute) noexcept;

// Returns all registered codecs, the best kernel set of each first.
std::vector<Coder> coders();

// Returns the codec's kernel sets that this processor runs, best first; empty: the codec has none.
std::vector<std::string> kernel_sets(const taut::CodecInfo& codec);

}  // namespace bench
