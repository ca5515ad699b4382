// Who codes: the kernel sets of Taut on this processor, and its peers.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/codec.hpp"

namespace bench {

struct Coder {
  std::string name;   // of the kernel set, or of the peer
  std::string codec;  // planes; zfp, zstd
  std::unique_ptr<taut::Codec> (*make)(const char* name, double bound);

  bool peer() const { return codec == name; }
  std::unique_ptr<taut::Codec> at(double bound) const { return make(name.c_str(), bound); }
};

// Best kernel set first, peers last.
std::vector<Coder> coders();

// The peers that were found when this was built, as codecs that neither reduce nor add; and, for a person,
// those that were not.
std::vector<Coder> peers();
std::string missing_peers();

}  // namespace bench
