// Who codes: the codecs of Taut with each kernel set of this processor, and its peers.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/codec.hpp"

namespace bench {

struct Coder {
  std::string name;   // of the kernel set; any: the codec has none; of a peer: that of its library
  std::string codec;  // planes, szx, ..; of a peer the same as `name`
  taut::Bound::Kind kind = taut::Bound::Kind::absolute;
  bool peer = false;
  bool adds_frames = false;
  bool (*serves)(taut::DType type, taut::Bound::Kind kind) noexcept = nullptr;
  std::function<std::unique_ptr<taut::Codec>(taut::Bound bound)> make = nullptr;

  // The codec and, where it serves several, the kind of bound: planes, szx, mpc, mpc:pointwise, zfp:rate
  std::string coding() const;
};

const char* name_of(taut::Bound::Kind kind) noexcept;

// What of the codec is measured: the kinds of bound at which it works differently.
std::vector<taut::Bound::Kind> measured_kinds(const taut::CodecInfo& codec);

// Of a field whose absolute bound is `absolute`: that, or the one bound of the kind.
taut::Bound bound_of(taut::Bound::Kind kind, double absolute) noexcept;

// All registered codecs, then the peers; of each codec the best kernel set first.
std::vector<Coder> coders();

// Of those that this processor runs, best first; empty: the codec has none.
std::vector<std::string> kernel_sets(const taut::CodecInfo& codec);

// The peers that were found when this was built, as codecs that neither reduce nor add; and, for a person,
// those that were not.
std::vector<Coder> peers();
std::string missing_peers();

}  // namespace bench
