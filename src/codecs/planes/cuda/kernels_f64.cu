#include "codecs/planes/cuda/kernels.cuh"

namespace taut::planes::cuda {
template __global__ void entry<EncodeKernel<double>>(const __grid_constant__ EncodeJob<double>);
template __global__ void entry<OpenKernel<double>>(const __grid_constant__ OpenJob);
template __global__ void entry<DecodeKernel<double>>(const __grid_constant__ DecodeJob<double>);
template __global__ void entry<DecodeExactKernel<double>>(const __grid_constant__ DecodeJob<double>);
template __global__ void entry<SumKernel<double>>(const __grid_constant__ SumJob<double>);
template __global__ void entry<SumExactKernel<double>>(const __grid_constant__ SumJob<double>);
template __global__ void entry<FinishKernel<double>>(const __grid_constant__ FinishJob<double>);
}  // namespace taut::planes::cuda
