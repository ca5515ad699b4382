// Codec calls of taut.h, which need no MPI.
#define TAUT_NO_MPI
#include <taut/taut.h>

#include <cstring>

#include "compressor/api/device_codec.hpp"
#include "compressor/api/host_codec.hpp"
#include "compressor/base/device_memory.hpp"
#include "compressor/base/guarded.hpp"
#include "compressor/base/options.hpp"
#include "compressor/values/value_statistics.hpp"

namespace taut {
namespace {

static_assert(static_cast<int>(TAUT_UINT64) == dtypes && static_cast<DType>(TAUT_COMPLEX64) == DType::c64);

constexpr std::size_t most_values = max_frame_values;

bool known(TAUT_Type type) noexcept { return type >= TAUT_FLOAT32 && type <= TAUT_UINT64; }
DType dtype(TAUT_Type type) noexcept { return static_cast<DType>(type); }
ConstBytes bytes_at(const void* data, std::size_t size) noexcept {
  return {static_cast<const std::byte*>(data), size};
}
Bytes bytes_at(void* data, std::size_t size) noexcept { return {static_cast<std::byte*>(data), size}; }

// Reads the extents of an array. Beyond four dimensions, the slowest ones are merged into one.
Status read_extents(int n, const std::size_t* extents, Dims& dims, std::size_t& count) noexcept {
  if (n < 1 || extents == nullptr) return Status::invalid_argument;
  const auto ndims = static_cast<unsigned>(n);
  dims.n = std::min(ndims, max_dims);
  std::ranges::fill(dims.extent, 1u);
  for (unsigned i = 0; i < ndims; ++i) {
    if (__builtin_mul_overflow(count, extents[i], &count) || count > most_values)
      return Status::invalid_count;
    dims.extent[i + dims.n < ndims ? 0 : i + dims.n - ndims] *= static_cast<std::uint32_t>(extents[i]);
  }
  return Status::ok;
}

// Checks the arrays from which a call predicts.
api::Arrays references_at(const void* const* arrays, int n, std::size_t count) {
  if (n < 0 || n > static_cast<int>(max_references))
    throw Error(Status::invalid_argument, "reference_count: it has to be 0, 1 or 2");
  const api::Arrays references{arrays, arrays == nullptr ? 0 : static_cast<std::size_t>(n)};
  if (references.size() < static_cast<std::size_t>(n) ||
      (count > 0 && std::ranges::find(references, nullptr) != references.end()))
    throw Error(Status::invalid_argument,
                "references: an array is NULL; give as many as reference_count says");
  return references;
}

bool any_on_device(api::Arrays arrays) { return std::ranges::any_of(arrays, on_device); }

Status encode(ConstSlice values, const char* text, Dims dims, api::Arrays references, Bytes out,
              std::size_t* bytes) {
  const bool usable = (values.data != nullptr || values.count == 0) && text != nullptr &&
                      out.data() != nullptr && bytes != nullptr;
  if (!usable) return Status::invalid_argument;
  if (values.count > most_values / components_of(values.type)) return Status::invalid_count;
  Coding coding = parse_coding(text, options().kernels);
  coding.kernels = options().kernels;
  if (coding.threads == 0) coding.threads = options().threads;
  if (dims.n > 0) coding.dims = dims;
  const bool device = on_device(values.data) || on_device(out.data()) || any_on_device(references);
  const SizeOrStatus size = device ? api::encode_with_device(values, coding, references, out)
                                   : api::encode_on_host(values, coding, references, out);
  if (size.status == Status::ok) *bytes = size.bytes;
  return size.status;
}

Status decode(ConstBytes frame, api::Arrays references, Slice values) {
  if (frame.data() == nullptr || (values.data == nullptr && values.count != 0))
    return Status::invalid_argument;
  if (values.count > most_values) return Status::invalid_count;
  const bool device = on_device(frame.data()) || on_device(values.data) || any_on_device(references);
  return device ? api::decode_with_device(frame, references, values)
                : api::decode_on_host(frame, references, values);
}

Status add(ConstBytes a, ConstBytes b, Bytes out, std::size_t* bytes) {
  if (a.data() == nullptr || b.data() == nullptr || out.data() == nullptr || bytes == nullptr)
    return Status::invalid_argument;
  const bool device = on_device(a.data()) || on_device(b.data()) || on_device(out.data());
  const SizeOrStatus size = device ? api::add_with_device(a, b, out) : api::add_on_host(a, b, out);
  if (size.status == Status::ok) *bytes = size.bytes;
  return size.status;
}

// The calls that have no kernels for GPUs check where their arguments are.
void require_host(const void* data, const char* what) {
  if (on_device(data))
    throw Error(
        Status::invalid_argument,
        std::string(what) + ": it is in GPU memory, where this call does not work; copy it to the host");
}

Status scale(ConstBytes frame, double factor, Bytes out, std::size_t* bytes) {
  if (frame.data() == nullptr || out.data() == nullptr || bytes == nullptr) return Status::invalid_argument;
  require_host(frame.data(), "frame");
  require_host(out.data(), "scaled");
  const SizeOrStatus size = api::scale_on_host(frame, factor, out);
  if (size.status == Status::ok) *bytes = size.bytes;
  return size.status;
}

// Copies a struct to a caller, who may know fewer members.
template <class Struct>
void copy_known(Struct all, Struct* to) noexcept {
  all.struct_size = to->struct_size;
  std::memcpy(to, &all, std::min(to->struct_size, sizeof all));
}

Status statistics(ConstBytes frame, TAUT_Frame_statistics* statistics) {
  if (frame.data() == nullptr || statistics == nullptr ||
      statistics->struct_size < sizeof statistics->struct_size)
    return Status::invalid_argument;
  require_host(frame.data(), "frame");
  ValueStatistics found;
  if (const Status status = api::summarize_on_host(frame, found); status != Status::ok) return status;
  TAUT_Frame_statistics all{};
  all.count = found.count();
  all.mean = found.mean();
  all.least = found.least();
  all.greatest = found.greatest();
  copy_known(all, statistics);
  return Status::ok;
}

Status info(ConstBytes frame, TAUT_Frame_info* info) {
  if (frame.data() == nullptr || info == nullptr || info->struct_size < sizeof info->struct_size)
    return Status::invalid_argument;
  FrameHeader header;
  if (const Status status = api::read_header_anywhere(frame, header); status != Status::ok) return status;
  if (header.has(FrameHeader::failed)) return Status::peer_failed;
  const CodecInfo* const codec = find_codec(header.codec);
  TAUT_Frame_info all{};
  std::strncpy(all.codec, codec != nullptr ? codec->name : "unknown", sizeof all.codec - 1);
  all.type = static_cast<int>(header.type);
  all.count = header.count;
  all.bound = header.bound.value;
  all.bound_kind = static_cast<int>(header.bound.kind);
  all.addends = header.addends;
  all.bytes = frame_header_bytes + header.payload_bytes;
  const StateNumbers states = api::state_numbers_anywhere(header, frame);
  all.reference_count = static_cast<int>(states.n);
  std::ranges::copy(states.number, all.references);
  copy_known(all, info);
  return Status::ok;
}

}  // namespace
}  // namespace taut

