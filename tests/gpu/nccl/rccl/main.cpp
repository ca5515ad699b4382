// Program without NCCL: the loader finds librccl.so.1 alone, which has NCCL's functions under NCCL's names.
#include <dlfcn.h>

#include <cstdio>
#include <cstring>

#include "communication/nccl/library.hpp"

int main() {
  void* const function = taut::nccl::find_function("ncclCommCount");
  Dl_info where{};
  if (function == nullptr || dladdr(function, &where) == 0) return 1;
  std::printf("ncclCommCount is in %s\n", where.dli_fname);
  return std::strstr(where.dli_fname, "librccl.so.1") != nullptr ? 0 : 1;
}
