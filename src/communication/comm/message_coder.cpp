#include "communication/comm/message_coder.hpp"

#include <bit>
#include <cstring>

#include "communication/gpu/frame_codec.hpp"
#include "compressor/base/guarded.hpp"
#include "compressor/base/options.hpp"
#include "compressor/frame/packed_integers.hpp"
#include "compressor/frame/sample.hpp"

namespace taut {

MessageCoder::MessageCoder(const Policy& policy, const MessageFormat& format, Place& place,
                           std::string kernels, int threads)
    : policy_(policy), format_(format), place_(place), threads_(threads), codecs_(std::move(kernels)) {}

float MessageCoder::estimate_ratio(ConstSlice values, const Codec& codec) {
  const Buffer scratch = place_.scratch(sample_scratch(codec, values.type));
  const Sample sample = codec.sample(values, scratch.bytes());
  if (sample.status != Status::ok) throw Error(sample.status, "the codec refused a sample");
  return static_cast<float>(sample.ratio());
}

// Returns the codec of a candidate for the values of a message; null if no kernels serve it on their GPU.
std::shared_ptr<const Codec> MessageCoder::codec_of(const Coding& candidate, const Message& message) {
  std::shared_ptr<const Codec> host = codecs_.find_or_make(candidate, message.bound);
  if (message.device == nullptr) return host;
  return gpu::codec_on_device(std::move(host), candidate.with_bound(message.bound), message.device->values(),
                              message.following.segments != 0);
}

Place& MessageCoder::frames_of(const Message& message) noexcept {
  return message.device != nullptr ? message.device->frames() : place_;
}

// Returns the range of the values, for a bound that is relative to it. Throws Error.
ValueRange MessageCoder::range(ConstSlice values, const Message& message) {
  const Coding& coding = policy_.coding;
  if (message.device == nullptr) return range_of(values, coding.fill, coding.bits);
  ValueRange range;
  const Status status = message.device->values().range(values, coding, range);
  if (status != Status::ok) throw Error(status, describe(status));
  return range;
}

// Chooses a candidate by samples: of the cached candidate while it is good enough, else of all candidates
// that serve the message. Sets the expected ratio.
void MessageCoder::choose(ConstSlice sampled, const MessagePlan& plan, CandidateCache& cached_candidate,
                          Message& message) {
  const auto ratio_of = [&](std::size_t i) {
    const auto codec = codec_of(plan.candidates[i], message);
    return codec != nullptr ? estimate_ratio(sampled, *codec) : 0;
  };
  float& ratio = message.expected_ratio;
  std::size_t chosen = cached_candidate.get().value_or(plan.candidates.size());
  if (chosen < plan.candidates.size()) ratio = ratio_of(chosen);
  if (chosen >= plan.candidates.size() || ratio == 0 || ratio < static_cast<float>(plan.min_ratio)) {
    cached_candidate.forget();
    std::array<float, max_candidates> ratios{};
    for (std::size_t i = 0; i < plan.candidates.size(); ++i) ratios[i] = ratio_of(i);
    chosen = best_candidate(plan.candidates, ratios);
    ratio = ratios[chosen];
  }
  cached_candidate.choose(chosen, ratio);
  message.candidate = &plan.candidates[chosen];
}

// Replaces the expected ratio by that of the first candidate with references, as forecast, if it is greater;
// drops the forecast otherwise.
void MessageCoder::apply_forecast(ConstSlice sampled, const MessagePlan& plan, Message& message) {
  if (message.forecast.period == 0) return;
  const Coding& first = plan.candidates[0];
  const float alone = message.candidate == &first ? message.expected_ratio
                                                  : estimate_ratio(sampled, *codec_of(first, message));
  const float ratio = alone * message.forecast.gain;
  if (ratio < message.expected_ratio)
    message.forecast = {};
  else
    message.expected_ratio = ratio;
}

// Decides by samples of the values: if their packed integers keep them from being coded, and which candidate
// codes them.
void MessageCoder::sample(ConstSlice values, const MessagePlan& plan, CandidateCache& cached_candidate,
                          Message& message) {
  const bool matters = plan.min_ratio > 0 || plan.candidates.size() > 1;
  const bool rounds_packed = policy_.coding.bits == PackedBits::exact && !message.bound.exact();
  message.candidate = &plan.candidates[0];
  if (!matters && !rounds_packed) return;
  std::optional<gpu::SampledParts> parts;
  if (message.device != nullptr) {
    parts.emplace(message.device->values().device(), values, plan.candidates);
    values = parts->values();
  }
  if (rounds_packed) {
    const PackedIntegers found = find_packed_integers(values);
    message.packed = found != PackedIntegers::none;
    if (found == PackedIntegers::large) message.fallback = Fallback::packed;
  }
  if (message.fallback != Fallback::none || !matters) return;
  choose(values, plan, cached_candidate, message);
  apply_forecast(values, plan, message);
  if (message.expected_ratio < static_cast<float>(plan.min_ratio)) message.fallback = Fallback::no_gain;
}

// Returns the codec for frames with references, which chooses its predictor anew unless the policy names one.
std::shared_ptr<const Codec> MessageCoder::codec_with_references(const Coding& candidate,
                                                                 const Message& message) {
  Coding coding = candidate;
  if (policy_.coding.predictor.automatic()) coding.predictor = {};
  return codecs_.find_or_make(coding, message.bound);
}

// Forecasts what references to earlier messages would give.
void MessageCoder::forecast_gain(ConstSlice values, const MessageHistory& history, const MessagePlan& plan,
                                 Message& message) {
  const Coding& candidate = plan.candidates[0];
  if (history.states == nullptr || message.device != nullptr || !candidate.codec->takes_references) return;
  message.forecast =
      history.states->look(history.stream, values, *codec_with_references(candidate, message),
                           policy_.history, policy_.only_if_profitable() ? worthwhile_saving : 0);
}

void MessageCoder::decide(ConstSlice values, const MessageHistory& history, MessagePlan& plan,
                          CandidateCache& cached_candidate, Message& message) {
  message.bound = bound_for(values.type, policy_.coding.bound);
  if (is_relative(message.bound))
    message.bound = resolved_bound(policy_, message.bound, range(values, message));
  plan = plan_message(policy_, values.count, values.type, message.bound, candidates_);
  message.fallback = plan.fallback;
  if (message.fallback != Fallback::none) return;
  const auto is_served = [&](const Coding& candidate) { return codec_of(candidate, message) != nullptr; };
  if (message.device != nullptr && std::ranges::none_of(plan.candidates, is_served)) {
    message.fallback = Fallback::device;
  } else {
    forecast_gain(values, history, plan, message);
    sample(values, plan, cached_candidate, message);
  }
}

// Returns the memory that a coded message may need, or the values themselves.
std::size_t MessageCoder::max_message_bytes(ConstSlice values, const Codec& codec, std::size_t frames) {
  std::size_t most = 0;
  for (std::size_t i = 0; i < frames; ++i)
    most += codec.max_bytes(values.type, block(values, i, frames).count);
  const std::size_t header = FollowingSegments{.segments = 1}.header_bytes() + StateNotice::header_bytes;
  return format_.length(std::max(header + most, values.bytes()));
}

// Begins the state that the message leaves, if its forecast says that later messages gain by it, and chooses
// the references of the message.
void MessageCoder::begin_state(ConstSlice values, const MessageHistory& history, const MessagePlan& plan,
                               Message& message) {
  if (message.forecast.period == 0) return;
  message.state = history.states->make_state(history.stream, values, policy_.history_bytes);
  if (message.state == nullptr) return;
  message.references = history.states->references(history.stream, message.forecast.period);
  if (message.references.n == 0) return;
  message.refers = true;
  message.candidate = &plan.candidates[0];
  message.encoder = codec_with_references(*message.candidate, message);
}

// Encodes a part of the values, and copies what its receiver decodes to the state that the message leaves.
SizeOrStatus MessageCoder::encode_part(ConstSlice part, std::size_t offset, Bytes out, Message& message) {
  const ChosenReferences references = message.references.at(offset, part.count);
  const SizeOrStatus size = message.encoder->encode(part, references.span(), out);
  if (size.status != Status::ok || message.state == nullptr) return size;
  const Slice kept{message.state->values().part(offset / size_of(part.type), part.count)};
  if (message.bound.exact()) return std::memcpy(kept.data, part.data, part.bytes()), size;
  const Status status = message.encoder->decode(out.first(size.bytes), references.span(), kept);
  return status == Status::ok ? size : SizeOrStatus{status};
}

// Encodes the values, or the first segment of them, to a coded message. If it is as long as the values, the
// message travels plain: it would gain nothing, and receivers have no room for it.
void MessageCoder::write_frames(ConstSlice values, const MessageHistory& history, const MessagePlan& plan,
                                Message& message) {
  begin_state(values, history, plan, message);
  if (message.encoder == nullptr) message.encoder = codec_of(*message.candidate, message);
  const std::size_t segments = message.following.segments + std::size_t{1};
  const std::size_t frames_of_one = segments == 1 ? plan.frames : 1;
  const ConstSlice first = block(values, 0, segments);
  message.room = max_message_bytes(first, *message.encoder, frames_of_one);
  message.buffer = frames_of(message).scratch(2 * message_padding + segments * message.room);
  const std::size_t header = message.header_bytes();
  const Bytes frames = message.memory().subspan(header);
  std::size_t offset = 0;
  for (std::size_t i = 0; i < frames_of_one; ++i) {
    const ConstSlice part = block(first, i, frames_of_one);
    const SizeOrStatus size = encode_part(part, offset, frames.subspan(message.frame_bytes), message);
    if (size.status != Status::ok) throw Error(size.status, "the codec refused values");
    message.frame_bytes += size.bytes;
    offset += part.bytes();
  }
  message.frames = segments * frames_of_one;
  if (format_.length(header + message.frame_bytes) >= first.bytes()) {
    message.fallback = Fallback::no_gain;
    return;
  }
  StateNotice notice;
  if (message.state != nullptr)
    notice = history.states->leave(history.stream, message.state, message.references);
  message.coded_bytes = seal(format_, static_cast<std::uint8_t>(values.type), values.bytes(),
                             message.frame_bytes, message.memory(), message.following, notice);
  message.codec = message.candidate->codec;
  begin_check(first, message);
}

// Checks a message if that is due (TAUT_CHECK): the sender expands the frames as the receiver will.
void MessageCoder::begin_check(ConstSlice values, Message& message) {
  if (message.device != nullptr || !is_checked(coded_++, options().check)) return;
  message.check.emplace(Promise{message.bound}, 0);
  check(values, 0, message.memory().subspan(message.header_bytes(), message.frame_bytes), message);
}

// Compares the next values of a message that is checked with those that their frames hold.
// `offset`: of the values in the message.
void MessageCoder::check(ConstSlice values, std::size_t offset, ConstBytes frames, Message& message) {
  if (!message.check) return;
  const std::uint64_t began = clock_now();
  std::vector<std::byte> expanded(values.bytes());
  const Status status = decode(frames, static_cast<std::uint8_t>(values.type), expanded,
                               {nullptr, &message.references, message.bytes, offset});
  if (status != Status::ok) throw Error(status, "a frame cannot be checked");
  message.check->add(values, {{expanded.data(), values.count, values.type}});
  message.check_nanoseconds += clock_now() - began;
}

namespace {

// Returns the memory of the message that carries segment `i` > 0.
Bytes segment_memory(const Message& message, std::size_t i) noexcept {
  return message.memory().subspan(message_padding + i * message.room, message.room);
}

// Returns the offset of a part of the values, in bytes.
std::size_t offset_of(ConstSlice part, ConstSlice values) noexcept {
  return static_cast<std::size_t>(part.as_bytes().data() - values.as_bytes().data());
}

}  // namespace

// Starts to encode segment `i`, unless it is started or there is none.
void MessageCoder::start_segment(ConstSlice values, std::size_t i, Message& message) {
  std::unique_ptr<StartedSegment>& started = message.started[i % 2];
  const std::size_t segments = message.following.segments + std::size_t{1};
  if (started != nullptr || i >= segments) return;
  started = std::make_unique<StartedSegment>();
  started->item = {block(values, i, segments), segment_memory(message, i).subspan(envelope_bytes)};
  auto& [part, out, made, references] = started->item;
  if (message.device == nullptr) return void(made = encode_part(part, offset_of(part, values), out, message));
  started->operation = CodecHandle(*message.encoder).encode({&started->item, 1});
  started->operation.ready();  // launches the kernels
}

// Completes a coded message of segment `i`, which has been started. Returns its length; 0 if it is not
// shorter than the values.
std::size_t MessageCoder::write_segment(ConstSlice segment, std::size_t offset, std::size_t i,
                                        Message& message) {
  const std::unique_ptr<StartedSegment> started = std::move(message.started[i % 2]);
  const SizeOrStatus outcome = started->operation.wait();
  const SizeOrStatus size = outcome.status == Status::ok ? started->item.made : outcome;
  const MessageFormat format{.mark = format_.mark};
  if (size.status != Status::ok || format.length(envelope_bytes + size.bytes) >= segment.bytes()) return 0;
  message.frame_bytes += size.bytes;
  check(segment, offset, started->item.out.first(size.bytes), message);
  return seal(format, static_cast<std::uint8_t>(segment.type), segment.bytes(), size.bytes,
              segment_memory(message, i));
}

ConstBytes MessageCoder::encode_segment(ConstSlice values, std::size_t i, Message& message) noexcept {
  const ConstSlice segment = block(values, i, message.following.segments + std::size_t{1});
  const Bytes at = segment_memory(message, i);
  std::size_t bytes = 0;
  try {
    start_segment(values, i, message);
    if (message.device != nullptr) start_segment(values, i + 1, message);
    bytes = write_segment(segment, offset_of(segment, values), i, message);
  } catch (...) {  // the values travel as they are
  }
  message.started[i % 2].reset();
  if (bytes == 0) {
    Place& place = message.device != nullptr ? message.device->values() : place_;
    const Status status = place.copy(at.data(), segment.as_bytes().data(), segment.bytes());
    if (status != Status::ok) message.failure = status;
    bytes = status == Status::ok ? segment.bytes() : 0;
    if (message.state != nullptr)
      std::memcpy(message.state->values().as_bytes().data() + offset_of(segment, values), segment.data,
                  bytes);
    message.frame_bytes += bytes;
  }
  message.later_bytes += (bytes + 15) / 16 * 16;
  message.end = clock_now();
  return at.first(bytes);
}

MessageCoder::MessageKindState& MessageCoder::kind_state(ConstSlice values, std::uint64_t kind) noexcept {
  const auto type = static_cast<std::uint64_t>(values.type);
  const auto size = static_cast<std::uint64_t>(std::bit_width(values.bytes()));
  const std::uint64_t mixed = (kind * 16 + type) * 64 + size;
  return kinds_[mixed * 0x9E3779B97F4A7C15 >> 56];  // Fibonacci hashing
}

Message MessageCoder::encode(ConstSlice values, std::uint64_t kind, const FollowingSegments& following,
                             const MessageHistory& history) noexcept {
  Message message{.bytes = values.bytes(), .type = values.type, .following = following};
  const auto device = devices_.of(values.data);
  if (!device) {
    message.fallback = Fallback::device;
    return message;
  }
  message.device = *device;
  MessageKindState& kind_state = this->kind_state(values, kind);
  if (!kind_state.backoff.has()) {
    message.fallback = Fallback::no_gain;
    return message;
  }
  message.begin = message.decided = clock_now();
  const Status status = guarded([&] {
    MessagePlan plan;
    decide(values, history, plan, kind_state.cached_candidate, message);
    message.decided = clock_now();
    if (message.fallback == Fallback::none) write_frames(values, history, plan, message);
  });
  if (status != Status::ok) {
    message.fallback = status == Status::out_of_memory ? Fallback::memory : Fallback::failed;
    if (message.device != nullptr) message.failure = status;
  }
  if (message.fallback != Fallback::none) {
    if (history.states != nullptr) history.states->give_up(message.references);
    message.buffer = {};
    message.refers = false;
  }
  kind_state.backoff.tried(message.fallback != Fallback::no_gain && message.fallback != Fallback::packed,
                           values.bytes());
  message.end = clock_now();
  return message;
}

std::shared_ptr<const Codec> MessageCoder::decoder(const FrameHeader& header) {
  for (const Decoder& known : decoders_)
    if (known.frame_id == header.codec && known.kind == header.bound.kind) return known.codec;
  decoders_.push_back(
      {header.codec, header.bound.kind, on_coding_stack(make_decoder(header, codecs_.kernels(), threads_))});
  return decoders_.back().codec;
}

// Decodes one frame. `device`: that has the values; null: the host. `whole`: offset is that of the frame.
Status MessageCoder::decode_frame(ConstBytes frame, const FrameHeader& header, Slice values,
                                  MessageDevice* device, const WholeMessage& whole) {
  const StateNumbers states = state_numbers_in(header, frame);
  if (states.any()) return decode_referring(frame, header, states, values, device, whole);
  const std::shared_ptr<const Codec> host = decoder(header);
  if (device == nullptr) return host->decode(frame, values);
  const auto coding = gpu::decoding_of(header, frame.subspan(frame_header_bytes));
  return gpu::FrameCodec(host, coding.value_or(Coding{}), device->values()).decode(frame, values);
}

// Decodes a frame that refers to earlier messages, on the host.
Status MessageCoder::decode_referring(ConstBytes frame, const FrameHeader& header, const StateNumbers& states,
                                      Slice values, MessageDevice* device, const WholeMessage& whole) {
  std::optional<HeldReferences> named;
  if (whole.own != nullptr) named = *whole.own;
  if (whole.states != nullptr) named = whole.states->named(states, values.type, whole.bytes);
  if (!named) return Status::frame_mismatch;
  const ChosenReferences references = named->at(whole.offset, values.count);
  const std::shared_ptr<const Codec> host = decoder(header);
  if (device == nullptr) return host->decode(frame, references.span(), values);
  const Buffer memory = place_.scratch(values.bytes());
  const Status status = host->decode(frame, references.span(), {{memory.data(), values.count, values.type}});
  return status == Status::ok ? device->values().copy(values.as_bytes().data(), memory.data(), values.bytes())
                              : status;
}

Status MessageCoder::decode(ConstBytes frames, std::uint8_t type, Bytes values, WholeMessage whole) noexcept {
  return guarded([&] {
    const auto device = devices_.of(values.data());
    if (!device) return Status::device_failed;
    while (!frames.empty()) {
      FrameHeader header;
      if (const Status status = read_header(frames, header); status != Status::ok) return status;
      const bool expected = type == 0 || header.type == static_cast<DType>(type);
      const std::size_t most = values.size() / size_of(header.type);
      if (!expected || header.count == 0 || header.count > most) return Status::frame_mismatch;
      const Slice part{{values.data(), static_cast<std::size_t>(header.count), header.type}};
      const std::size_t bytes = frame_header_bytes + static_cast<std::size_t>(header.payload_bytes);
      const Status status = decode_frame(frames.first(bytes), header, part, device->get(), whole);
      if (status != Status::ok) return status;
      frames = frames.subspan(bytes);
      values = values.subspan(part.bytes());
      whole.offset += part.bytes();
    }
    return values.empty() ? Status::ok : Status::frame_mismatch;
  });
}

void note_sent(const Message& message, CallRow& row) noexcept {
  if (message.expected_ratio != 0) row.expected_ratio = message.expected_ratio;
  row.sum.packed_calls += message.packed;
  row.sum.times[Phase::agree] += message.decided - message.begin;
  row.sum.times[Phase::encode] += message.end - message.decided - message.check_nanoseconds;
  if (!message.coded()) return row.note_plain(message.fallback);
  ++row.sum.compressed_calls;
  row.sum.sent_messages += message.following.segments + std::size_t{1};
  if (message.check) message.check->count(row.checks, message.check_nanoseconds);
  row.sum.value_bytes += message.bytes;
  row.sum.carried_bytes += message.bytes;
  row.sum.frame_bytes += message.frame_bytes;
  row.sum.sent_bytes += message.coded_bytes + message.later_bytes;
  row.sum.referring_calls += message.refers;
  row.decision = {
      message.codec->name, {}, "one_message", Arithmetic::values, static_cast<int>(message.frames),
      message.bound};
  text_of(message.candidate->predictor).copy(row.decision.predictor, sizeof row.decision.predictor - 1);
}

}  // namespace taut
