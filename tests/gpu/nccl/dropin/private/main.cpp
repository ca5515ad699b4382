// Loads the module privately (RTLD_LOCAL), and calls it; a library without that function is loaded only.
// Arguments: the module; 1 if libtaut_nccl is to be loaded then, 0 if not.
#include <dlfcn.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>

int main(int, char** arguments) {
  void* const module = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
  if (module == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  const auto sum = reinterpret_cast<float (*)()>(dlsym(module, "sum_of_ranks"));
  const float value = sum != nullptr ? sum() : 3;
  const bool loaded = dlopen("libtaut_nccl.so.0", RTLD_NOW | RTLD_NOLOAD) != nullptr;
  std::printf("sum %g, libtaut_nccl is %sloaded\n", static_cast<double>(value), loaded ? "" : "not ");
  return std::abs(value - 3) <= 1e-3F && loaded == (std::atoi(arguments[2]) != 0) ? 0 : 1;
}
