#include "core/team.hpp"

namespace taut {
namespace {

// A frame without a payload that says why there is none.
ConstBytes write_notice(Status failure, DType type, std::size_t count, Bytes out) noexcept {
  FrameHeader header;
  header.flags = FrameHeader::failed;
  header.type = type;
  header.count = count;
  header.failure = static_cast<std::uint32_t>(failure);
  write_header(header, out);
  return out.first(frame_header_bytes);
}

// Why a frame that came in, or was found in a bundle, cannot be used. ok: it is what was expected.
Status inspect(ConstBytes bytes, DType type, std::size_t count, std::uint32_t addends) noexcept {
  FrameHeader header;
  if (const Status status = read_header(bytes, header); status != Status::ok) return status;
  if (header.has(FrameHeader::failed)) return Status::peer_failed;
  const bool expected = header.type == type && header.count == count && header.addends == addends &&
                        frame_header_bytes + header.payload_bytes == bytes.size();
  return expected ? Status::ok : Status::frame_mismatch;
}

// The size of the frame at the start of `bytes`; 0 when there is none.
std::size_t frame_size(ConstBytes bytes) noexcept {
  FrameHeader header;
  if (read_header(bytes, header) != Status::ok) return 0;
  return frame_header_bytes + static_cast<std::size_t>(header.payload_bytes);
}

}  // namespace

ConstBytes Bundle::frames(std::size_t first, std::size_t n) const noexcept {
  ConstBytes rest{buffer.data(), bytes};
  std::size_t begin = 0, size = 0;
  for (std::size_t i = 0; i < first + n; ++i) {
    const std::size_t frame = frame_size(rest.subspan(begin + size));
    if (frame == 0) break;
    (i < first ? begin : size) += frame;
    if (i + 1 == first + n) return rest.subspan(begin, size);
  }
  return rest.subspan(begin, size);
}

// Takes the time of a verb.
class Team::Timed {
 public:
  Timed(const Team& team, Verb verb, std::size_t bytes) noexcept : team_(team), verb_(verb), bytes_(bytes) {}
  Timed(const Timed&) = delete;
  ~Timed() { team_.ledger_->spent(verb_, team_.segment_, begin_, bytes_); }