using namespace taut;

extern "C" {

const char* TAUT_Status_string(int status) { return describe(static_cast<Status>(status)); }

const char* TAUT_Last_error() { return last_error; }

void TAUT_Get_version(int* major, int* minor, int* patch) {
  if (major != nullptr) *major = TAUT_VERSION_MAJOR;
  if (minor != nullptr) *minor = TAUT_VERSION_MINOR;
  if (patch != nullptr) *patch = TAUT_VERSION_PATCH;
}

size_t TAUT_Max_bytes(TAUT_Type type, size_t count, unsigned addends) {
  if (!known(type) || count > most_values / components_of(dtype(type))) return 0;
  std::size_t most = 0;
  for (const CodecInfo* const info : registered_codecs()) {
    for (const Bound bound : {Bound(), Bound(1), Bound(Bound::Kind::rate, 32), Bound(Bound::Kind::rate, 8)}) {
      if (!info->serves(dtype(type), bound.kind)) continue;
      try {
        most = std::max(most, info->make({.bound = bound})->max_bytes(dtype(type), count, addends));
      } catch (...) {
      }
    }
  }
  return most;
}

int TAUT_Encode(const void* values, size_t count, TAUT_Type type, const char* coding, void* frame,
                size_t capacity, size_t* bytes) {
  if (!known(type)) return TAUT_ERR_TYPE;
  return guard([&] {
    return encode({{values, count, dtype(type)}}, coding, {}, {}, bytes_at(frame, capacity), bytes);
  });
}

int TAUT_Encode_with_references(const void* values, size_t count, TAUT_Type type, const char* coding,
                                const void* const* references, int reference_count, void* frame,
                                size_t capacity, size_t* bytes) {
  if (!known(type)) return TAUT_ERR_TYPE;
  return guard([&] {
    return encode({{values, count, dtype(type)}}, coding, {},
                  references_at(references, reference_count, count), bytes_at(frame, capacity), bytes);
  });
}

int TAUT_Encode_nd(const void* values, int ndims, const size_t* extents, TAUT_Type type, const char* coding,
                   void* frame, size_t capacity, size_t* bytes) {
  if (!known(type)) return TAUT_ERR_TYPE;
  return guard([&] {
    Dims dims;
    std::size_t count = 1;
    if (const Status status = read_extents(ndims, extents, dims, count); status != Status::ok) return status;
    return encode({{values, count, dtype(type)}}, coding, dims, {}, bytes_at(frame, capacity), bytes);
  });
}

int TAUT_Decode(const void* frame, size_t bytes, void* values, size_t count, TAUT_Type type) {
  if (!known(type)) return TAUT_ERR_TYPE;
  return guard([&] { return decode(bytes_at(frame, bytes), {}, {{values, count, dtype(type)}}); });
}

int TAUT_Decode_with_references(const void* frame, size_t bytes, const void* const* references,
                                int reference_count, void* values, size_t count, TAUT_Type type) {
  if (!known(type)) return TAUT_ERR_TYPE;
  return guard([&] {
    return decode(bytes_at(frame, bytes), references_at(references, reference_count, count),
                  {{values, count, dtype(type)}});
  });
}

int TAUT_Frame_add(const void* a, size_t a_bytes, const void* b, size_t b_bytes, void* sum, size_t capacity,
                   size_t* bytes) {
  return guard(
      [&] { return add(bytes_at(a, a_bytes), bytes_at(b, b_bytes), bytes_at(sum, capacity), bytes); });
}

int TAUT_Frame_scale(const void* frame, size_t frame_bytes, double factor, void* scaled, size_t capacity,
                     size_t* bytes) {
  return guard(
      [&] { return scale(bytes_at(frame, frame_bytes), factor, bytes_at(scaled, capacity), bytes); });
}

int TAUT_Frame_get_statistics(const void* frame, size_t bytes, TAUT_Frame_statistics* found) {
  return guard([&] { return statistics(bytes_at(frame, bytes), found); });
}

int TAUT_Frame_get_info(const void* frame, size_t bytes, TAUT_Frame_info* frame_info) {
  return guard([&] { return info(bytes_at(frame, bytes), frame_info); });
}

}  // extern "C"
