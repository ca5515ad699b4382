// Functions of NCCL by the handle of its library, as ctypes finds them for vLLM and SGLang.
#include <dlfcn.h>

#include "gpu/nccl/dropin/private/module.hpp"

namespace taut::test {
namespace {

template <class Function>
void find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
}

}  // namespace

NcclFunctions nccl_functions() {
  void* const library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
  NcclFunctions all;
  find(library, "ncclCommInitAll", all.init_all);
  find(library, "ncclGroupStart", all.group_start);
  find(library, "ncclAllReduce", all.all_reduce);
  find(library, "ncclGroupEnd", all.group_end);
  find(library, "ncclCommDestroy", all.destroy);
  return all;
}

}  // namespace taut::test
