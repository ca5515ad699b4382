#include "comm/message_coder.hpp"

#include <bit>
#include <new>

#include "core/packed_integers.hpp"
#include "core/sample.hpp"

namespace taut {

MessageCoder::MessageCoder(const Policy& policy, const MessageFormat& format, Place& place,
                           std::string kernels, int threads)
    : policy_(policy),
      format_(format),
      place_(place),
      threads_(threads),
      codecs_(policy.coding, std::move(kernels)) {}

float MessageCoder::estimate_ratio(ConstSlice values, const Codec& codec) {
  const Buffer scratch = place_.scratch(sample_scratch(codec, values.type));
  const Sample sample = codec.sample(values, scratch.bytes());
  if (sample.status != Status::ok) throw Error(sample.status, "the codec refused a sample");
  return static_cast<float>(sample.ratio());
}

// Chooses a candidate by samples: of the cached candidate while it is good enough, else of all candidates.
// `ratio` becomes the expected ratio.
std::size_t MessageCoder::choose(ConstSlice values, const MessagePlan& plan, CandidateCache& cached_candidate,
                                 float& ratio) {
  const auto sampled = [&](std::size_t i) {
    return estimate_ratio(values, *codecs_.of(plan.candidates[i], plan.bound));
  };
  std::size_t chosen = cached_candidate.get().value_or(plan.candidates.size());
  if (chosen < plan.candidates.size()) ratio = sampled(chosen);
  if (chosen >= plan.candidates.size() || ratio < static_cast<float>(plan.least_ratio)) {
    cached_candidate.forget();
    std::array<float, max_candidates> ratios{};
    for (std::size_t i = 0; i < plan.candidates.size(); ++i) ratios[i] = sampled(i);
    chosen = best_candidate(plan.candidates, ratios);
    ratio = ratios[chosen];
  }
  cached_candidate.choose(chosen, ratio);
  return chosen;
}

void MessageCoder::decide(ConstSlice values, MessagePlan& plan, CandidateCache& cached_candidate,
                          EncodedMessage& made) {
  const Coding& coding = policy_.coding;
  Bound bound = coding.bound;
  if (coding.bits == PackedBits::exact && !bound.exact()) {
    const PackedIntegers found = find_packed_integers(values);
    made.packed = found != PackedIntegers::none;
    if (found == PackedIntegers::large) made.plain = Fallback::packed;
    if (made.plain != Fallback::none) return;
  }
  if (is_relative(bound)) bound = resolved(bound, range_of(values, coding.fill, coding.bits));
  plan = plan_message(policy_, values.count, values.type, bound, candidates_);
  made.plain = plan.plain;
  if (made.plain != Fallback::none) return;
  const bool matters = plan.least_ratio > 0 || plan.candidates.size() > 1;
  const std::size_t chosen = matters ? choose(values, plan, cached_candidate, made.expected_ratio) : 0;
  made.candidate = &plan.candidates[chosen];
  made.bound = bound;
  made.frames = plan.frames;
  if (matters && made.expected_ratio < static_cast<float>(plan.least_ratio)) made.plain = Fallback::no_gain;
}

// Encodes the values to a coded message. If it is as long as the values, the message travels plain: it would
// gain nothing, and receivers have no room for it.
void MessageCoder::write_frames(ConstSlice values, const MessagePlan& plan, EncodedMessage& made) {
  const auto codec = codecs_.of(*made.candidate, plan.bound);
  std::size_t most = 0;
  for (std::size_t i = 0; i < plan.frames; ++i)
    most += codec->max_bytes(values.type, block(values, i, plan.frames).count);
  made.buffer = place_.scratch(format_.length(envelope_bytes + most));
  const Bytes frames = made.buffer.bytes().subspan(envelope_bytes);
  for (std::size_t i = 0; i < plan.frames; ++i) {
    const Sized size = codec->encode(block(values, i, plan.frames), frames.subspan(made.frame_bytes));
    if (size.status != Status::ok) throw Error(size.status, "the codec refused values");
    made.frame_bytes += size.bytes;
  }
  if (format_.length(envelope_bytes + made.frame_bytes) >= values.bytes())
    made.plain = Fallback::no_gain;
  else
    made.bytes = seal(format_, static_cast<std::uint8_t>(values.type), values.bytes(), made.frame_bytes,
                      made.buffer.bytes());
}

MessageCoder::StreamState& MessageCoder::stream_state(ConstSlice values, std::uint64_t stream) noexcept {
  const auto type = static_cast<std::uint64_t>(values.type);
  const auto size = static_cast<std::uint64_t>(std::bit_width(values.bytes()));
  const std::uint64_t mixed = (stream * 16 + type) * 64 + size;
  return streams_[mixed * 0x9E3779B97F4A7C15 >> 56];  // Fibonacci hashing
}

EncodedMessage MessageCoder::encode(ConstSlice values, std::uint64_t stream) noexcept {
  EncodedMessage made;
  StreamState& stream_state = this->stream_state(values, stream);
  if (!stream_state.backoff.has()) {
    made.plain = Fallback::no_gain;
    return made;
  }
  made.begin = made.decided = clock_now();
  try {
    MessagePlan plan;
    decide(values, plan, stream_state.cached_candidate, made);
    made.decided = clock_now();
    if (made.plain == Fallback::none) write_frames(values, plan, made);
  } catch (const Error& error) {
    made.plain = error.status() == Status::out_of_memory ? Fallback::memory : Fallback::unsupported;
  } catch (const std::bad_alloc&) {
    made.plain = Fallback::memory;
  }
  if (made.plain != Fallback::none) made.buffer = {};
  stream_state.backoff.tried(made.plain != Fallback::no_gain && made.plain != Fallback::packed,
                             values.bytes());
  made.end = clock_now();
  return made;
}

const Codec& MessageCoder::decoder(const FrameHeader& header) {
  for (const Decoder& known : decoders_)
    if (known.frame_id == header.codec && known.kind == header.bound.kind) return *known.codec;
  decoders_.push_back({header.codec, header.bound.kind, make_decoder(header, codecs_.kernels(), threads_)});
  return *decoders_.back().codec;
}

Status MessageCoder::decode(ConstBytes frames, std::uint8_t type, Bytes values) noexcept {
  try {
    while (!frames.empty()) {
      FrameHeader header;
      if (const Status status = read_header(frames, header); status != Status::ok) return status;
      const bool expected = type == 0 || header.type == static_cast<DType>(type);
      const std::size_t most = values.size() / size_of(header.type);
      if (!expected || header.count == 0 || header.count > most) return Status::frame_mismatch;
      const Slice part{{values.data(), static_cast<std::size_t>(header.count), header.type}};
      const std::size_t bytes = frame_header_bytes + static_cast<std::size_t>(header.payload_bytes);
      const Status status = decoder(header).decode(frames.first(bytes), part);
      if (status != Status::ok) return status;
      frames = frames.subspan(bytes);
      values = values.subspan(part.bytes());
    }
    return values.empty() ? Status::ok : Status::frame_mismatch;
  } catch (const Error& error) {
    return error.status();
  } catch (const std::bad_alloc&) {
    return Status::out_of_memory;
  }
}

void note_sent(const EncodedMessage& made, std::size_t bytes, CallRow& row) noexcept {
  if (made.expected_ratio != 0) row.expected_ratio = made.expected_ratio;
  row.sum.packed_calls += made.packed;
  row.sum.times[Phase::agree] += made.decided - made.begin;
  row.sum.times[Phase::encode] += made.end - made.decided;
  if (made.bytes == 0) return row.note_plain(made.plain);
  ++row.sum.compressed_calls;
  ++row.sum.sent_messages;
  row.sum.value_bytes += bytes;
  row.sum.carried_bytes += bytes;
  row.sum.frame_bytes += made.frame_bytes;
  row.sum.sent_bytes += made.bytes;
  row.decision = {made.candidate->codec->name,   {},        "one_message", Arithmetic::values,
                  static_cast<int>(made.frames), made.bound};
  made.candidate->predictor.copy(row.decision.predictor, sizeof row.decision.predictor - 1);
}

}  // namespace taut
