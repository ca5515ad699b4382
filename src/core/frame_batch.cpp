#include "core/frame_batch.hpp"

#include <algorithm>

#include "core/team.hpp"

namespace taut {

ConstBytes FrameBatch::frames(std::size_t first, std::size_t n) const noexcept {
  const ConstBytes all{buffer.data(), buffer.data() == nullptr ? 0 : bytes};
  if (first < mark.frame) mark = {};
  for (; mark.frame < first && mark.begin < all.size(); ++mark.frame)
    mark.begin += frame_size(all.subspan(mark.begin));
  std::size_t end = mark.begin;
  for (std::size_t i = 0; i < n && end < all.size(); ++i) end += frame_size(all.subspan(end));
  return all.subspan(mark.begin, end - mark.begin);
}

ConstBytes write_notice(Status failure, DType type, std::size_t count, Bytes out) noexcept {
  FrameHeader header;
  header.flags = FrameHeader::failed;
  header.type = type;
  header.count = count;
  header.failure = static_cast<std::uint32_t>(failure);
  write_header(header, out);
  return out.first(frame_header_bytes);
}

Status inspect(ConstBytes bytes, DType type, std::size_t count, std::uint32_t addends) noexcept {
  FrameHeader header;
  if (const Status status = read_header(bytes, header); status != Status::ok) return status;
  if (header.has(FrameHeader::failed)) return Status::peer_failed;
  const bool expected = header.type == type && header.count == count && header.addends == addends &&
                        frame_header_bytes + header.payload_bytes == bytes.size();
  return expected ? Status::ok : Status::frame_mismatch;
}

std::size_t frame_size(ConstBytes bytes) noexcept {
  FrameHeader header;
  if (read_header(bytes, header) != Status::ok) return 0;
  return frame_header_bytes + static_cast<std::size_t>(header.payload_bytes);
}

// ---- Team: operations on frame batches

FrameBatch Team::batch(ConstSlice largest, int n, std::uint32_t addends) noexcept {
  FrameBatch empty;
  empty.type = largest.type;
  empty.count = largest.count;
  empty.addends = how_ == Arithmetic::frames ? addends : 1;
  empty.buffer =
      scratch(codec_->max_bytes(largest.type, largest.count, empty.addends) * static_cast<std::size_t>(n));
  return empty;
}

// Appends to a batch the frame that was written to its free room, or a notice if making the frame failed.
void Team::append(FrameBatch& to, Sized made, std::size_t count) noexcept {
  note(made.status);
  if (made.status == Status::ok) {
    counters_->value_bytes += count * size_of(to.type);
    counters_->frame_bytes += made.bytes;
  } else {
    made.bytes = write_notice(made.status, to.type, count, to.room()).size();
  }
  to.bytes += made.bytes;
}

void Team::encode(ConstSlice values, FrameBatch& to) noexcept {
  const Timed timed(*this, Phase::encode, values.bytes());
  ++counters_->encodes;
  if (to.buffer.data() == nullptr) return;
  const Status known = failed();
  append(to, known == Status::ok ? codec_->encode(values, to.room()) : Sized{known}, values.count);
}

FrameBatch Team::encode_blocks(const Blocks<ConstSlice>& values, int first, int n) noexcept {
  FrameBatch blocks = batch(chunk(values, 0), n);
  for (int i = first; i < first + n; ++i) encode(chunk(values, i), blocks);
  return blocks;
}

void Team::decode(const FrameBatch& batch, int i, Slice values) noexcept {
  const Timed timed(*this, Phase::decode, values.bytes());
  ++counters_->decodes;
  const ConstBytes frame = batch.frames(static_cast<std::size_t>(i), 1);
  Status status = inspect(frame, values.type, values.count, batch.addends);
  if (status == Status::ok) status = failed();
  note(status == Status::ok ? codec_->decode(frame, values) : status);
}

void Team::copy(const FrameBatch& from, int i, FrameBatch& to) noexcept {
  const ConstBytes frame = from.frames(static_cast<std::size_t>(i), 1);
  if (to.buffer.data() == nullptr) return;
  if (frame.empty()) return append(to, {Status::peer_failed}, to.count);
  place_->copy(to.room().data(), frame.data(), frame.size());
  to.bytes += frame.size();
}

Frame Team::copy(const FrameBatch& from, int i, ConstSlice like) noexcept {
  const ConstBytes bytes = from.frames(static_cast<std::size_t>(i), 1);
  const Status status = inspect(bytes, like.type, like.count, from.addends);
  if (status != Status::ok) return fail(status, like.type, like.count);
  Frame frame{scratch(bytes.size()), bytes.size(), status, from.addends, like.type, like.count};
  if (frame.buffer.data() == nullptr) return fail(Status::out_of_memory, like.type, like.count);
  place_->copy(frame.buffer.data(), bytes.data(), bytes.size());
  return frame;
}

FrameBatch Team::combine(const FrameBatch& partial, const Blocks<ConstSlice>& values, int first, int n,
                         Reduction op) noexcept {
  FrameBatch sums = batch(chunk(values, 0), n, partial.addends + 1);
  const Timed timed(*this, Phase::combine, static_cast<std::size_t>(n) * sums.count * size_of(sums.type));
  counters_->combines += static_cast<std::uint64_t>(n);
  for (int i = 0; i < n && sums.buffer.data() != nullptr; ++i) {
    const ConstSlice own = chunk(values, first + i);
    const ConstBytes frame = partial.frames(static_cast<std::size_t>(i), 1);
    Sized made{inspect(frame, own.type, own.count, partial.addends)};
    if (made.status == Status::ok) made.status = failed();
    if (made.status == Status::ok) made = reduce(frame, own, op, sums.room());
    append(sums, made, own.count);
  }
  return sums;
}

FrameBatch Team::combine(const FrameBatch& mine, int first, int n, const FrameBatch& theirs,
                         Reduction op) noexcept {
  FrameBatch sums = batch({{nullptr, mine.count, mine.type}}, n, mine.addends + theirs.addends);
  const Timed timed(*this, Phase::combine, static_cast<std::size_t>(n) * sums.count * size_of(sums.type));
  counters_->combines += static_cast<std::uint64_t>(n);
  for (int i = 0; i < n && sums.buffer.data() != nullptr; ++i) {
    const ConstBytes both[] = {mine.frames(static_cast<std::size_t>(first + i), 1),
                               theirs.frames(static_cast<std::size_t>(i), 1)};
    FrameHeader header;  // header of a frame made on this rank
    Sized made{read_header(both[0], header)};
    const auto count = static_cast<std::size_t>(header.count);
    for (const auto& [frame, addends] : {std::pair{both[0], mine.addends}, {both[1], theirs.addends}})
      if (made.status == Status::ok) made.status = inspect(frame, mine.type, count, addends);
    if (made.status == Status::ok) made = reduce(both, {{nullptr, count, mine.type}}, op, sums.room());
    append(sums, made, count);
  }
  return sums;
}

// ---- Communication

Sending::Sending(Team& team, const FrameBatch& batch, int first, int n, int to) : waiting_(team) {
  ConstBytes bytes = batch.frames(static_cast<std::size_t>(first), static_cast<std::size_t>(n));
  if (bytes.empty()) bytes = write_notice(Status::peer_failed, batch.type, batch.count, notice_);
  pending_ = team.transport_->send(bytes, team.address(to), team.lane_);
  team.counters_->sent(bytes.size(), static_cast<std::size_t>(n) * batch.count * size_of(batch.type));
}

ReceivingBatch::ReceivingBatch(Team& team, int from, FrameBatch& into, int n)
    : team_(team), waiting_(team), into_(into), frames_(n) {
  largest_ = team.codec_->max_bytes(into.type, into.count, into.addends);
  const bool none = into.buffer.data() == nullptr;
  const Bytes room = none ? Bytes(notice_) : into.room();
  pending_ = team.transport_->recv(room.first(std::min(room.size(), largest_ * static_cast<std::size_t>(n))),
                                   team.address(from), team.lane_);
}

// Completes the receive. Whatever arrived, the batch gets the expected number of frames, so that each frame
// is in its place; notices replace missing frames.
void ReceivingBatch::result() noexcept {
  const Sized moved = pending_.result();
  waiting_.over(moved.bytes);
  team_.note(moved.status);
  if (into_.buffer.data() == nullptr) return;
  const Bytes message = into_.room().first(moved.status == Status::ok ? moved.bytes : 0);
  std::size_t used = 0;
  int frames = 0;
  for (; frames < frames_; ++frames) {
    const std::size_t size = frame_size(message.subspan(used));
    if (size == 0 || size > largest_) break;
    used += size;
  }
  into_.bytes += used;
  const bool notice = frames == 1 && message.size() == frame_header_bytes;  // a notice in place of all frames
  if (frames < frames_ || used < message.size())
    team_.note(notice ? Status::peer_failed : Status::corrupt_frame);
  for (; frames < frames_; ++frames)
    into_.bytes += write_notice(Status::peer_failed, into_.type, into_.count, into_.room()).size();
}

}  // namespace taut
