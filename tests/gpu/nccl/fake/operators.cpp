// Operators that programs create.
#include "gpu/nccl/fake/ranks.hpp"

namespace {

constexpr int first_created = 5;  // after ncclAvg

}  // namespace

ncclResult_t ncclRedOpCreatePreMulSum(ncclRedOp_t* op, void* scalar, ncclDataType_t type,
                                      ncclScalarResidence_t residence, ncclComm_t comm) {
  if (type != ncclFloat32 || residence != ncclScalarHostImmediate || comm == nullptr)
    return ncclInvalidArgument;
  int number = first_created;
  while (comm->factors.contains(number)) ++number;
  comm->factors[number] = *static_cast<const float*>(scalar);
  *op = static_cast<ncclRedOp_t>(number);
  return ncclSuccess;
}

ncclResult_t ncclRedOpDestroy(ncclRedOp_t op, ncclComm_t comm) {
  return comm != nullptr && comm->factors.erase(op) == 1 ? ncclSuccess : ncclInvalidArgument;
}
