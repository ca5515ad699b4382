#include "compressor/api/host_codec.hpp"

#include <cmath>

#include "compressor/base/options.hpp"
#include "compressor/frame/codec.hpp"
#include "compressor/frame/sample.hpp"
#include "compressor/values/value_statistics.hpp"

namespace taut::api {
namespace {

Coding choose(const Coding& coding, Bound bound, ConstSlice values) {
  const std::vector<Coding> all = candidates(coding, values.type, bound);
  if (all.empty())
    throw Error(Status::invalid_type, std::string("the codec does not code values of type ") +
                                          name_of(values.type) +
                                          " under this kind of bound; leave codec= away, or use codec=raw");
  if (all.size() == 1 || values.count < min_values_to_sample) return all[0];
  return best_by_sample(all, values);
}

// Gives arrays their state numbers.
std::vector<Reference> referring(Arrays arrays, ConstSlice values) {
  std::vector<Reference> references;
  for (const void* const array : arrays) {
    const ConstSlice slice{{array, values.count, values.type}};
    references.push_back({state_number_of(slice), slice});
  }
  return references;
}

// Encodes with references by the first codec that takes them. Returns nothing if there is none, or if it has
// no use for the references: the choice among all codings may then do better.
std::optional<SizeOrStatus> encode_referring(ConstSlice values, const Coding& coding, Bound bound,
                                             Arrays references, Bytes out) {
  const std::vector<Coding> all = candidates(coding, values.type, bound);
  const auto able = std::ranges::find_if(all, [](const Coding& one) { return one.codec->takes_references; });
  if (able == all.end()) return {};
  Coding chosen = *able;
  if (coding.predictor.automatic() || bound.exact() != coding.bound.exact()) chosen.predictor = {};
  const SizeOrStatus size = chosen.make()->encode(values, referring(references, values), out);
  FrameHeader header;
  if (size.status != Status::ok) return size;
  const bool refers = read_header(out.first(size.bytes), header) == Status::ok && reference_count(header) > 0;
  return refers ? std::optional(size) : std::nullopt;
}

// Throws Error if the references are not those that a frame names.
void require_states(const StateNumbers& named, std::span<const Reference> references) {
  if (!named.any()) return;
  if (references.empty())
    throw Error(Status::corrupt_frame, "the frame has " + std::to_string(named.n) +
                                           (named.n == 1 ? " reference" : " references") +
                                           ", which are missing; give the same arrays as in encoding");
  if (references.size() < named.n || state_numbers_of(references.first(named.n)) != named)
    throw Error(
        Status::corrupt_frame,
        "references: they are not the arrays from which the frame was predicted; give the same ones as "
        "in encoding, the newest first");
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

SizeOrStatus encode_on_host(ConstSlice values, const Coding& coding, Arrays references, Bytes out) {
  const Bound asked = bound_for(values.type, coding.bound);
  const ValueRange range = is_relative(asked) ? range_of(values, coding.fill, coding.bits) : ValueRange{};
  const Bound bound = resolved(asked, range);
  if (!references.empty())
    if (const auto done = encode_referring(values, coding, bound, references, out)) return *done;
  return choose(coding, bound, values).make()->encode(values, out);
}

Status decode_on_host(ConstBytes frame, Arrays references, Slice values) {
  FrameHeader header;
  if (const Status status = read_header(frame, header); status != Status::ok) return status;
  if (header.type != values.type || header.count != values.count) return Status::frame_mismatch;
  const auto decoder = make_decoder(header, options().kernels, options().threads);
  // The encoder may have used the newest of two references alone.
  const StateNumbers named = state_numbers_in(header, frame);
  const std::vector<Reference> given =
      referring(references.first(std::min<std::size_t>(named.n, references.size())), values);
  require_states(named, given);
  return decoder->decode(frame, given, values);
}

Status check_addable(const FrameHeader& a, const FrameHeader& b) {
  if (a.codec != b.codec || a.type != b.type || a.count != b.count) return Status::frame_mismatch;
  const bool adds = make_decoder(a, options().kernels, options().threads)->arithmetic() != nullptr;
  return adds ? Status::ok : Status::frame_mismatch;
}

SizeOrStatus add_on_host(ConstBytes a, ConstBytes b, Bytes out) {
  FrameHeader first, second;
  if (const Status status = read_header(a, first); status != Status::ok) return {status};
  if (const Status status = read_header(b, second); status != Status::ok) return {status};
  if (const Status status = check_addable(first, second); status != Status::ok) return {status};
  const ConstBytes both[] = {a, b};
  return make_decoder(first, options().kernels, options().threads)->arithmetic()->sum(both, out);
}

SizeOrStatus scale_on_host(ConstBytes frame, double factor, Bytes out) {
  FrameHeader header;
  if (const Status status = read_header(frame, header); status != Status::ok) return {status};
  if (header.has(FrameHeader::failed)) return {Status::peer_failed};
  const auto codec = make_decoder(header, options().kernels, options().threads);
  const FrameScaling* const frames = FrameScaling::of(*codec);
  if (state_numbers_in(header, frame).any())
    throw Error(Status::frame_mismatch,
                "the frame has references, which would have to be multiplied too; decode it, multiply, and "
                "encode again");
  if (frames == nullptr)
    throw Error(Status::frame_mismatch, "the frame's codec cannot be multiplied; encode with codec=planes");
  SizeOrStatus size{Status::invalid_argument};
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
  require_states(state_numbers_in(header, frame), {});
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
