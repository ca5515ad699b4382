// Interface of libtaut_cuda for libtaut, which does not depend on CUDA itself.
#pragma once

#include <taut/taut_cuda.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "compressor/frame/lags.hpp"

namespace taut::api {

// Kind of memory.
enum class MemoryKind {
  pinned,  // of the host; every device accesses it at the same address. Aligned to 64 bytes
  pooled,  // of the current device, from a memory pool; not for MPI and NCCL, which may share memory with
           // other processes and devices by means that pools lack
  plain    // of the current device, by cudaMalloc: for frames that MPI or NCCL sends
};

// Range of values that a kernel has found, in pinned memory. `done` becomes 1 once the other members are
// written.
struct DeviceRange {
  double least, greatest;  // of the finite values; `greatest` is below `least` if there are none
  std::uint32_t status;    // as in TAUT_Cuda_result
  std::uint32_t done;
};

// A frame among several that one call encodes or decodes, and its values.
struct DeviceFrameItem {
  void* values;
  std::size_t count;
  void* frame;
  std::size_t bytes;  // encoding: room at `frame`, at least the codec's max_bytes; decoding: readable bytes
  TAUT_Cuda_result* result;
};

// Coding of mpc frames.
struct LosslessCoding {
  int distance;     // 0 to 8; 0: words are not predicted inside a chunk
  double relative;  // bound that mantissas are rounded to; 0: no rounding
  bool exact_bits;  // packed integers are not rounded (bits=exact)
  Lags lags;        // in values
};

// Table of functions that libtaut_cuda provides. The functions work on the thread's current device, and
// return 0 or a status of taut_cuda.h. Those with a `stream`, except `wait` and `query`, only enqueue work; a
// null stream is the legacy default stream. Host threads may use the same stream: functions whose kernels
// share scratch memory have the stream's turn until all are enqueued. Values are aligned as the components of
// their type.
struct DeviceServices {
  unsigned version;  // device_services_version of the library that has created the table
  decltype(&TAUT_Cuda_available) available;
  const char* (*why)();  // text of the last TAUT_ERR_CUDA in this thread

  // ---- Devices and memory
  int (*device_of)(const void* memory, int* device);
  int (*use)(int device, int* before);  // makes `device` the current device of this thread
  int (*allocate)(void** memory, std::size_t bytes, MemoryKind kind);  // at once usable on every stream
  void (*free)(void* memory, MemoryKind kind);  // pinned, plain: later, if a stream waits for a word now
  // Makes TAUT_Cuda_release call trim(), which frees the caller's unused memory.
  void (*at_release)(void (*trim)());

  // ---- Copies, between any kinds of memory, and order
  int (*copy)(void* to, const void* from, std::size_t bytes);  // waits also for all work launched before
  int (*copy_on)(void* to, const void* from, std::size_t bytes, void* stream);
  int (*wait)(void* stream);
  // Sets `idle` to 1 if all work on the stream is done, else to 0. Returns an error that the work has met.
  int (*query)(void* stream, int* idle);

  // ---- Points in streams that a thread asks for, and streams that wait for the host (cuda_order.cu)
  // Returns a stream of Taut's own on the current device. No work of the program delays its work.
  int (*own_stream)(void** stream);
  // Returns a stream like that, for one user, who closes it when its work is done.
  int (*open_stream)(void** stream);
  void (*close_stream)(void* stream);
  // Lets later work of `stream` wait for all work that `before` has now.
  int (*follow)(void* stream, void* before);
  int (*is_captured)(void* stream, int* captured);
  // Creates the event that all work enqueued so far on a stream of the current device is done.
  int (*record)(void** event, void* stream);
  int (*has_happened)(void* event, int* happened);  // as `query`
  void (*free_event)(void* event);
  // Makes the stream wait until the word, in pinned memory that is never freed, is `value` or at most 2^31 -
  // 1 beyond it. The first call on a device loads all kernels and waits for its streams.
  int (*wait_for_word)(const std::uint32_t* word, std::uint32_t value, void* stream);

  // ---- Codecs
  decltype(&TAUT_Encode_cuda) encode;  // the frame is complete once `done` is 1
  decltype(&TAUT_Decode_cuda) decode;
  decltype(&TAUT_Decode_add_cuda) decode_add;
  decltype(&TAUT_Frame_add_cuda) add_frames;
  decltype(&TAUT_Frame_accumulate_cuda) accumulate;
  decltype(&TAUT_Encode_lagged_cuda) encode_lagged;
  decltype(&TAUT_Decode_lagged_cuda) decode_lagged;
  decltype(&TAUT_Decode_add_lagged_cuda) decode_add_lagged;
  // As TAUT_Encode_lossless_cuda, also with lags. `coding` is read during the call.
  int (*encode_lossless)(const void* values, std::size_t count, int type, const LosslessCoding* coding,
                         void* frame, std::size_t capacity, TAUT_Cuda_result* result, void* stream);
  decltype(&TAUT_Decode_lossless_cuda) decode_lossless;
  // As decode_lossless, also for frames with lags, by more kernels.
  decltype(&TAUT_Decode_lossless_cuda) decode_lossless_lagged;
  decltype(&TAUT_Decode_add_lossless_cuda) decode_add_lossless;
  decltype(&TAUT_Encode_rate_cuda) encode_rate;
  decltype(&TAUT_Decode_rate_cuda) decode_rate;

  // ---- Several planes frames together, each with the outcome of a call on it alone: as many launches as one
  // frame takes, for every 8 frames. No item's memory overlaps another's.
  int (*encode_many)(const DeviceFrameItem* items, int n, int type, const TAUT_Cuda_coding* coding,
                     void* stream);
  int (*decode_many)(const DeviceFrameItem* items, int n, int type, int add, void* stream);

  // ---- Values. `type`: any TAUT_Type.
  // values <- values op operand, as reduce_values() of compressor/values/reduction.hpp. `op`: a Reduction
  // that is defined for the type.
  int (*reduce_values)(void* values, const void* operand, std::size_t count, int type, int op, void* stream);
  // values <- values / n, as divide() of communication/team/mean.hpp.
  int (*divide_values)(void* values, std::size_t count, int type, int n, void* stream);
  // Finds the range of values as range_of() of compressor/values/value_range.hpp does. `fill`: value that is
  // left out, null if there is none; it is read during the call. `exact_bits`: packed integers are left out.
  int (*range)(const void* values, std::size_t count, int type, const double* fill, int exact_bits,
               DeviceRange* range, void* stream);
};

inline constexpr unsigned device_services_version = 8;

// Returns the table of libtaut_cuda, which is opened at the first call. Throws Error(invalid_argument) if the
// library, or a device that it can use, is missing; the error text begins with `what`, the name of the
// argument that is in GPU memory.
const DeviceServices& device_services(std::string_view what);

}  // namespace taut::api

extern "C" TAUT_CUDA_API const taut::api::DeviceServices* TAUT_Cuda_services(void);
