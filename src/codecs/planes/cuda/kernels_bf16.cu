#include "codecs/planes/cuda/kernels.cuh"

namespace taut::planes::cuda {
template __global__ void entry<EncodeKernel<bf16>>(const __grid_constant__ EncodeJob<bf16>);
template __global__ void entry<OpenKernel<bf16>>(const __grid_constant__ OpenJob);
template __global__ void entry<DecodeKernel<bf16>>(const __grid_constant__ DecodeJob<bf16>);
template __global__ void entry<DecodeExactKernel<bf16>>(const __grid_constant__ DecodeJob<bf16>);
template __global__ void entry<SumKernel<bf16>>(const __grid_constant__ SumJob<bf16>);
template __global__ void entry<SumExactKernel<bf16>>(const __grid_constant__ SumJob<bf16>);
template __global__ void entry<FinishKernel<bf16>>(const __grid_constant__ FinishJob<bf16>);
}  // namespace taut::planes::cuda
