// The codecs that are measured: those of Taut with each kernel set of this processor, and public peers.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "compressor/frame/codec.hpp"

namespace bench {

struct Coder {
  std::string name;   // kernel set; any: the codec has none; peer: its library
  std::string codec;  // planes, szx, ..; peer: the same as `name`
  taut::Bound::Kind kind = taut::Bound::Kind::absolute;
  bool peer = false;
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

// Returns all registered codecs, the best kernel set of each first, then the peers.
std::vector<Coder> coders();

// Returns the codec's kernel sets that this processor runs, best first; empty: the codec has none.
std::vector<std::string> kernel_sets(const taut::CodecInfo& codec);

// peers() returns the peers that this build found, as codecs that neither reduce nor add; missing_peers()
// lists the others as text.
std::vector<Coder> peers();
std::string missing_peers();

}  // namespace bench
