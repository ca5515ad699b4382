#include "compressor/api/host_codec.hpp"

#include <cmath>

#include "compressor/base/options.hpp"
#include "compressor/frame/frame_scaling.hpp"
#include "compressor/frame/sample.hpp"

namespace taut::api {
namespace {

Coding choose(const Coding& coding, Bound bound, ConstSlice values) {
  const std::vector<Coding> all = candidates(coding, values.type, bound);
  if (all.empty())
    throw Error(Status::invalid_type, std::string("the codec does not code values of type ") +
                                          name_of(values.type) +
                                          " under this kind of bound; leave codec= away, or use codec=raw");
  if (all.size() == 1 || values.count < least_to_sample) return all[0];
  return best_by_sample(all, values);
}

}  // namespace

Coding best_by_sample(std::span<const Coding> all, ConstSlice values) {
  std::vector<float> ratios;
  for (const Coding& candidate : all) {
    const auto codec = candidate.make();
    const auto scratch = std::make_unique<std::byte[]>(sample_scratch(*codec, values.type));
    const Sample sample = codec->sample(values, {scratch.get(), sample_scratch(*codec, values.type)});
    ratios.push_back(static_cast<float>(sample.ratio()));
  }
  return all[best_candidate(all, ratios)];
}

Sized encode_on_host(ConstSlice values, const Coding& coding, Bytes out) {
  const Bound asked = bound_for(values.type, coding.bound);
  const ValueRange range = is_relative(asked) ? range_of(values, coding.fill, coding.bits) : ValueRange{};
  const Bound bound = resolved(asked, range);
  return choose(coding, bound, values).make()->encode(values, out);
}

Status decode_on_host(ConstBytes frame, Slice values) {
  FrameHeader header;
  if (const Status status = read_header(frame, header); status != Status::ok) return status;
  if (header.type != values.type || header.count != values.count) return Status::frame_mismatch;
  return make_decoder(header, options().kernels, options().threads)->decode(frame, values);
}

Status check_addable(const FrameHeader& a, const FrameHeader& b) {
  if (a.codec != b.codec || a.type != b.type || a.count != b.count) return Status::frame_mismatch;
  const bool adds = make_decoder(a, options().kernels, options().threads)->arithmetic() != nullptr;
  return adds ? Status::ok : Status::frame_mismatch;
}

Sized add_on_host(ConstBytes a, ConstBytes b, Bytes out) {
  FrameHeader first, second;
  if (const Status status = read_header(a, first); status != Status::ok) return {status};
  if (const Status status = read_header(b, second); status != Status::ok) return {status};
  if (const Status status = check_addable(first, second); status != Status::ok) return {status};
  const ConstBytes both[] = {a, b};
  return make_decoder(first, options().kernels, options().threads)->arithmetic()->sum(both, out);
}

Sized scale_on_host(ConstBytes frame, double factor, Bytes out) {
  FrameHeader header;
  if (const Status status = read_header(frame, header); status != Status::ok) return {status};
  if (header.has(FrameHeader::failed)) return {Status::peer_failed};
  const auto codec = make_decoder(header, options().kernels, options().threads);
  const FrameScaling* const frames = FrameScaling::of(*codec);
  if (frames == nullptr)
    throw Error(Status::frame_mismatch, "the frame's codec cannot be multiplied; encode with codec=planes");
  Sized size{Status::invalid_argument};
  if (factor != 0 && std::isfinite(factor)) size = frames->scale(frame, factor, out);
  if (size.status == Status::invalid_argument)
    throw Error(Status::invalid_argument,
                "factor: it has to be finite, not 0, keep the bound in the range of the type, and for 16-bit "
                "floats and snap bounds be a power of two; decode other frames, multiply, and encode again");
  return size;
}

Status summarize_on_host(ConstBytes frame, ValueStatistics& statistics) {
  FrameHeader header;
  if (const Status status = read_header(frame, header); status != Status::ok) return status;
  if (header.has(FrameHeader::failed)) return Status::peer_failed;
  if (components_of(header.type) > 1) return Status::invalid_type;
  const auto codec = make_decoder(header, options().kernels, options().threads);
  if (const FrameScaling* const frames = FrameScaling::of(*codec))
    return frames->summarize(frame, statistics);
  const auto count = static_cast<std::size_t>(header.count);
  const auto values = std::make_unique_for_overwrite<std::byte[]>(count * size_of(header.type));
  if (const Status status = codec->decode(frame, {{values.get(), count, header.type}}); status != Status::ok)
    return status;
  with_dtype(header.type, [&]<class T>() {
    if constexpr (requires(T x) { static_cast<double>(x); })
      statistics.add(reinterpret_cast<const T*>(values.get()), count);
  });
  return Status::ok;
}

}  // namespace taut::api
