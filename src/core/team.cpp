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
  counters_->value_bytes += kind.count * size_of(kind.type);
  counters_->frame_bytes += size.bytes;
  return Frame{std::move(buffer), size.bytes, Status::ok, kind.addends, kind.type, kind.count};
}

// ---- Values and frames

Frame Team::encode(ConstSlice values, Status known) noexcept {
  const Timed timed(*this, Phase::encode, values.bytes());
  ++counters_->encodes;
  if (known == Status::ok) known = failed();
  if (known != Status::ok) return fail(known, values.type, values.count);
  const Frame kind{{}, 0, Status::ok, 1, values.type, values.count};
  Buffer out = scratch(codec_->max_bytes(values.type, values.count));
  if (out.data() == nullptr) return fail(Status::out_of_memory, values.type, values.count);
  const Sized size = codec_->encode(values, out.bytes());
  return made(std::move(out), size, kind);
}

Status Team::decode(const Frame& frame, Slice values) noexcept {
  const Timed timed(*this, Phase::decode, values.bytes());
  ++counters_->decodes;
  Status status = frame.status == Status::ok ? failed() : frame.status;
  if (status == Status::ok) status = codec_->decode(frame.view(), values);
  note(status);
  return status;
}

// Computes out <- partial op own. By values, a sum can be fused with decoding.
Sized Team::reduce(ConstBytes partial, ConstSlice own, Reduction op, Bytes out) noexcept {
  if (how_ == Arithmetic::frames) return codec_->arithmetic()->accumulate(partial, own, out);
  const Buffer memory = scratch(own.bytes());
  if (memory.data() == nullptr) return {Status::out_of_memory};
  const Slice values{{memory.data(), own.count, own.type}};
  Status status = Status::ok;
  if (op == Reduction::sum) {
    place_->copy(memory.data(), own.as_bytes().data(), own.bytes());
    status = codec_->reduce(partial, values, op);
  } else {
    status = codec_->decode(partial, values);
    if (status == Status::ok) reduce_values(values, own, op);
  }
  return status == Status::ok ? codec_->encode(values, out) : Sized{status};
}

// Computes out <- partials[0] op partials[1] op ...
Sized Team::reduce(std::span<const ConstBytes> partials, ConstSlice like, Reduction op, Bytes out) noexcept {
  if (how_ == Arithmetic::frames) return codec_->arithmetic()->sum(partials, out);
  const Buffer memory = scratch(like.bytes());
  if (memory.data() == nullptr) return {Status::out_of_memory};
  const Slice values{{memory.data(), like.count, like.type}};
  Status status = codec_->decode(partials[0], values);
  for (std::size_t i = 1; i < partials.size() && status == Status::ok; ++i)
    status = codec_->reduce(partials[i], values, op);
  return status == Status::ok ? codec_->encode(values, out) : Sized{status};
}

Frame Team::combine(const Frame& partial, ConstSlice own, Reduction op) noexcept {
  const Timed timed(*this, Phase::combine, own.bytes());
  ++counters_->combines;
  const Status known = partial.status == Status::ok ? failed() : partial.status;
  if (known != Status::ok) return fail(known, own.type, own.count);
  const std::uint32_t addends = how_ == Arithmetic::frames ? partial.addends + 1 : 1;
  Buffer out = scratch(codec_->max_bytes(own.type, own.count, addends));
  if (out.data() == nullptr) return fail(Status::out_of_memory, own.type, own.count);
  const Sized size = reduce(partial.view(), own, op, out.bytes());
  return made(std::move(out), size, {{}, 0, Status::ok, addends, own.type, own.count});
}

Frame Team::combine(const Frame& first, std::span<const Frame> others, Reduction op) noexcept {
  const Timed timed(*this, Phase::combine, others.size() * first.count * size_of(first.type));
  counters_->combines += others.size();
  Frame kind{{}, 0, first.status, first.addends, first.type, first.count};
  std::array<ConstBytes, FrameArithmetic::max_operands> partials{first.view()};
  for (std::size_t i = 0; i < others.size(); ++i) {
    if (kind.status == Status::ok) kind.status = others[i].status;
    kind.addends = how_ == Arithmetic::frames ? kind.addends + others[i].addends : 1;
    partials[i + 1] = others[i].view();
  }
  if (kind.status != Status::ok) return fail(kind.status, kind.type, kind.count);
  Buffer out = scratch(codec_->max_bytes(kind.type, kind.count, kind.addends));
  if (out.data() == nullptr) return fail(Status::out_of_memory, kind.type, kind.count);
  const ConstSlice like{{nullptr, kind.count, kind.type}};
  const Sized size = reduce(std::span(partials).first(others.size() + 1), like, op, out.bytes());
  return made(std::move(out), size, kind);
}

// ---- Communication

Sending::Sending(Team& team, const Frame& frame, int to) : waiting_(team) {
  ConstBytes bytes = frame.view();
  if (frame.status != Status::ok) bytes = write_notice(frame.status, frame.type, frame.count, notice_);
  pending_ = team.transport_->send(bytes, team.address(to), team.lane_);
  team.counters_->sent(bytes.size(), frame.count * size_of(frame.type));
}

Receiving::Receiving(Team& team, int from, ConstSlice like, std::uint32_t addends)
    : team_(team), waiting_(team) {
  frame_.addends = team.how_ == Arithmetic::frames ? addends : 1;
  frame_.type = like.type;
  frame_.count = like.count;
  frame_.buffer = team.scratch(team.codec_->max_bytes(like.type, like.count, frame_.addends));
  pending_ = team.transport_->recv(capacity(), team.address(from), team.lane_);
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

}  // namespace taut
