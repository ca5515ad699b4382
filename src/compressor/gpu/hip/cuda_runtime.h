// Replaces CUDA's header of this name where the sources are compiled for AMD's GPUs: CUDA's names for HIP's
// runtime. Only what src/compressor/gpu uses is here.
#pragma once

#include <hip/hip_runtime.h>

#include <cstdint>
#include <cstring>

#define __grid_constant__

// ---- What HIP has under another name

#define cudaErrorMemoryAllocation hipErrorOutOfMemory
#define cudaErrorNotReady hipErrorNotReady
#define cudaErrorNotSupported hipErrorNotSupported
#define cudaErrorStreamCaptureImplicit hipErrorStreamCaptureImplicit
#define cudaErrorUnknown hipErrorUnknown
#define cudaError_t hipError_t
#define cudaGetErrorString hipGetErrorString
#define cudaGetLastError hipGetLastError
#define cudaSuccess hipSuccess

#define cudaDevAttrMemoryPoolsSupported hipDeviceAttributeMemoryPoolsSupported
#define cudaDeviceGetAttribute hipDeviceGetAttribute
#define cudaDeviceGetStreamPriorityRange hipDeviceGetStreamPriorityRange
#define cudaGetDevice hipGetDevice
#define cudaDeviceProp hipDeviceProp_t
#define cudaGetDeviceCount hipGetDeviceCount
#define cudaGetDeviceProperties hipGetDeviceProperties
#define cudaSetDevice hipSetDevice

#define cudaFree hipFree
#define cudaFreeAsync hipFreeAsync
#define cudaFreeHost hipHostFree
#define cudaHostAlloc hipHostMalloc
#define cudaHostAllocMapped hipHostMallocMapped
#define cudaHostAllocPortable hipHostMallocPortable
#define cudaMalloc hipMalloc
#define cudaMallocFromPoolAsync hipMallocFromPoolAsync
#define cudaMemAllocationTypePinned hipMemAllocationTypePinned
#define cudaMemLocationTypeDevice hipMemLocationTypeDevice
#define cudaMemPoolAttrReleaseThreshold hipMemPoolAttrReleaseThreshold
#define cudaMemPoolCreate hipMemPoolCreate
#define cudaMemPoolDestroy hipMemPoolDestroy
#define cudaMemPoolProps hipMemPoolProps
#define cudaMemPoolSetAttribute hipMemPoolSetAttribute
#define cudaMemPoolTrimTo hipMemPoolTrimTo
#define cudaMemPool_t hipMemPool_t
#define cudaMemcpyAsync hipMemcpyAsync
#define cudaMemcpyDefault hipMemcpyDefault
#define cudaMemcpyHostToDevice hipMemcpyHostToDevice
#define cudaMemsetAsync hipMemsetAsync
#define cudaPointerAttributes hipPointerAttribute_t
#define cudaPointerGetAttributes hipPointerGetAttributes

#define cudaEventCreateWithFlags hipEventCreateWithFlags
#define cudaEventDestroy hipEventDestroy
#define cudaEventDisableTiming hipEventDisableTiming
#define cudaEventQuery hipEventQuery
#define cudaEventRecord hipEventRecord
#define cudaEvent_t hipEvent_t
#define cudaStreamCaptureMode hipStreamCaptureMode
#define cudaStreamCaptureModeRelaxed hipStreamCaptureModeRelaxed
#define cudaStreamCaptureStatus hipStreamCaptureStatus
#define cudaStreamCaptureStatusNone hipStreamCaptureStatusNone
#define cudaStreamCreateWithPriority hipStreamCreateWithPriority
#define cudaStreamDestroy hipStreamDestroy
#define cudaStreamGetCaptureInfo hipStreamGetCaptureInfo
#define cudaStreamIsCapturing hipStreamIsCapturing
#define cudaStreamNonBlocking hipStreamNonBlocking
#define cudaStreamPerThread hipStreamPerThread
#define cudaStreamQuery hipStreamQuery
#define cudaStreamSynchronize hipStreamSynchronize
#define cudaStreamWaitEvent hipStreamWaitEvent
#define cudaStream_t hipStream_t
#define cudaThreadExchangeStreamCaptureMode hipThreadExchangeStreamCaptureMode

#define cudaFuncAttributes hipFuncAttributes
#define cudaFunction_t hipFunction_t

// ---- What HIP has in another form, or lacks

template <class Kernel>
cudaError_t cudaLaunchKernel(Kernel* kernel, dim3 blocks, dim3 threads, void** arguments,
                             std::size_t shared_bytes, cudaStream_t stream) {
  return hipLaunchKernel(reinterpret_cast<const void*>(kernel), blocks, threads, arguments, shared_bytes,
                         stream);
}

template <class Kernel>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, Kernel* kernel) {
  return hipFuncGetAttributes(attributes, reinterpret_cast<const void*>(kernel));
}

// HIP loads all kernels of a library with the first one on a device.
inline cudaError_t cudaGetFuncBySymbol(cudaFunction_t*, const void*) { return cudaSuccess; }

// The number of a stream is its handle. HIP may give the handle of a destroyed stream to a new one, which
// then has the scratch memory of the old one: a program that destroys a stream waits for its work first.
inline cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
  *id = reinterpret_cast<std::uintptr_t>(stream);
  return cudaSuccess;
}

enum cudaDriverEntryPointQueryResult : int {};
constexpr unsigned cudaEnableDefault = 0;

// Finds the one function of CUDA's driver that HIP has too. HIP compares words as unsigned numbers, not
// cyclically: it waits for ever once a count has passed 2^32.
inline cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned, unsigned,
                                                    cudaDriverEntryPointQueryResult*) {
  const auto wait_value = [](hipStream_t stream, unsigned long long address, std::uint32_t value,
                             unsigned) -> int {
    return hipStreamWaitValue32(stream, reinterpret_cast<void*>(address), value, hipStreamWaitValueGte,
                                0xFFFFFFFF);
  };
  int (*const found)(hipStream_t, unsigned long long, std::uint32_t, unsigned) = wait_value;
  *function = std::strcmp(name, "cuStreamWaitValue32") == 0 ? reinterpret_cast<void*>(found) : nullptr;
  return *function != nullptr ? cudaSuccess : cudaErrorNotSupported;
}
