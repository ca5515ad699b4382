// Interface of libtaut_cuda for libtaut, which does not depend on CUDA itself.
#pragma once

#include <taut/taut_cuda.h>

#include <string>

namespace taut::api {

// Table of functions that libtaut_cuda provides. All of them work on the default stream of the thread's
// device. The functions return 0 or a status of taut_cuda.h.
struct DeviceServices {
  unsigned version;  // device_services_version of the library that has created the table
  decltype(&TAUT_Cuda_available) available;
  const char* (*why)();  // text of the last TAUT_ERR_CUDA in this thread

  int (*device_of)(const void* memory, int* device);
  int (*use)(int device, int* before);  // makes `device` the current device of this thread
  int (*allocate)(void** memory, std::size_t bytes);
  void (*free)(void* memory);
  int (*copy)(void* to, const void* from, std::size_t bytes);  // waits also for all work launched before
  int (*wait)(void* stream);

  decltype(&TAUT_Encode_cuda) encode;
  decltype(&TAUT_Decode_cuda) decode;
  decltype(&TAUT_Frame_add_cuda) add_frames;
  decltype(&TAUT_Encode_lagged_cuda) encode_lagged;
  decltype(&TAUT_Decode_lagged_cuda) decode_lagged;
  decltype(&TAUT_Encode_lossless_cuda) encode_lossless;
  decltype(&TAUT_Decode_lossless_cuda) decode_lossless;
};

inline constexpr unsigned device_services_version = 2;

// Returns the table of libtaut_cuda, which is opened at the first call. Throws Error(invalid_argument) if the
// library, or a device that it can use, is missing; the error text begins with `what`, the name of the
// argument that is in GPU memory.
const DeviceServices& device_services(const std::string& what);

}  // namespace taut::api

extern "C" TAUT_CUDA_API const taut::api::DeviceServices* TAUT_Cuda_services(void);
