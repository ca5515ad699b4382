// Errors of the runtime. The last error of a thread stays until cudaGetLastError returns it.
#include "gpu/kernels/on_host/runtime.hpp"

namespace {

thread_local cudaError_t last_error = cudaSuccess;

}  // namespace

namespace taut::on_host {

cudaError_t noted(cudaError_t error) {
  if (error != cudaSuccess) last_error = error;
  return error;
}

}  // namespace taut::on_host

const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
    case cudaSuccess: return "no error";
    case cudaErrorInvalidValue: return "invalid argument";
    case cudaErrorMemoryAllocation: return "out of memory";
    case cudaErrorInvalidConfiguration: return "invalid configuration argument";
    case cudaErrorInvalidDevice: return "invalid device ordinal";
    case cudaErrorInvalidResourceHandle: return "invalid resource handle";
    case cudaErrorNotReady: return "device not ready";
    case cudaErrorIllegalAddress: return "an illegal memory access was encountered";
    case cudaErrorLaunchOutOfResources: return "too many resources requested for launch";
    case cudaErrorNotPermitted: return "operation not permitted";
    case cudaErrorNotSupported: return "operation not supported";
    case cudaErrorStreamCaptureUnsupported: return "operation not permitted when stream is capturing";
    case cudaErrorStreamCaptureInvalidated: return "operation failed due to a previous error during capture";
    case cudaErrorStreamCaptureUnmatched: return "capture was not initiated in this stream";
    case cudaErrorStreamCaptureUnjoined: return "capturing stream has unjoined work";
    case cudaErrorStreamCaptureIsolation: return "dependency created on uncaptured work in another stream";
    case cudaErrorStreamCaptureImplicit: return "operation would make the legacy stream depend on a capture";
    default: return "unknown error";
  }
}

cudaError_t cudaPeekAtLastError() { return last_error; }

// A fault of a kernel cannot be cleared.
cudaError_t cudaGetLastError() {
  const cudaError_t error = last_error;
  last_error = stand_in_faulted() != 0 ? cudaErrorIllegalAddress : cudaSuccess;
  return error;
}
