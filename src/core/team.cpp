#include "core/team.hpp"

#include <algorithm>
#include <array>

namespace taut {

Team Team::segment(int k, int segments) const noexcept {
  Team part = *this;
  part.lane_ = lane_ + k;
  part.segment_ = part.part_ = k;
  part.parts_ = segments;
  return part;
}

Team Team::in_blocks(int n) const noexcept {
  Team other = *this;
  other.blocks_ = n;
  return other;
}

Team Team::among(std::span<const int> ranks) const noexcept {
  Team some = *this;
  some.members_ = ranks;
  some.rank_ = static_cast<int>(std::ranges::find(ranks, rank_) - ranks.begin());
  some.size_ = some.blocks_ = static_cast<int>(ranks.size());
  return some;
}

Team Team::in_blocks_of_all() const noexcept {
  Team other = in_blocks(transport_->size());
  other.members_blocks_ = true;
  return other;
}

Team Team::of_segment() const noexcept {
  Team other = *this;
  other.part_ = 0;
  other.parts_ = 1;
  return other;
}

// ---- Frames and failures

Buffer Team::scratch(Place& place, std::size_t bytes) noexcept {
  try {
    return place.scratch(bytes);
  } catch (const Error& error) {
    note(error.status());
  } catch (...) {
    note(Status::out_of_memory);
  }
  return {};
}

Frames Team::empty(DType type, std::size_t count, int n) noexcept {
  return {scratch(max_bytes(type, count) * static_cast<std::size_t>(n)), 0, type, count};
}

Frames Team::empty(ConstSlice largest, int n) noexcept { return empty(largest.type, largest.count, n); }

// Appends the frame that was written to the free room, or a notice if making the frame failed.
void Team::append(Frames& to, Sized made, std::size_t count) noexcept {
  note(made.status);
  if (made.status == Status::ok) {
    counters_->value_bytes += count * size_of(to.type);
    counters_->frame_bytes += made.bytes;
  } else {
    made.bytes = write_notice(made.status, to.type, count, to.room()).size();
  }
  to.bytes += made.bytes;
}

// ---- Values and frames

void Team::encode(ConstSlice values, Frames& to, Status known) noexcept {
  const Timed timed(*this, Phase::encode, values.bytes());
  ++counters_->encodes;
  if (to.buffer.data() == nullptr) return;
  if (known == Status::ok) known = failed();
  append(to, known == Status::ok ? codec_->encode(values, to.room()) : Sized{known}, values.count);
}

Frames Team::encode(ConstSlice values, Status known) noexcept {
  Frames frame = empty(values, 1);
  encode(values, frame, known);
  return frame;
}

Frames Team::encode(const Blocks<ConstSlice>& values, int first, int n) noexcept {
  Frames blocks = empty(chunk(values, 0), n);
  for (int i = first; i < first + n; ++i) encode(chunk(values, i), blocks);
  return blocks;
}

Status Team::decode(const Frames& frames, int i, Slice values) noexcept {
  const Timed timed(*this, Phase::decode, values.bytes());
  ++counters_->decodes;
  const ConstBytes frame = frames.part(i, 1);
  Status status = inspect(frame, values.type, values.count, addends());
  if (status == Status::ok) status = failed();
  if (status == Status::ok) status = codec_->decode(frame, values);
  note(status);
  return status;
}

void Team::copy(const Frames& from, int i, Frames& to) noexcept {
  const ConstBytes frame = from.part(i, 1);
  if (to.buffer.data() == nullptr) return;
  const Status status =
      frame.empty() ? Status::peer_failed : place_->copy(to.room().data(), frame.data(), frame.size());
  if (status != Status::ok) return append(to, {status}, to.count);
  to.bytes += frame.size();
}

void Team::copy(ConstSlice from, Slice to) noexcept {
  if (to.data != from.data && to.count != 0)
    note(values_->copy(to.as_bytes().data(), from.as_bytes().data(), to.bytes()));
}

// ---- Reductions

// Computes out <- partial op own. By values, a sum can be fused with decoding.
Sized Team::reduce(ConstBytes partial, ConstSlice own, Reduction op, Bytes out) noexcept {
  if (how_ == Arithmetic::frames) return codec_->arithmetic()->accumulate(partial, own, out);
  const Buffer memory = scratch(*values_, own.bytes());
  if (memory.data() == nullptr) return {Status::out_of_memory};
  const Slice values{{memory.data(), own.count, own.type}};
  Status status = Status::ok;
  if (op == Reduction::sum) {
    status = values_->copy(memory.data(), own.as_bytes().data(), own.bytes());
    if (status == Status::ok) status = codec_->reduce(partial, values, op);
  } else {
    status = codec_->decode(partial, values);
    if (status == Status::ok) status = values_->reduce(values, own, op);
  }
  return status == Status::ok ? codec_->encode(values, out) : Sized{status};
}

// Computes out <- partials[0] op partials[1] op ...
Sized Team::reduce(std::span<const ConstBytes> partials, ConstSlice like, Reduction op, Bytes out) noexcept {
  if (how_ == Arithmetic::frames) return codec_->arithmetic()->sum(partials, out);
  const Buffer memory = scratch(*values_, like.bytes());
  if (memory.data() == nullptr) return {Status::out_of_memory};
  const Slice values{{memory.data(), like.count, like.type}};
  Status status = codec_->decode(partials[0], values);
  for (std::size_t i = 1; i < partials.size() && status == Status::ok; ++i)
    status = codec_->reduce(partials[i], values, op);
  return status == Status::ok ? codec_->encode(values, out) : Sized{status};
}

void Team::append_sum(Frames& to, ConstBytes partial, ConstSlice own, Reduction op) noexcept {
  const Timed timed(*this, Phase::combine, own.bytes());
  ++counters_->combines;
  if (to.buffer.data() == nullptr) return;
  Sized made{inspect(partial, own.type, own.count, addends())};
  if (made.status == Status::ok) made.status = failed();
  if (made.status == Status::ok) made = reduce(partial, own, op, to.room());
  append(to, made, own.count);
}

void Team::append_sum(Frames& to, std::span<const ConstBytes> partials, Reduction op) noexcept {
  const Timed timed(*this, Phase::combine, (partials.size() - 1) * to.count * size_of(to.type));
  counters_->combines += partials.size() - 1;
  if (to.buffer.data() == nullptr) return;
  FrameHeader header;  // the first frame determines the count
  Sized made{read_header(partials[0], header)};
  const ConstSlice like{{nullptr, static_cast<std::size_t>(header.count), to.type}};
  for (const ConstBytes frame : partials)
    if (made.status == Status::ok) made.status = inspect(frame, like.type, like.count, addends());
  if (made.status == Status::ok && like.count > to.count) made.status = Status::frame_mismatch;
  if (made.status == Status::ok) made = reduce(partials, like, op, to.room());
  append(to, made, like.count);
}

Frames Team::combine(const Frames& partial, ConstSlice own, Reduction op) noexcept {
  Frames sum = empty(own, 1);
  append_sum(sum, partial.part(0, 1), own, op);
  return sum;
}

Frames Team::combine(const Frames& partial, const Blocks<ConstSlice>& values, int first, int n,
                     Reduction op) noexcept {
  Frames sums = empty(chunk(values, 0), n);
  for (int i = 0; i < n; ++i) append_sum(sums, partial.part(i, 1), chunk(values, first + i), op);
  return sums;
}

Frames Team::combine(const Frames& a, int first, int n, const Frames& b, Reduction op) noexcept {
  Frames sums = empty(a.type, a.count, n);
  for (int i = 0; i < n; ++i) append_sum(sums, std::array{a.part(first + i, 1), b.part(i, 1)}, op);
  return sums;
}

Frames Team::combine(const Frames& first, std::span<const Frames> others, Reduction op) noexcept {
  std::array<ConstBytes, FrameArithmetic::max_operands> partials{first.part(0, 1)};
  for (std::size_t i = 0; i < others.size(); ++i) partials[i + 1] = others[i].part(0, 1);
  Frames sum = empty(first.type, first.count, 1);
  append_sum(sum, std::span(partials).first(others.size() + 1), op);
  return sum;
}

// ---- Communication

Sending::Sending(const Team& team, const Frames& frames, int first, int n, int to) : waiting_(team) {
  ConstBytes bytes = frames.part(first, n);
  if (MessageMemory* const memory = team.place_->message_memory()) bytes = memory->outgoing(bytes);
  if (bytes.empty()) bytes = write_notice(Status::peer_failed, frames.type, frames.count, notice_);
  pending_ = team.transport_->send(bytes, team.address(to), team.lane_);
  team.counters_->sent(bytes.size(), static_cast<std::size_t>(n) * frames.count * size_of(frames.type));
}

Receiving::Receiving(Team& team, int from, ConstSlice like)
    : team_(team), waiting_(team), own_(team.empty(like, 1)), into_(own_), expected_(1) {
  start(from);
}

Receiving::Receiving(Team& team, int from, Frames& into, int n)
    : team_(team), waiting_(team), into_(into), expected_(n) {
  start(from);
}

void Receiving::start(int from) {
  largest_ = team_.max_bytes(into_.type, into_.count);
  const bool none = into_.buffer.data() == nullptr;
  const Bytes room = none ? Bytes(notice_) : into_.room();
  const std::size_t most = largest_ * static_cast<std::size_t>(expected_);
  Bytes message = room.first(std::min(room.size(), most));
  if (MessageMemory* const memory = team_.place_->message_memory()) message = memory->incoming(message);
  pending_ = team_.transport_->recv(message, team_.address(from), team_.lane_);
}

// Appends the expected number of frames: those of the message, and notices in the place of missing ones.
Status Receiving::take(ConstBytes message) noexcept {
  std::size_t used = 0;
  int frames = 0;
  for (; frames < expected_; ++frames) {
    const std::size_t size = frame_size(message.subspan(used));
    if (size == 0 || size > largest_) break;
    used += size;
  }
  into_.bytes += used;
  const bool notice = frames == 1 && message.size() == frame_header_bytes;  // a notice in place of all frames
  const bool whole = frames == expected_ && used == message.size();
  for (; frames < expected_; ++frames)
    into_.bytes += write_notice(Status::peer_failed, into_.type, into_.count, into_.room()).size();
  return whole ? Status::ok : notice ? Status::peer_failed : Status::corrupt_frame;
}

Frames Receiving::result() noexcept {
  Sized moved = pending_.result();
  waiting_.over(moved.bytes);
  MessageMemory* const memory = team_.place_->message_memory();
  if (memory != nullptr && into_.buffer.data() != nullptr && moved.status == Status::ok)
    moved.status = memory->arrived(into_.room().first(moved.bytes));
  team_.note(moved.status);
  if (into_.buffer.data() != nullptr)
    team_.note(take(into_.room().first(moved.status == Status::ok ? moved.bytes : 0)));
  return std::move(own_);
}

}  // namespace taut
