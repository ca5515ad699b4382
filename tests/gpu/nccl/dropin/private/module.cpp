// A module with NCCL that a program loads for itself alone, as Python loads PyTorch. One thread drives two
// ranks.
#include "gpu/nccl/dropin/private/module.hpp"
#include "support/on_gpu.hpp"

// Returns the sum of 1 and 2 over two ranks, by ncclAllReduce.
extern "C" __attribute__((visibility("default"))) float sum_of_ranks() {
  constexpr std::size_t n = 5000;
  constexpr int devices[2] = {0, 0};
  const taut::test::NcclFunctions nccl = taut::test::nccl_functions();
  ncclComm_t comms[2];
  cudaStream_t streams[2];
  if (nccl.init_all(comms, 2, devices) != ncclSuccess) return 0;
  const taut::test::OnGpu<float> x(std::vector<float>(n, 1)), y(std::vector<float>(n, 2));
  for (cudaStream_t& stream : streams) cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  nccl.group_start();
  nccl.all_reduce(x.data(), x.data(), n, ncclFloat32, ncclSum, comms[0], streams[0]);
  nccl.all_reduce(y.data(), y.data(), n, ncclFloat32, ncclSum, comms[1], streams[1]);
  nccl.group_end();
  for (const cudaStream_t stream : streams) {
    cudaStreamSynchronize(stream);
    cudaStreamDestroy(stream);
  }
  for (const ncclComm_t comm : comms) nccl.destroy(comm);
  return x.peek(n)[n - 1];
}
