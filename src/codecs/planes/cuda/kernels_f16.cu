#include "codecs/planes/cuda/kernels.cuh"

namespace taut::planes::cuda {
template __global__ void entry<EncodeKernel<f16>>(const __grid_constant__ EncodeJob<f16>);
template __global__ void entry<OpenKernel<f16>>(const __grid_constant__ OpenJob);
template __global__ void entry<DecodeKernel<f16>>(const __grid_constant__ DecodeJob<f16>);
template __global__ void entry<DecodeExactKernel<f16>>(const __grid_constant__ DecodeJob<f16>);
template __global__ void entry<SumKernel<f16>>(const __grid_constant__ SumJob<f16>);
template __global__ void entry<SumExactKernel<f16>>(const __grid_constant__ SumJob<f16>);
template __global__ void entry<FinishKernel<f16>>(const __grid_constant__ FinishJob<f16>);
}  // namespace taut::planes::cuda
