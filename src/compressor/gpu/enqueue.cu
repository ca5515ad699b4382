// Implements the calls of taut_cuda.h: reads the coding and passes the work to the kernels of its codec.
#include <array>
#include <string>

#include "compressor/frame/candidates.hpp"
#include "compressor/frame/references.hpp"
#include "compressor/gpu/cuda_call.hpp"
#include "compressor/gpu/cuda_services.hpp"
#include "compressor/values/value_range.hpp"

namespace taut::gpu {

namespace device_codecs {
#define TAUT_DEVICE_CODEC(name) extern const DeviceCodec name;
#include "device_codec_table.inc"
#undef TAUT_DEVICE_CODEC
}  // namespace device_codecs

namespace {

constexpr std::array all_codecs{
#define TAUT_DEVICE_CODEC(name) &device_codecs::name,
#include "device_codec_table.inc"
#undef TAUT_DEVICE_CODEC
};

// A coding that kernels serve, and the text and type that it comes from.
struct ServedCoding {
  std::string text;
  int type = 0;
  Coding coding;
  const DeviceCodec* kernels = nullptr;
};

[[noreturn]] void refuse(const std::string& why) { throw Error(Status::invalid_policy, "policy: " + why); }

// Parses the coding for values of a type, and returns it with the kernels that serve it. Throws Error.
ServedCoding parsed(const char* text, int type) {
  const Coding coding = parse_coding(text);
  const DType dtype{static_cast<std::uint8_t>(type)};
  const Bound bound = bound_for(dtype, coding.bound);
  if (is_relative(bound)) refuse("a bound that depends on the values cannot be used in a stream; give abs:E");
  for (Coding& candidate : candidates(coding, dtype, bound)) {
    const CodecOnDevices* const device = candidate.codec->device;
    const DeviceCodec* const kernels = device_codec(candidate.codec->frame_id);
    if (device == nullptr || kernels == nullptr || !device->encodes(candidate)) continue;
    if (coding.predictor.automatic()) candidate.predictor = {};
    return {text, type, candidate, kernels};
  }
  refuse(std::string("no kernel codes values of type ") + name_of(dtype) + " under '" + text +
         "'; use abs:E, snap:E or lossless, without codec= or checksum=");
}

// Returns parsed(text, type), which it keeps until the thread's next call. One variable serves all calls: there
// is little room for thread-local variables of a library that is opened at run time.
const ServedCoding& latest_parsed(const char* text, int type) {
  thread_local ServedCoding latest;
  if (latest.type != type || latest.text != text) latest = parsed(text, type);
  return latest;
}

// Runs action(coding, kernels) and returns its status, or that of a text that is no coding.
template <class Action>
int with_coding(const char* text, int type, Action action) noexcept {
  return guarded([&] {
    if (text == nullptr) return static_cast<int>(Status::invalid_argument);
    if (!is_type(type)) return static_cast<int>(Status::invalid_type);
    const ServedCoding& served = latest_parsed(text, type);
    return action(served.coding, *served.kernels);
  });
}

DeviceFrameItem item_of(const void* values, size_t count, const void* frame, size_t bytes,
                        TAUT_Cuda_result* result) {
  return {const_cast<void*>(values), count, const_cast<void*>(frame), bytes, result};
}

int decode(const DeviceFrameItem* items, int n, int type, const char* text, bool add, void* stream) noexcept {
  return with_coding(text, type, [&](const Coding& coding, const DeviceCodec& kernels) {
    return kernels.decode(coding, items, n, type, add, stream);
  });
}

bool usable(const TAUT_Cuda_item* items, size_t item_bytes, int n) {
  return n >= 0 && (items != nullptr || n == 0) && item_bytes == sizeof *items;
}

int decode_batch(const TAUT_Cuda_item* items, size_t item_bytes, int n, int type, const char* text, bool add,
                 void* stream) noexcept {
  if (!usable(items, item_bytes, n)) return static_cast<int>(Status::invalid_argument);
  return decode(items, n, type, text, add, stream);
}

// Runs action(coding, kernels, references) as with_coding() does.
template <class Action>
int with_references(const TAUT_Cuda_reference* references, int n, const char* text, int type,
                    Action action) noexcept {
  const bool usable = n >= 0 && n <= static_cast<int>(max_references) && (references != nullptr || n == 0);
  if (!usable) return static_cast<int>(Status::invalid_argument);
  return with_coding(text, type, [&](const Coding& coding, const DeviceCodec& kernels) {
    return action(coding, kernels, DeviceReferences{references, static_cast<std::size_t>(n)});
  });
}

// Reserves scratch memory for every codec that has kernels for values of the type.
int reserve_all(size_t count, int type, void* stream) noexcept {
  for (const DeviceCodec* codec : all_codecs) {
    const int status = codec->reserve({}, count, type, stream);
    const bool unserved =
        status == static_cast<int>(Status::invalid_type) || status == static_cast<int>(Status::invalid_count);
    if (status != 0 && !unserved) return status;
  }
  return 0;
}

}  // namespace

const DeviceCodec* device_codec(std::uint8_t frame_id) noexcept {
  for (const DeviceCodec* codec : all_codecs)
    if (codec->frame_id == frame_id) return codec;
  return nullptr;
}

}  // namespace taut::gpu

using namespace taut;
using namespace taut::gpu;

