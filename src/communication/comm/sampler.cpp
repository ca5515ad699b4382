#include "communication/comm/sampler.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "communication/comm/agree.hpp"
#include "communication/comm/sum_history.hpp"
#include "communication/policy/plan/policy.hpp"
#include "compressor/base/float_environment.hpp"
#include "compressor/frame/candidates.hpp"
#include "compressor/frame/packed_integers.hpp"
#include "compressor/frame/sample.hpp"

namespace taut {
namespace {

std::atomic<std::size_t> reserved{0};  // bytes of pieces of the streams that are followed

constexpr int timings = 3;  // number of timed runs of the codec that compresses a sample best

// Returns true for bytes that begin as an object that Python has pickled: PROTO 2 to 5, from 4 on with a
// frame.
bool begins_pickle(ConstSlice values) noexcept {
  constexpr std::uint8_t proto = 0x80, frame = 0x95;
  if (values.type != DType::u8 || values.count < 3) return false;
  const auto* const bytes = static_cast<const std::uint8_t*>(values.data);
  return bytes[0] == proto && bytes[1] >= 2 && bytes[1] <= 5 && (bytes[1] < 4 || bytes[2] == frame);
}

// Returns true if all bytes repeat with the size of a value.
bool all_equal(ConstSlice values) noexcept {
  const std::size_t one = size_of(values.type);
  const auto* const bytes = static_cast<const std::byte*>(values.data);
  return values.count > 1 && std::memcmp(bytes, bytes + one, values.bytes() - one) == 0;
}

// Returns the bytes of the frame of a piece without its header and the numbers of its references; nothing if
// the codec refuses the piece.
std::optional<std::size_t> payload_of(const Codec& codec, ConstSlice piece, References references,
                                      Bytes room) noexcept {
  const SizeOrStatus frame = codec.encode(piece, references, room);
  if (frame.status != Status::ok) return {};
  const std::size_t head = frame_header_bytes + state_numbers_of(references).bytes();
  return std::max<std::size_t>(frame.bytes, head + 1) - head;
}

bool exact_only(DType type) noexcept { return info_of(type).family == Family::integer; }

// Returns the bound of a sample: relative to the range, and for the last one none.
Bound bound_of(std::size_t i, const ValueRange& range) noexcept {
  if (i + 1 == Compressibility::bounds) return {};
  return resolved({Bound::Kind::range, Compressibility::relative[i]}, range);
}

}  // namespace

SampledCall sampled_call(const CollectiveCall& call, int rank, bool in_flight, bool in_place) noexcept {
  std::uint64_t stream = static_cast<std::uint64_t>(call.collective);
  mix(stream, call.op);
  mix(stream, call.data.root);
  mix_places(stream, call.data, in_flight);
  return {own_values(call, rank).most(), stream, in_place};
}

bool may_refer(const Call& call) noexcept {
  if (!call.coded() || !reduces(call.collective)) return call.coded();
  return call.op == Reduction::sum && !exact_only(call.type) && may_sum_with_history(call);
}

FollowedStream::FollowedStream(const CallKey& of, const SampledCall& call, std::size_t calls)
    : kind(of),
      stream(call.stream),
      depth(calls),
      reserved_(calls * std::min(call.values.bytes(), EarlierPieces::piece_bytes)) {
  if (reserved.fetch_add(reserved_) + reserved_ <= most_bytes) return;
  reserved -= reserved_;
  throw std::bad_alloc();
}

FollowedStream::~FollowedStream() { reserved -= reserved_; }

SampleCosts& Sampler::costs_of_process() noexcept {
  static SampleCosts costs;
  return costs;
}

// Returns true if another sample is exempt, or stays within the share of time. Its predicted time is the mean
// of the samples so far.
bool Sampler::may_spend(bool first_of_kind) noexcept {
  std::uint64_t begin = 0;
  if (const std::uint64_t now = clock_(); costs_.begin.compare_exchange_strong(begin, now)) begin = now;
  if (first_of_kind && (costs_.exempt++ < exempt_kinds || costs_.nanoseconds < exempt_ns)) return true;
  const std::uint64_t spent = costs_.nanoseconds, next = spent / std::max<std::uint64_t>(costs_.samples, 1);
  return spent + next <= extra_ns_ + (clock_() - begin) / time_divisor;
}

// Takes a piece of each part, at another position in each, as in Pieces.
ValueRange Sampler::sampled_range(ConstSlice values) noexcept {
  ValueRange range;
  const std::size_t pieces = std::min(range_pieces, values.count);
  for (std::size_t i = 0; i < pieces; ++i) {
    const Range part = part_range(values.count, i, pieces);
    const std::size_t n = std::min(part.count, Pieces::max_values);
    const std::uint32_t fraction = static_cast<std::uint32_t>(i) * 2654435769U;
    const std::size_t first =
        part.first + static_cast<std::size_t>(std::uint64_t{fraction} * (part.count - n) >> 32);
    range.merge(range_of({values.part(first, n)}, std::nullopt, PackedBits::exact));
  }
  return range;
}

// Runs a part of a sample, and adds its time to the costs.
template <class Work>
void Sampler::measured(Work work) noexcept {
  const std::uint64_t begin = clock_();
  try {
    const FloatEnvironment environment;
    work();
  } catch (const Error&) {  // a codec refused these values: there is no sample
  } catch (const std::bad_alloc&) {
  }
  costs_.nanoseconds += clock_() - begin;
}

void Sampler::look(CallRow& row, const SampledCall& call) noexcept {
  if (!is_due(row) || call.values.data == nullptr) return;
  const std::uint64_t number = row.sum.calls + 1;
  if (call.values.bytes() < least_bytes) {
    if (row.call().bytes < least_bytes) row.next_sample = UINT64_MAX;
    return;
  }
  if (row.followed) measured([&] { follow(row, call); });
  if (number < row.next_sample) return;
  if (!may_spend(row.values.samples == 0)) {
    row.next_sample = number + std::max<std::uint64_t>(number / 8, 1);
    return;
  }
  row.next_sample = 2 * number;
  measured([&] { sample(row, call); });
  ++costs_.samples;
  if (!row.followed && may_refer(row.call())) measured([&] { begin_to_follow(row, call); });
}

void Sampler::sample(CallRow& row, const SampledCall& call) {
  const ConstSlice values = call.values;
  const ValueRange range = sampled_range(values);
  Compressibility found;
  found.samples = 1;
  found.in_place = call.in_place;
  found.packed = find_packed_integers(values) != PackedIntegers::none;
  found.pickles = begins_pickle(values);
  found.constant = all_equal(values);
  found.least = range.least;
  found.greatest = range.greatest;
  for (std::size_t i = exact_only(values.type) ? Compressibility::bounds - 1 : 0; i < Compressibility::bounds;
       ++i)
    sample(values, bound_of(i, range), found.sums[i]);
  row.values += found;
}

// ---- Streams that are followed

// Begins to follow the stream of a call, if there is memory. Programs that send many fields in turn need a
// reference many calls back: the longest history is tried if the usual one has found no similar call.
void Sampler::begin_to_follow(CallRow& row, const SampledCall& call) {
  const Repetition& known = row.repetition;
  const bool near = known.samples == 0 || (known.period > 0 && known.period <= Policy::usual_history);
  FollowedStream& stream =
      followed_.emplace_back(row.key, call, near ? Policy::usual_history : Policy::max_history);
  row.followed = true;
  stream.pieces.note(EarlierPieces::piece_of(call.values), stream.depth);
}

// Notes a call of the stream that is followed, or compares it with those that are noted.
void Sampler::follow(CallRow& row, const SampledCall& call) {
  const auto stream = std::ranges::find(followed_, row.key, &FollowedStream::kind);
  const bool same_stream = stream != followed_.end() && stream->stream == call.stream;
  if (same_stream && stream->pieces.size() < stream->depth)
    return stream->pieces.note(EarlierPieces::piece_of(call.values), stream->depth);
  if (!same_stream && stream != followed_.end() && ++stream->other_calls < FollowedStream::most_other_calls)
    return;
  row.followed = false;
  if (same_stream) row.repetition += compare(call, *stream, reduces(row.call().collective));
  if (stream != followed_.end()) followed_.erase(stream);
}

// Returns the codec of calls with a history under a bound; null if none of the candidates takes references.
// `chooses`: the codec chooses its predictor, which takes it longer for a piece than for whole values.
std::unique_ptr<Codec> Sampler::referring_codec(DType type, Bound bound, bool chooses) const {
  for (Coding candidate : candidates_of(type, bound)) {
    if (!candidate.codec->takes_references) continue;
    if (chooses) candidate.predictor = {};
    return on_coding_stack(candidate.make());
  }
  return nullptr;
}

// Compares the values with those of earlier calls of the stream: finds the earlier call that is most alike
// under a usual bound, or without loss, and refers to it under all bounds.
Repetition Sampler::compare(const SampledCall& call, FollowedStream& stream, bool addends) {
  constexpr std::size_t usual = 2, exact = Compressibility::bounds - 1;
  const DType type = call.values.type;
  const ValueRange range = sampled_range(call.values);
  const EarlierPieces::Piece bytes = EarlierPieces::piece_of(call.values);
  const ConstSlice piece{{bytes.data(), bytes.size() / size_of(type), type}};
  Repetition found;
  found.samples = 1;
  const auto find_period = [&](std::size_t bound) {
    const std::unique_ptr<Codec> codec = referring_codec(type, bound_of(bound, range), true);
    if (codec != nullptr) found.period = stream.pieces.compare(piece, addends, *codec).period;
  };
  if (!exact_only(type)) find_period(usual);
  if (found.period == 0 && !addends) find_period(exact);
  const ChosenReferences references = stream.pieces.at_period(found.period, piece, addends);
  const std::size_t first = exact_only(type) ? exact : 0, last = addends ? exact : exact + 1;
  for (std::size_t i = first; i < last; ++i)
    found.sums[i] = compare(piece, references.span(), bound_of(i, range));
  return found;
}

// Encodes a piece without references, by the candidate that compresses best, and with references. References
// that save less than a tenth of the bytes count as none, as in calls with a history.
Repetition::Sum Sampler::compare(ConstSlice piece, References references, Bound bound) {
  Repetition::Sum sum;
  std::size_t alone = SIZE_MAX;
  const auto try_codec = [&](const Codec& codec, References refs) {
    const Buffer room = place_.scratch(codec.max_bytes(piece.type, piece.count, 2));
    return payload_of(codec, piece, refs, room.bytes()).value_or(SIZE_MAX);
  };
  for (const Coding& candidate : candidates_of(piece.type, bound))
    alone = std::min(alone, try_codec(*on_coding_stack(candidate.make()), {}));
  if (alone == SIZE_MAX) return sum;
  sum = {piece.bytes(), alone, alone, 0};
  if (references.empty()) return sum;
  const std::unique_ptr<Codec> codec = referring_codec(piece.type, bound, true);
  if (codec == nullptr) return sum;
  const std::size_t referring = try_codec(*codec, references);
  if (referring > alone - alone / least_history_gain) return sum;
  sum.referring_bytes = referring;
  const std::unique_ptr<Codec> timed = referring_codec(piece.type, bound, false);
  for (int i = 0; i < timings; ++i) {
    const std::uint64_t begin = clock_now();
    try_codec(*timed, references);
    const std::uint64_t nanoseconds = std::max<std::uint64_t>(clock_now() - begin, 1);
    sum.nanoseconds = i == 0 ? nanoseconds : std::min(sum.nanoseconds, nanoseconds);
  }
  return sum;
}

// ---- Samples under one bound

// Returns the codings among which a call under rules chooses.
std::vector<Coding> Sampler::candidates_of(DType type, Bound bound) const {
  Coding coding;
  coding.bound = bound;
  coding.bits = PackedBits::exact;
  coding.kernels = kernels_;
  return candidates(coding, type, bound);
}

// Samples with the candidate that compresses best, as a call would choose it. The candidate is timed once its
// code is warm. The shortest of a few times counts, because a rank may lose its core during one of them.
void Sampler::sample(ConstSlice values, Bound bound, Compressibility::Sum& sum) {
  std::unique_ptr<Codec> best;
  Sample least;
  for (const Coding& candidate : candidates_of(values.type, bound)) {
    std::unique_ptr<Codec> codec = on_coding_stack(candidate.make());
    const Buffer scratch = place_.scratch(sample_scratch(*codec, values.type));
    const Sample made = codec->sample(values, scratch.bytes());
    if (made.status != Status::ok || (best != nullptr && made.frame_bytes >= least.frame_bytes)) continue;
    best = std::move(codec);
    least = made;
  }
  if (best == nullptr) return;
  const Buffer scratch = place_.scratch(sample_scratch(*best, values.type));
  std::uint64_t shortest = UINT64_MAX;
  for (int i = 0; i < timings; ++i) {
    const std::uint64_t begin = clock_now();
    best->sample(values, scratch.bytes());
    shortest = std::min(shortest, clock_now() - begin);
  }
  sum = {least.value_bytes, std::max<std::size_t>(least.frame_bytes, 1),
         std::max<std::uint64_t>(shortest, 1)};
}

}  // namespace taut
