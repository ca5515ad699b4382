#include "codecs/planes/cuda/kernels.cuh"

namespace taut::planes::cuda {
template __global__ void entry<EncodeKernel<float>>(const __grid_constant__ EncodeJob<float>);
template __global__ void entry<OpenKernel<float>>(const __grid_constant__ OpenJob);
template __global__ void entry<DecodeKernel<float>>(const __grid_constant__ DecodeJob<float>);
template __global__ void entry<DecodeExactKernel<float>>(const __grid_constant__ DecodeJob<float>);
template __global__ void entry<SumKernel<float>>(const __grid_constant__ SumJob<float>);
template __global__ void entry<SumExactKernel<float>>(const __grid_constant__ SumJob<float>);
template __global__ void entry<FinishKernel<float>>(const __grid_constant__ FinishJob<float>);
}  // namespace taut::planes::cuda
