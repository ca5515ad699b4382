// Functions of NCCL by their names, as PyTorch is linked.
#include "gpu/nccl/dropin/private/module.hpp"

taut::test::NcclFunctions taut::test::nccl_functions() {
  return {ncclCommInitAll, ncclGroupStart, ncclAllReduce, ncclGroupEnd, ncclCommDestroy};
}
