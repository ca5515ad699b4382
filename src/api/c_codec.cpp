// The codec calls of taut.h, which need no MPI.
#define TAUT_NO_MPI
#include <taut/taut.h>

#include <cmath>
#include <cstring>
#include <new>

#include "policy/options.hpp"
#include "policy/policy.hpp"

namespace taut {
namespace {

constexpr std::size_t most_values = std::size_t{1} << 30;

template <class Action>
int guard(Action action) noexcept {
  try {
    return static_cast<int>(action());
  } catch (const Error& error) {
    return static_cast<int>(error.status());
  } catch (const std::bad_alloc&) {
    return TAUT_ERR_MEMORY;
  } catch (...) {
    return TAUT_ERR_INTERNAL;
  }
}

bool known(TAUT_Type type) noexcept { return type == TAUT_FLOAT32 || type == TAUT_FLOAT64; }
DType dtype(TAUT_Type type) noexcept { return static_cast<DType>(type); }
ConstBytes bytes_at(const void* data, std::size_t size) noexcept {
  return {static_cast<const std::byte*>(data), size};
}
Bytes bytes_at(void* data, std::size_t size) noexcept { return {static_cast<std::byte*>(data), size}; }

const CodecInfo* codec_of(std::uint8_t frame_id) noexcept {
  for (const CodecInfo* codec : registered_codecs())
    if (codec->frame_id == frame_id) return codec;
  return nullptr;
}

// Any instance of a codec decodes and adds all of its frames.
std::unique_ptr<Codec> make_for(const FrameHeader& header) {
  const CodecInfo* const info = codec_of(header.codec);
  if (info == nullptr) throw Error(Status::unsupported_version, "a frame of an unknown codec");
  if (!info->serves(header.type, header.bound.kind))
    throw Error(Status::corrupt_frame, "a frame of a kind that its codec does not make");
  return info->make({.bound = header.bound,
                     .checksum = header.has(FrameHeader::checksummed),
                     .kernels = options().kernels.c_str()});
}

Status encode(ConstSlice values, double bound, const char* text, Bytes out, std::size_t* bytes) {
  const bool usable =
      (values.data != nullptr || values.count == 0) && out.data() != nullptr && bytes != nullptr;
  if (!usable || !std::isfinite(bound) || bound < 0) return Status::invalid_argument;
  if (values.count > most_values) return Status::invalid_count;
  const Coding coding = parse_coding(text == nullptr ? "" : text, bound);
  const Sized size = coding.codec->make(coding.options(bound, options().kernels))->encode(values, out);
  if (size.status == Status::ok) *bytes = size.bytes;
  return size.status;
}

Status decode(ConstBytes frame, Slice values) {
  FrameHeader header;
  if (frame.data() == nullptr || (values.data == nullptr && values.count != 0))
    return Status::invalid_argument;
  if (const Status status = read_header(frame, header); status != Status::ok) return status;
  if (header.type != values.type || header.count != values.count) return Status::frame_mismatch;
  return make_for(header)->decode(frame, values);
}

Status add(ConstBytes a, ConstBytes b, Bytes out, std::size_t* bytes) {
  FrameHeader first, second;
  if (a.data() == nullptr || b.data() == nullptr || out.data() == nullptr || bytes == nullptr)
    return Status::invalid_argument;
  if (const Status status = read_header(a, first); status != Status::ok) return status;
  if (const Status status = read_header(b, second); status != Status::ok) return status;
  if (first.codec != second.codec || first.type != second.type || first.count != second.count)
    return Status::frame_mismatch;
  const auto codec = make_for(first);
  if (codec->arithmetic() == nullptr) return Status::frame_mismatch;
  const ConstBytes both[] = {a, b};
  const Sized size = codec->arithmetic()->sum(both, out);
  if (size.status == Status::ok) *bytes = size.bytes;
  return size.status;
}

Status info(ConstBytes frame, TAUT_Frame_info* info) {
  if (frame.data() == nullptr || info == nullptr || info->struct_size < sizeof info->struct_size)
    return Status::invalid_argument;
  FrameHeader header;
  if (const Status status = read_header(frame, header); status != Status::ok) return status;
  const CodecInfo* const codec = codec_of(header.codec);
  TAUT_Frame_info all{};
  all.struct_size = info->struct_size;
  std::strncpy(all.codec, codec != nullptr ? codec->name : "unknown", sizeof all.codec - 1);
  all.type = static_cast<int>(header.type);
  all.count = header.count;
  all.bound = header.bound.value;
  all.addends = header.addends;
  all.bytes = frame_header_bytes + header.payload_bytes;
  std::memcpy(info, &all, std::min(info->struct_size, sizeof all));
  return Status::ok;
}

}  // namespace
}  // namespace taut

using namespace taut;

extern "C" {

const char* TAUT_Status_string(int status) { return describe(static_cast<Status>(status)); }

void TAUT_Get_version(int* major, int* minor, int* patch) {
  if (major != nullptr) *major = TAUT_VERSION_MAJOR;
  if (minor != nullptr) *minor = TAUT_VERSION_MINOR;
  if (patch != nullptr) *patch = TAUT_VERSION_PATCH;
}

size_t TAUT_Max_bytes(TAUT_Type type, size_t count, unsigned addends) {
  if (!known(type) || count > most_values) return 0;
  std::size_t most = 0;
  for (const CodecInfo* const info : registered_codecs()) {
    for (const Bound bound : {Bound(), Bound(1), Bound(Bound::Kind::rate, 32)}) {
      if (!info->serves(dtype(type), bound.kind)) continue;
      try {
        most = std::max(most, info->make({.bound = bound})->max_bytes(dtype(type), count, addends));
      } catch (...) {
      }
    }
  }
  return most;
}

int TAUT_Encode(const void* values, size_t count, TAUT_Type type, double bound, const char* options,
                void* frame, size_t capacity, size_t* bytes) {
  if (!known(type)) return TAUT_ERR_TYPE;
  return guard([&] {
    return encode({{values, count, dtype(type)}}, bound, options, bytes_at(frame, capacity), bytes);
  });
}

int TAUT_Decode(const void* frame, size_t bytes, void* values, size_t count, TAUT_Type type) {
  if (!known(type)) return TAUT_ERR_TYPE;
  return guard([&] { return decode(bytes_at(frame, bytes), {{values, count, dtype(type)}}); });
}

int TAUT_Frame_add(const void* a, size_t a_bytes, const void* b, size_t b_bytes, void* sum, size_t capacity,
                   size_t* bytes) {
  return guard(
      [&] { return add(bytes_at(a, a_bytes), bytes_at(b, b_bytes), bytes_at(sum, capacity), bytes); });
}

int TAUT_Frame_get_info(const void* frame, size_t bytes, TAUT_Frame_info* frame_info) {
  return guard([&] { return info(bytes_at(frame, bytes), frame_info); });
}

}  // extern "C"