extern "C" {

int TAUT_Cuda_available(const char** why) {
  int devices = 0;
  const cudaError_t error = cudaGetDeviceCount(&devices);
  drop_error(error);
  const bool any = error == cudaSuccess && devices > 0;
  if (why != nullptr)
    *why = any                    ? last_error().c_str()
           : error != cudaSuccess ? cudaGetErrorString(error)
                                  : "there is no CUDA device";
  return any;
}

int TAUT_Cuda_release(void) {
  return guarded([] {
    run_release_hooks();  // these give events back
    release_streams();
    scratch().release();
    return 0;
  });
}

int TAUT_Cuda_reserve(size_t count, int type, const char* coding, void* stream) {
  if (const int status = reserve_values(type, stream); status != 0) return status;
  if (coding == nullptr) return reserve_all(count, type, stream);
  return with_coding(coding, type, [&](const Coding& read, const DeviceCodec& kernels) {
    return kernels.reserve(read, count, type, stream);
  });
}

int TAUT_Encode_enqueue(const void* values, size_t count, int type, const char* coding, void* frame,
                        size_t capacity, TAUT_Cuda_result* result, void* stream) {
  return with_coding(coding, type, [&](const Coding& read, const DeviceCodec& kernels) {
    const DeviceFrameItem item = item_of(values, count, frame, capacity, result);
    return kernels.encode(read, &item, 1, type, false, stream);
  });
}

int TAUT_Decode_enqueue(const void* frame, size_t bytes, void* values, size_t count, int type,
                        const char* coding, TAUT_Cuda_result* result, void* stream) {
  const DeviceFrameItem item = item_of(values, count, frame, bytes, result);
  return decode(&item, 1, type, coding, false, stream);
}

int TAUT_Encode_with_references_enqueue(const void* values, size_t count, int type, const char* coding,
                                        const TAUT_Cuda_reference* references, int reference_count,
                                        void* frame, size_t capacity, TAUT_Cuda_result* result,
                                        void* stream) {
  const auto encode = [&](const Coding& read, const DeviceCodec& kernels, DeviceReferences given) {
    const DeviceFrameItem item = item_of(values, count, frame, capacity, result);
    if (kernels.encode_with_references == nullptr) return kernels.encode(read, &item, 1, type, false, stream);
    return kernels.encode_with_references(read, item, given, type, false, stream);
  };
  return with_references(references, reference_count, coding, type, encode);
}

int TAUT_Decode_with_references_enqueue(const void* frame, size_t bytes,
                                        const TAUT_Cuda_reference* references, int reference_count,
                                        void* values, size_t count, int type, const char* coding,
                                        TAUT_Cuda_result* result, void* stream) {
  const auto decode = [&](const Coding& read, const DeviceCodec& kernels, DeviceReferences given) {
    const DeviceFrameItem item = item_of(values, count, frame, bytes, result);
    if (kernels.decode_with_references == nullptr) return kernels.decode(read, &item, 1, type, false, stream);
    return kernels.decode_with_references(read, item, given, type, stream);
  };
  return with_references(references, reference_count, coding, type, decode);
}

int TAUT_Decode_add_enqueue(const void* frame, size_t bytes, void* values, size_t count, int type,
                            const char* coding, TAUT_Cuda_result* result, void* stream) {
  const DeviceFrameItem item = item_of(values, count, frame, bytes, result);
  return decode(&item, 1, type, coding, true, stream);
}

int TAUT_Encode_batch_enqueue(const TAUT_Cuda_item* items, size_t item_bytes, int n, int type,
                              const char* coding, void* stream) {
  if (!usable(items, item_bytes, n)) return static_cast<int>(Status::invalid_argument);
  return with_coding(coding, type, [&](const Coding& read, const DeviceCodec& kernels) {
    return kernels.encode(read, items, n, type, false, stream);
  });
}

int TAUT_Decode_batch_enqueue(const TAUT_Cuda_item* items, size_t item_bytes, int n, int type,
                              const char* coding, void* stream) {
  return decode_batch(items, item_bytes, n, type, coding, false, stream);
}

int TAUT_Decode_add_batch_enqueue(const TAUT_Cuda_item* items, size_t item_bytes, int n, int type,
                                  const char* coding, void* stream) {
  return decode_batch(items, item_bytes, n, type, coding, true, stream);
}

int TAUT_Decode_add_float_batch_enqueue(const TAUT_Cuda_item* items, size_t item_bytes, int n, int type,
                                        const char* coding, void* stream) {
  if (!usable(items, item_bytes, n)) return static_cast<int>(Status::invalid_argument);
  return with_coding(coding, type, [&](const Coding& read, const DeviceCodec& kernels) {
    if (kernels.add_to_floats == nullptr)
      refuse(std::string("no kernel adds frames of codec ") + read.codec->name +
             " to float32; use exponents");
    return kernels.add_to_floats(items, n, type, stream);
  });
}

int TAUT_Frame_add_enqueue(const void* const* frames, const size_t* bytes, int n, size_t count, int type,
                           const char* coding, void* sum, size_t capacity, TAUT_Cuda_result* result,
                           void* stream) {
  return with_coding(coding, type, [&](const Coding& read, const DeviceCodec& kernels) {
    if (kernels.sum == nullptr)
      refuse(std::string("no kernel adds frames of codec ") + read.codec->name + "; use planes");
    return kernels.sum(frames, bytes, n, count, type, sum, capacity, result, false, stream);
  });
}

int TAUT_Frame_accumulate_enqueue(const void* frame, size_t bytes, const void* values, size_t count, int type,
                                  const char* coding, void* sum, size_t capacity, TAUT_Cuda_result* result,
                                  void* stream) {
  return with_coding(coding, type, [&](const Coding& read, const DeviceCodec& kernels) {
    if (kernels.accumulate == nullptr)
      refuse(std::string("no kernel adds values to frames of codec ") + read.codec->name + "; use planes");
    return kernels.accumulate(read, item_of(values, count, frame, bytes, result), type, sum, capacity,
                              false, stream);
  });
}

}  // extern "C"
