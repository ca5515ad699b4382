#include "compressor/api/device_codec.hpp"

#define TAUT_NO_MPI
#include <taut/taut.h>

#include "compressor/api/host_codec.hpp"
#include "compressor/base/device_memory.hpp"
#include "compressor/base/options.hpp"
#include "compressor/frame/sample.hpp"
#include "compressor/gpu/device_call.hpp"
#include "compressor/gpu/device_kernels.hpp"

namespace taut::api {
namespace {

constexpr std::size_t frame_alignment = 16;

// Returns the candidates that have GPU kernels. Extents are dropped if the predictor is `auto`: they would
// only add predictions across rows, for which a sample would need the values before its pieces.
std::vector<Coding> kernel_candidates(Coding& coding, DType type, Bound bound) {
  if (coding.predictor.automatic() && bound.kind != Bound::Kind::rate) coding.dims = {};
  std::vector<Coding> all = candidates(coding, type, bound);
  std::erase_if(all, [](const Coding& candidate) { return !gpu::has_kernels(candidate); });
  return all;
}

// Chooses a candidate by a sample. Only the pieces of the sample are copied from the GPU, to the offsets that
// they have in the array. The other bytes of that host memory are never touched.
Coding choose(gpu::DeviceCall& call, std::span<const Coding> all, ConstSlice values) {
  constexpr std::size_t least_to_sample_on_gpu = 65536;  // each piece is a copy from the GPU
  if (all.size() == 1 || values.count < least_to_sample_on_gpu) return all[0];
  const auto memory = std::make_unique_for_overwrite<std::byte[]>(values.bytes());
  const Slice sparse{{memory.get(), values.count, values.type}};
  const auto fetch = [&](const auto& to, const auto& from) {
    const Pieces pieces(from.count);
    for (std::size_t i = 0; i < pieces.count; ++i)
      call.copy(to.part(pieces.first(i), pieces.values).data, from.part(pieces.first(i), pieces.values).data,
                pieces.values * size_of(from.type));
  };
  fetch(sparse, values);
  if (components_of(values.type) > 1) fetch(sparse.components(), values.components());
  return best_by_sample(all, sparse);
}

SizeOrStatus sized(const TAUT_Cuda_result& result) {
  return {static_cast<Status>(result.status), static_cast<std::size_t>(result.bytes)};
}

// Returns true if the host has to do the work, with its own checks: kernels cannot read the frame, or cannot
// count that many values.
template <class Result>
bool needs_host(const Result& result) {
  return result.status == TAUT_ERR_CUDA_NEEDS_HOST || result.status == TAUT_ERR_COUNT;
}

// Encodes by a kernel. Returns nothing if the host has to do it.
std::optional<SizeOrStatus> encode_by_kernel(gpu::DeviceCall& call, ConstSlice values, Coding coding,
                                             Bytes out) {
  const Bound asked = bound_for(values.type, coding.bound);
  const Bound kind = is_relative(asked) ? Bound(1) : asked;
  if (kernel_candidates(coding, values.type, kind).empty()) return {};
  const Bound bound = resolved(asked, is_relative(asked) ? range_anywhere(values, coding) : ValueRange{});
  const std::vector<Coding> all = kernel_candidates(coding, values.type, bound);
  if (all.empty()) return {};  // no kernel serves the exact bound that a range of 0 leaves
  const Coding chosen = choose(call, all, values);
  const std::size_t most = chosen.make()->max_bytes(values.type, values.count);
  if (out.size() < most) return SizeOrStatus{Status::buffer_too_small};
  const ConstBytes from = call.for_device(values.as_bytes(), size_of(component_of(values.type)));
  const Bytes frame = call.room_on_device(out.first(most), frame_alignment);
  const auto result = call.run([&](TAUT_Cuda_result* to) {
    return encode(call.services(), chosen, {{from.data(), values.count, values.type}}, frame, to, false,
                  call.stream());
  });
  if (needs_host(result)) return {};
  const SizeOrStatus size = sized(result);
  if (size.status == Status::ok) call.copy(out.data(), frame.data(), size.bytes);
  return size;
}

ConstBytes whole_frame(ConstBytes frame, const FrameHeader& header) {
  return frame.first(frame_header_bytes + static_cast<std::size_t>(header.payload_bytes));
}

std::optional<Status> decode_by_kernel(gpu::DeviceCall& call, ConstBytes frame, const FrameHeader& header,
                                       Slice values) {
  const std::optional<Coding> coding = gpu::decoding_of(header);
  if (!coding) return {};
  const ConstBytes from = call.for_device(frame, frame_alignment);
  const Bytes to = call.room_on_device(values.as_bytes(), size_of(component_of(values.type)));
  const auto result = call.run([&](TAUT_Cuda_result* at) {
    return decode(call.services(), *coding, from, {to.data(), values.count, values.type}, at, call.stream());
  });
  if (needs_host(result)) return {};
  const Status status = sized(result).status;
  if (status == Status::ok) call.copy(values.data, to.data(), to.size());
  return status;
}

std::optional<SizeOrStatus> add_by_kernel(gpu::DeviceCall& call, std::span<const ConstBytes> frames,
                                          const FrameHeader& header, Bytes out) {
  const std::optional<Coding> coding = gpu::decoding_of(header);
  const auto add = coding ? gpu::kernels_of(call.services(), *coding).sum : nullptr;
  if (add == nullptr) return {};
  const ConstBytes a = call.for_device(frames[0], frame_alignment),
                   b = call.for_device(frames[1], frame_alignment);
  const Bytes sum = call.room_on_device(out, frame_alignment);
  const auto result = call.run([&](TAUT_Cuda_result* to) {
    const void* const both[] = {a.data(), b.data()};
    const std::size_t bytes[] = {a.size(), b.size()};
    return add(both, bytes, 2, header.count, static_cast<int>(header.type), sum.data(), sum.size(), to, false,
               call.stream());
  });
  if (needs_host(result)) return {};
  const SizeOrStatus size = sized(result);
  if (size.status == Status::ok) call.copy(out.data(), sum.data(), size.bytes);
  return size;
}

// Finds the range of values on their GPU. Returns nothing if the host has to do it.
std::optional<ValueRange> range_by_kernel(gpu::DeviceCall& call, ConstSlice values, const Coding& coding) {
  const ConstBytes from = call.for_device(values.as_bytes(), size_of(component_of(values.type)));
  const auto found = call.run<gpu::DeviceRange>([&](gpu::DeviceRange* to) {
    return call.services().range(from.data(), values.count, static_cast<int>(values.type),
                                 coding.fill ? &*coding.fill : nullptr, coding.bits == PackedBits::exact, to,
                                 call.stream());
  });
  if (needs_host(found)) return {};
  if (found.status != 0)
    throw Error(static_cast<Status>(found.status), describe(static_cast<Status>(found.status)));
  return ValueRange{found.least, found.greatest};
}

// Returns host memory with the arrays.
std::vector<const void*> on_host(gpu::DeviceCall& call, Arrays arrays, std::size_t bytes) {
  std::vector<const void*> there;
  for (const void* const array : arrays)
    there.push_back(call.for_host({static_cast<const std::byte*>(array), bytes}).data());
  return there;
}

}  // namespace

StateNumbers state_numbers_anywhere(const FrameHeader& header, ConstBytes frame) {
  if (!on_device(frame.data())) return state_numbers_in(header, frame);
  gpu::DeviceCall call(frame.data(), "the frame");
  const std::size_t most = frame_header_bytes + StateNumbers{.n = max_references}.bytes();
  FrameHeader start = header;
  start.payload_bytes = std::min<std::uint64_t>(header.payload_bytes, most - frame_header_bytes);
  return state_numbers_in(start, call.for_host(whole_frame(frame, start)));
}

Status read_header_anywhere(ConstBytes frame, FrameHeader& header) {
  if (!on_device(frame.data())) return read_header(frame, header);
  if (frame.size() < frame_header_bytes) return Status::corrupt_frame;
  gpu::DeviceCall call(frame.data(), "the frame");
  const ConstBytes start = call.for_host(frame.first(frame_header_bytes));
  return read_header({start.data(), frame.size()},
                     header);  // reads only the header, but checks the size of the frame
}

ValueRange range_anywhere(ConstSlice values, const Coding& coding) {
  if (!on_device(values.data)) return range_of(values, coding.fill, coding.bits);
  gpu::DeviceCall call(values.data, "the array");
  if (const auto range = range_by_kernel(call, values, coding)) return *range;
  constexpr std::size_t piece = std::size_t{1} << 20;
  const auto memory = std::make_unique_for_overwrite<std::byte[]>(piece * size_of(values.type));
  ValueRange range;
  for (std::size_t first = 0; first < values.count; first += piece) {
    const ConstSlice there{values.part(first, std::min(piece, values.count - first))};
    call.copy(memory.get(), there.data, there.bytes());
    range.merge(range_of({{memory.get(), there.count, there.type}}, coding.fill, coding.bits));
  }
  return range;
}

SizeOrStatus encode_with_device(ConstSlice values, const Coding& coding, Arrays references, Bytes out) {
  const bool there = on_device(values.data);
  gpu::DeviceCall call(there ? values.data : out.data(), there ? "values" : "frame");
  if (there && references.empty())
    if (const auto done = encode_by_kernel(call, values, coding, out)) return *done;
  const std::size_t most = TAUT_Max_bytes(static_cast<TAUT_Type>(values.type), values.count, 1);
  const ConstBytes here = call.for_host(values.as_bytes());
  const Bytes frame = call.room_on_host(out.first(std::min(out.size(), most)));
  const std::vector<const void*> arrays = on_host(call, references, values.bytes());
  const SizeOrStatus size = encode_on_host({{here.data(), values.count, values.type}}, coding, arrays, frame);
  if (size.status == Status::ok) call.copy(out.data(), frame.data(), size.bytes);
  return size;
}

Status decode_with_device(ConstBytes frame, Arrays references, Slice values) {
  const bool there = on_device(values.data);
  FrameHeader header;
  gpu::DeviceCall call(there ? values.data : frame.data(), there ? "values" : "frame");
  if (const Status status = read_header_anywhere(frame, header); status != Status::ok) return status;
  if (header.type != values.type || header.count != values.count) return Status::frame_mismatch;
  frame = whole_frame(frame, header);
  if (there)
    if (const auto done = decode_by_kernel(call, frame, header, values)) return *done;
  const Bytes here = call.room_on_host(values.as_bytes());
  const std::vector<const void*> arrays = on_host(call, references, values.bytes());
  const Status status =
      decode_on_host(call.for_host(frame), arrays, {{here.data(), values.count, values.type}});
  if (status == Status::ok) call.copy(values.data, here.data(), here.size());
  return status;
}

SizeOrStatus add_with_device(ConstBytes a, ConstBytes b, Bytes out) {
  const void* const there = on_device(a.data()) ? a.data() : on_device(b.data()) ? b.data() : nullptr;
  FrameHeader first, second;
  gpu::DeviceCall call(there != nullptr ? there : out.data(), there == a.data()   ? "a"
                                                              : there == b.data() ? "b"
                                                                                  : "sum");
  if (const Status status = read_header_anywhere(a, first); status != Status::ok) return {status};
  if (const Status status = read_header_anywhere(b, second); status != Status::ok) return {status};
  if (const Status status = check_addable(first, second); status != Status::ok) return {status};
  const auto decoder = make_decoder(first, options().kernels, options().threads);
  const auto addends = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(std::uint64_t{first.addends} + second.addends, UINT32_MAX));
  const std::size_t most = decoder->max_bytes(first.type, static_cast<std::size_t>(first.count), addends);
  if (out.size() < most) return {Status::buffer_too_small};
  out = out.first(most);
  const ConstBytes both[] = {whole_frame(a, first), whole_frame(b, second)};
  if (there != nullptr)
    if (const auto done = add_by_kernel(call, both, first, out)) return *done;
  const Bytes sum = call.room_on_host(out);
  const SizeOrStatus size = add_on_host(call.for_host(both[0]), call.for_host(both[1]), sum);
  if (size.status == Status::ok) call.copy(out.data(), sum.data(), size.bytes);
  return size;
}

}  // namespace taut::api
