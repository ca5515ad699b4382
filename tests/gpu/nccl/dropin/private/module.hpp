// The functions of NCCL that a module calls.
#pragma once

#include "gpu/nccl/fake/nccl.h"

namespace taut::test {

struct NcclFunctions {
  decltype(&ncclCommInitAll) init_all;
  decltype(&ncclGroupStart) group_start;
  decltype(&ncclAllReduce) all_reduce;
  decltype(&ncclGroupEnd) group_end;
  decltype(&ncclCommDestroy) destroy;
};

NcclFunctions nccl_functions();  // linked.cpp, by_handle.cpp

}  // namespace taut::test
