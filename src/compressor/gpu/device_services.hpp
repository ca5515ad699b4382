// Interface of libtaut_cuda for libtaut, which does not depend on CUDA itself.
#pragma once

#include <taut/taut_cuda.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "compressor/frame/codec.hpp"

namespace taut::gpu {

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

// Result of a call that the host polls, in pinned memory.
struct PolledResult {
  TAUT_Cuda_result result;
  std::uint32_t header[16];  // header of the frame that the call has written; unspecified after a failure
};

// Values and a frame that kernels encode or decode. `bytes`: encoding: room at `frame`, at least the codec's
// max_bytes; decoding: readable bytes.
using DeviceFrameItem = TAUT_Cuda_item;

// Arrays that a frame may refer to, the newest first; at most max_references.
using DeviceReferences = std::span<const TAUT_Cuda_reference>;

// Kernels of a codec (gpu/<codec>/codec.cu). The functions return 0 or a status of taut_cuda.h, and only
// enqueue work on the stream. Their coding names the codec, and a bound that does not depend on the values.
struct DeviceCodec {
  std::uint8_t frame_id;  // that of CodecInfo
  // Allocates the scratch memory of encode, decode and sum, and loads their kernels.
  int (*reserve)(const Coding& coding, std::size_t count, int type, void* stream) noexcept;
  // Returns true if up to 8 items take as many launches as one. Null: never.
  bool (*together)(const Coding& coding) noexcept = nullptr;
  // Returns true if decode() may add to values. Null: never.
  bool (*adds)(const Coding& coding) noexcept = nullptr;
  // `polled`, here and below: results are those of PolledResult, and the frame is complete once `done` is 1;
  // otherwise once the stream has passed the call.
  int (*encode)(const Coding& coding, const DeviceFrameItem* items, int n, int type, bool polled,
                void* stream) noexcept;
  // Decodes frames that the coding, or CodecOnDevices::decoding, describes. `add`: to the values.
  int (*decode)(const Coding& coding, const DeviceFrameItem* items, int n, int type, bool add,
                void* stream) noexcept;
  // Encode and decode a frame that may have references. Null: such frames are coded without.
  int (*encode_with_references)(const Coding& coding, const DeviceFrameItem& item,
                                DeviceReferences references, int type, bool polled,
                                void* stream) noexcept = nullptr;
  int (*decode_with_references)(const Coding& coding, const DeviceFrameItem& item,
                                DeviceReferences references, int type, void* stream) noexcept = nullptr;
  // values <- values + frame, where the values are float32 and `type` that of the frame. Null: not served.
  int (*add_to_floats)(const DeviceFrameItem* items, int n, int type, void* stream) noexcept = nullptr;
  // Adds n frames. Null: frames are not added.
  int (*sum)(const void* const* frames, const std::size_t* bytes, int n, std::size_t count, int type,
             void* to, std::size_t capacity, TAUT_Cuda_result* result, bool polled,
             void* stream) noexcept = nullptr;
  // Adds values to a frame.
  int (*accumulate)(const Coding& coding, const DeviceFrameItem& item, int type, void* to,
                    std::size_t capacity, bool polled, void* stream) noexcept = nullptr;
};

// Table of functions that libtaut_cuda provides. The functions work on the thread's current device, and
// return 0 or a status of taut_cuda.h. Those with a `stream`, except `wait` and `query`, only enqueue work; a
// null stream is the legacy default stream. Host threads may use the same stream: functions whose kernels
// share scratch memory have the stream's turn until all are enqueued. Values are aligned as the components of
// their type.
struct DeviceServices {
  unsigned version;  // device_services_version of the library that has created the table
  decltype(&TAUT_Cuda_available) available;
  const char* (*last_error)();  // text of the last TAUT_ERR_CUDA in this thread

  // ---- Devices and memory
  int (*device_of)(const void* memory, int* device);
  int (*name_of)(int device, char* name, std::size_t bytes);  // ends with a 0
  int (*current_device)(int* device);                         // of this thread
  int (*set_device)(int device, int* before);                 // sets the current device of this thread
  int (*allocate)(void** memory, std::size_t bytes, MemoryKind kind);  // at once usable on every stream
  void (*free)(void* memory, MemoryKind kind);  // pinned, plain: later, if a stream waits for a word now
  // Makes TAUT_Cuda_release call trim(), which frees the caller's unused memory.
  void (*at_release)(void (*trim)());

