#include "peers.hpp"

namespace bench {
namespace {

constexpr bool has_zfp = BENCH_ZFP, has_zstd = BENCH_ZSTD;  // set by CMake

}  // namespace

std::vector<Coder> peers() {
  std::vector<Coder> found;
  if constexpr (has_zfp) found.push_back(zfp());
  if constexpr (has_zstd) found.push_back(zstd());
  return found;
}

std::string missing_peers() {
  std::string names = has_zfp ? "" : "zfp (libzfp-dev)";
  if (!has_zstd) names += names.empty() ? "zstd (libzstd-dev)" : ", zstd (libzstd-dev)";
  return names;
}

}  // namespace bench