 private:
  const Team& team_;
  Verb verb_;
  std::size_t bytes_;
  std::uint64_t begin_ = clock_now();
};

Team Team::segment(int k, int segments) const noexcept {
  Team part = *this;
  part.lane_ = lane_ + k;
  part.segment_ = k;
  part.segments_ = segments;
  return part;
}

// ---- Frames and failures

Buffer Team::scratch(std::size_t bytes) noexcept {
  try {
    return place_->scratch(bytes);
  } catch (const Error& error) {
    note(error.status());
  } catch (...) {
    note(Status::out_of_memory);
  }
  return {};
}

Frame Team::fail(Status failure, DType type, std::size_t count) noexcept {
  note(failure);
  return Frame{{}, 0, failure, 1, type, count};
}

Frame Team::made(Buffer buffer, Sized size, const Frame& kind) noexcept {
  if (size.status != Status::ok) return fail(size.status, kind.type, kind.count);
  ledger_->value_bytes += kind.count * size_of(kind.type);
  ledger_->frame_bytes += size.bytes;
  return Frame{std::move(buffer), size.bytes, Status::ok, kind.addends, kind.type, kind.count};
}

// ---- Values and frames

Frame Team::encode(ConstSlice values) noexcept {
  const Timed timed(*this, Verb::encode, values.bytes());
  ++ledger_->encodes;
  const Frame kind{{}, 0, Status::ok, 1, values.type, values.count};
  Buffer out = scratch(codec_->max_bytes(values.type, values.count));
  if (out.data() == nullptr) return fail(Status::out_of_memory, values.type, values.count);
  const Sized size = codec_->encode(values, out.bytes());
  return made(std::move(out), size, kind);
}

void Team::decode(const Frame& frame, Slice values) noexcept {
  const Timed timed(*this, Verb::decode, values.bytes());
  ++ledger_->decodes;
  note(frame.status == Status::ok ? codec_->decode(frame.view(), values) : frame.status);
}

// result <- decode(partial) op own. A sum can be fused with decoding.
Status Team::reduce(ConstBytes partial, ConstSlice own, Reduction op, Slice result) noexcept {
  if (op == Reduction::sum) {
    place_->copy(result.as_bytes().data(), own.as_bytes().data(), own.bytes());
    return codec_->reduce(partial, result, op);
  }
  const Status status = codec_->decode(partial, result);
  if (status == Status::ok) reduce_values(result, own, op);
  return status;
}

Frame Team::combine(const Frame& partial, ConstSlice own, Reduction op) noexcept {
  const Timed timed(*this, Verb::combine, own.bytes());
  ++ledger_->combines;
  if (partial.status != Status::ok) return fail(partial.status, own.type, own.count);
  return combined(partial.view(), partial.addends, own, op);
}

// A partial result of `addends` ranks, and values.
Frame Team::combined(ConstBytes partial, std::uint32_t addends, ConstSlice own, Reduction op) noexcept {
  const bool add = how_ == Arithmetic::frames;
  const Frame kind{{}, 0, Status::ok, add ? addends + 1 : 1, own.type, own.count};
  Buffer out = scratch(codec_->max_bytes(kind.type, kind.count, kind.addends));
  Buffer values = add ? Buffer() : scratch(own.bytes());
  if (out.data() == nullptr || (!add && values.data() == nullptr))
    return fail(Status::out_of_memory, own.type, own.count);
  if (add) {
    const Sized size = codec_->arithmetic()->accumulate(partial, own, out.bytes());
    return made(std::move(out), size, kind);
  }
  const Slice result{{values.data(), own.count, own.type}};
  if (const Status status = reduce(partial, own, op, result); status != Status::ok)
    return fail(status, own.type, own.count);
  const Sized size = codec_->encode(result, out.bytes());
  return made(std::move(out), size, kind);
}

Frame Team::combine(const Frame& a, const Frame& b, Reduction op) noexcept {
  const Timed timed(*this, Verb::combine, a.count * size_of(a.type));
  ++ledger_->combines;
  if (a.status != Status::ok || b.status != Status::ok)
    return fail(a.status != Status::ok ? a.status : b.status, a.type, a.count);
  if (how_ == Arithmetic::values) {
    // Decode one, then operate and encode as with values of our own.
    Buffer values = scratch(a.count * size_of(a.type));
    const Slice first{{values.data(), a.count, a.type}};
    const Status status = values.data() == nullptr ? Status::out_of_memory : codec_->decode(a.view(), first);
    if (status != Status::ok) return fail(status, a.type, a.count);
    return combined(b.view(), b.addends, first, op);
  }
  const Frame kind{{}, 0, Status::ok, a.addends + b.addends, a.type, a.count};
  Buffer out = scratch(codec_->max_bytes(kind.type, kind.count, kind.addends));
  if (out.data() == nullptr) return fail(Status::out_of_memory, a.type, a.count);
  const ConstBytes both[] = {a.view(), b.view()};
  const Sized size = codec_->arithmetic()->sum(both, out.bytes());
  return made(std::move(out), size, kind);
}

// ---- Bundles

Bundle Team::encode_blocks(const Blocks<ConstSlice>& values, int first, int n) noexcept {
  const ConstSlice one = chunk(values, first);
  const Timed timed(*this, Verb::encode, one.bytes() * static_cast<std::size_t>(n));
  const std::size_t most = codec_->max_bytes(one.type, one.count);
  Bundle bundle{scratch(most * static_cast<std::size_t>(n)), 0, one.type, one.count};
  if (bundle.buffer.data() == nullptr) return bundle;
  for (int i = first; i < first + n; ++i) {
    ++ledger_->encodes;
    const Bytes out = bundle.buffer.bytes().subspan(bundle.bytes);
    const Sized size = codec_->encode(chunk(values, i), out);
    note(size.status);
    if (size.status != Status::ok) write_notice(size.status, one.type, one.count, out);
    bundle.bytes += size.status == Status::ok ? size.bytes : frame_header_bytes;
    ledger_->value_bytes += one.bytes();
    ledger_->frame_bytes += size.bytes;
  }
  return bundle;
}

void Team::decode(const Bundle& bundle, int i, Slice values) noexcept {
  const Timed timed(*this, Verb::decode, values.bytes());
  ++ledger_->decodes;
  const ConstBytes frame = bundle.frames(static_cast<std::size_t>(i), 1);
  const Status status = inspect(frame, values.type, values.count, 1);
  note(status == Status::ok ? codec_->decode(frame, values) : status);
}

// ---- Communication

Sending::Sending(Team& team, const Frame& frame, int to) : waiting_(team) {
  ConstBytes bytes = frame.view();
  if (frame.status != Status::ok) bytes = write_notice(frame.status, frame.type, frame.count, notice_);
  pending_ = team.transport_->send(bytes, to, team.lane_);
  team.ledger_->sent(bytes.size(), frame.count * size_of(frame.type));
}

Sending::Sending(Team& team, const Bundle& bundle, int first, int n, int to) : waiting_(team) {
  ConstBytes bytes = bundle.frames(static_cast<std::size_t>(first), static_cast<std::size_t>(n));
  if (bytes.empty()) bytes = write_notice(Status::peer_failed, bundle.type, bundle.count, notice_);
  pending_ = team.transport_->send(bytes, to, team.lane_);
  team.ledger_->sent(bytes.size(), static_cast<std::size_t>(n) * bundle.count * size_of(bundle.type));
}

Receiving::Receiving(Team& team, int from, ConstSlice like, std::uint32_t addends)
    : team_(team), waiting_(team) {
  frame_.addends = team.how_ == Arithmetic::frames ? addends : 1;
  frame_.type = like.type;
  frame_.count = like.count;
  frame_.buffer = team.scratch(team.codec_->max_bytes(like.type, like.count, frame_.addends));
  pending_ = team.transport_->recv(capacity(), from, team.lane_);
}

Bytes Receiving::capacity() noexcept {
  return frame_.buffer.data() != nullptr ? frame_.buffer.bytes() : Bytes(notice_);
}

Frame Receiving::result() noexcept {
  const Sized moved = pending_.result();
  waiting_.over(moved.bytes);
  frame_.bytes = moved.bytes;
  frame_.status = moved.status;
  if (moved.status == Status::ok)
    frame_.status = inspect(capacity().first(moved.bytes), frame_.type, frame_.count, frame_.addends);
  if (frame_.status == Status::ok && frame_.buffer.data() == nullptr) frame_.status = Status::out_of_memory;
  team_.note(frame_.status);
  return std::move(frame_);
}

ReceivingBundle::ReceivingBundle(Team& team, int from, ConstSlice like, int n) : team_(team), waiting_(team) {
  bundle_.type = like.type;
  bundle_.count = like.count;
  bundle_.buffer = team.scratch(team.codec_->max_bytes(like.type, like.count) * static_cast<std::size_t>(n));
  const bool none = bundle_.buffer.data() == nullptr;
  pending_ = team.transport_->recv(none ? Bytes(notice_) : bundle_.buffer.bytes(), from, team.lane_);
}

Bundle ReceivingBundle::result() noexcept {
  const Sized moved = pending_.result();
  waiting_.over(moved.bytes);
  team_.note(moved.status);
  const bool usable = moved.status == Status::ok && bundle_.buffer.data() != nullptr;
  bundle_.bytes = usable ? moved.bytes : 0;
  return std::move(bundle_);
}

}  // namespace taut
