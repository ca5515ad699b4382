#include "coder.hpp"

#include "codecs/planes/kernels.hpp"

namespace bench {
namespace {

std::unique_ptr<taut::Codec> planes(const char* kernels, double bound) {
  taut::CodecOptions options;
  options.bound = bound;
  options.kernels = kernels;
  return taut::find_codec("planes")->make(options);
}

}  // namespace

std::vector<Coder> coders() {
  std::vector<Coder> all;
  for (const taut::planes::KernelSet* set : taut::planes::kernel_sets())
    if (set->supported()) all.push_back({set->name, "planes", planes});
  for (const Coder& peer : peers()) all.push_back(peer);
  return all;
}

}  // namespace bench
