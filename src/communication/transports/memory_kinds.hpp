// Kinds of memory that an MPI accesses, as its key mpi_memory_alloc_kinds lists them (MPI 4.1,
// section 12.4.3).
#pragma once

#include <algorithm>
#include <string_view>

namespace taut {

// Returns true if a list such as "mpi,system,cuda:host:device" contains memory of CUDA devices. A kind
// without restrictors has all kinds of memory of its system.
constexpr bool lists_cuda_devices(std::string_view kinds) noexcept {
  while (!kinds.empty()) {
    const std::string_view kind = kinds.substr(0, kinds.find(','));
    kinds.remove_prefix(std::min(kinds.size(), kind.size() + 1));
    if (kind == "cuda") return true;
    if (!kind.starts_with("cuda:")) continue;
    for (std::string_view rest = kind.substr(4); !rest.empty();) {
      rest.remove_prefix(1);
      const std::string_view restrictor = rest.substr(0, rest.find(':'));
      if (restrictor == "device") return true;
      rest.remove_prefix(restrictor.size());
    }
  }
  return false;
}

}  // namespace taut