  // ---- Copies, between any kinds of memory, and order
  int (*copy)(void* to, const void* from, std::size_t bytes);  // waits also for all work launched before
  int (*copy_on)(void* to, const void* from, std::size_t bytes, void* stream);
  int (*wait)(void* stream);  // no work of the stream runs any more then, whatever the status
  // Sets `idle` to 1 if all work on the stream is done, else to 0. Returns an error that the work has met.
  int (*query)(void* stream, int* idle);

  // ---- Points in streams that a thread asks for, and streams that wait for the host (cuda_order.cu)
  // Returns a stream of Taut's own on the current device. No work of the program delays its work.
  int (*own_stream)(void** stream);
  // Returns a stream like that, for one user, who closes it when its work is done.
  int (*open_stream)(void** stream);
  void (*close_stream)(void* stream);  // whatever the current device
  // Lets later work of `stream` wait for all work that `before` has now.
  int (*follow)(void* stream, void* before);
  // Returns a number that no other stream has had. The stream is not captured.
  int (*stream_number)(void* stream, unsigned long long* number);
  int (*is_captured)(void* stream, int* captured);
  int (*capture_number)(void* stream, unsigned long long* number);  // of the capture of a captured stream
  // Creates the event that all work enqueued so far on a stream of the current device is done.
  int (*record)(void** event, void* stream);
  int (*has_happened)(void* event, int* happened);  // as `query`
  void (*free_event)(void* event);
  // Makes the stream wait until the word, in pinned memory that is never freed, is `value` or at most 2^31 -
  // 1 beyond it. The first call on a device loads all kernels and waits for its streams.
  int (*wait_for_word)(const std::uint32_t* word, std::uint32_t value, void* stream);

  // ---- Codecs
  const DeviceCodec* (*codec)(std::uint8_t frame_id) noexcept;  // null: the codec has no kernels

  // ---- Values. `type`: any TAUT_Type.
  // values <- values op operand, as reduce_values() of compressor/values/reduction.hpp. `op`: a Reduction
  // that is defined for the type.
  int (*reduce_values)(void* values, const void* operand, std::size_t count, int type, int op, void* stream);
  // result <- (operand 0 op operand 1 op ...) / divisor, as reduce_widely() of
  // compressor/values/reduction.hpp.
  int (*reduce_widely)(const void* operands, std::size_t n, void* result, std::size_t count, int type, int op,
                       int divisor, void* stream);
  // result <- (operand 0 + operand 1 + ...) / divisor + residual, computed as reduce_widely() does and
  // rounded to the type; residual <- this sum before it is rounded. Where the sum of the operands is not
  // finite, both become that sum; where the residual alone exceeds the type, its greatest number results.
  // The type is real; the residual has float64 for float64, else float32. The result may be the operand.
  int (*sum_with_residual)(const void* operands, std::size_t n, void* result, void* residual,
                           std::size_t count, int type, int divisor, void* stream);
  // residual <- residual - values; 0 where that is not finite.
  int (*subtract_from_residual)(void* residual, const void* values, std::size_t count, int type,
                                void* stream);
  // Sets *failed, a word in pinned memory, to 1, and clears the header of `frame`, which may be null, if one
  // of n results in memory of the device is no success; else does nothing.
  int (*note_failures)(const TAUT_Cuda_result* results, std::size_t n, std::uint32_t* failed, void* frame,
                       void* stream);
  // values <- values / n, as divide() of communication/team/place.hpp.
  int (*divide_values)(void* values, std::size_t count, int type, int n, void* stream);
  // Finds the range of values as range_of() of compressor/values/value_range.hpp does. `fill`: value that is
  // left out, null if there is none; it is read during the call. `exact_bits`: packed integers are left out.
  int (*range)(const void* values, std::size_t count, int type, const double* fill, int exact_bits,
               DeviceRange* range, void* stream);
};

inline constexpr unsigned device_services_version = 14;

// Returns the table of libtaut_cuda, which is opened at the first call. Throws Error(invalid_argument) if the
// library, or a device that it can use, is missing; the error text begins with `what`, the name of the
// argument that is in GPU memory.
const DeviceServices& device_services(std::string_view what);

}  // namespace taut::gpu

extern "C" TAUT_CUDA_API const taut::gpu::DeviceServices* TAUT_Cuda_services(void);
