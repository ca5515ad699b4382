// Team = Transport x Codec x Place: all that an algorithm sees.
//
// Collective rule: a verb never throws for a local failure (no memory, a damaged frame, a codec's refusal).
// It notes the first one in the ledger and yields a failed frame, which travels as a notice in the place of
// the real one. So every rank completes its communication, and every rank that depends on the failed one
// learns of it.
#pragma once

#include <cstdint>

#include "core/blocks.hpp"
#include "core/call_counters.hpp"
#include "core/codec.hpp"
#include "core/frame_batch.hpp"
#include "core/place.hpp"
#include "core/task.hpp"
#include "core/transport.hpp"

namespace taut {

// How partial results meet: as frames, added without decoding; or as values: decode, operate, encode.
enum class Arithmetic : std::uint8_t { frames, values };

constexpr const char* name_of(Arithmetic how) noexcept {
  return how == Arithmetic::frames ? "frames" : "values";
}

// i modulo n, never negative.
constexpr int mod(int i, int n) noexcept { return (i % n + n) % n; }

// One encoded slice as it travels. `status` tells why there are no bytes, if there are none.
struct Frame {
  Buffer buffer;
  std::size_t bytes = 0;
  Status status = Status::ok;
  std::uint32_t addends = 1;
  DType type = DType::f32;
  std::size_t count = 0;

  ConstBytes view() const noexcept { return {buffer.data(), bytes}; }
};

class Sending;
class Receiving;
class Exchanging;
class ReceivingBatch;
class ExchangingBatches;

class Team {
 public:
  Team(Transport& transport, const Codec& codec, Place& place, CallCounters& counters, Arithmetic how,
       Lane lane) noexcept
      : transport_(&transport),
        codec_(&codec),
        place_(&place),
        counters_(&counters),
        lane_(lane),
        rank_(transport.rank()),
        size_(transport.size()),
        blocks_(size_),
        how_(how) {}

  int rank() const noexcept { return rank_; }
  int size() const noexcept { return size_; }

  // The same team for segment k of a message that is worked on in `segments` parts, each on a lane of its
  // own.
  Team segment(int k, int segments) const noexcept;

  // The same team for a message in n blocks; at first there are as many as ranks.
  Team in_blocks(int n) const noexcept;

  // Some of its ranks, in this order, this one among them: those that go on with what has been made of all
  // ranks' values so far. Once the call has failed here they are told so, whatever is encoded. Messages are
  // in as many blocks as there are ranks; or in those of all ranks, of which block i is that of the i-th
  // here.
  Team among(std::span<const int> ranks) const noexcept;
  Team in_blocks_of_all() const noexcept;

  // The same segment for messages that are no larger than it is.
  Team of_segment() const noexcept;

  // This segment's part of a slice, and of block i (modulo the number of blocks) of a slice. Without a
  // layout no block is larger than block 0.
  template <class S>
  S whole(const S& slice) const noexcept {
    return block(slice, static_cast<std::size_t>(part_), static_cast<std::size_t>(parts_));
  }
  template <class S>
  S whole(const Blocks<S>& slice) const noexcept {
    return whole(static_cast<const S&>(slice));
  }
  template <class S>
  S chunk(const S& slice, int i) const noexcept {
    return chunk(Blocks<S>(slice), i);
  }
  template <class S>
  S chunk(const Blocks<S>& slice, int i) const noexcept {
    const int number = members_blocks_ ? address(mod(i, size_)) : mod(i, blocks_);
    return whole(slice.at(static_cast<std::size_t>(number), static_cast<std::size_t>(blocks_)));
  }

  // ---- Values and frames ----
  Frame encode(ConstSlice values, Status known = Status::ok) noexcept;  // failed where that is known
  Status decode(const Frame& frame, Slice values) noexcept;
  Frame combine(const Frame& partial, ConstSlice own, Reduction op) noexcept;  // partial op own values
  Frame combine(const Frame& a, const Frame& b, Reduction op) noexcept {
    return combine(a, std::span(&b, 1), op);
  }
  // `first` op others[0] op others[1] ...: up to FrameArithmetic::max_operands frames at once.
  Frame combine(const Frame& first, std::span<const Frame> others, Reduction op) noexcept;

  // ---- Bundles: blocks are those of chunk(), frames are counted from the start of a bundle ----
  FrameBatch batch(ConstSlice largest, int n, std::uint32_t addends = 1) noexcept;  // empty, has room for n
  // Of the nearly equal blocks first, first + 1, ... first + n - 1.
  FrameBatch encode_blocks(const Blocks<ConstSlice>& values, int first, int n) noexcept;
  void encode(ConstSlice values, FrameBatch& to) noexcept;              // appends the frame
  void copy(const FrameBatch& from, int i, FrameBatch& to) noexcept;    // appends frame i
  Frame copy(const FrameBatch& from, int i, ConstSlice like) noexcept;  // frame i
  void decode(const FrameBatch& batch, int i, Slice values) noexcept;
  // Frames 0 .. n-1 of `partial` op the values of blocks first .. first + n - 1.
  FrameBatch combine(const FrameBatch& partial, const Blocks<ConstSlice>& values, int first, int n,
                     Reduction op) noexcept;
  // Frames first .. first + n - 1 of `mine` op frames 0 .. n-1 of `theirs`.
  FrameBatch combine(const FrameBatch& mine, int first, int n, const FrameBatch& theirs,
                     Reduction op) noexcept;

  // ---- Communication: to be awaited. `like` gives type and count of the frame that comes in. ----
  Sending send(const Frame& frame, int to);
  Receiving recv(int from, ConstSlice like, std::uint32_t addends = 1);
  Exchanging exchange(const Frame& frame, int to, int from, ConstSlice like, std::uint32_t addends = 1);
  // The same for n frames of a bundle; those that come in are appended to `into`, which has room for them.
  Sending send(const FrameBatch& batch, int first, int n, int to);
  ReceivingBatch recv(int from, FrameBatch& into, int n);
  ExchangingBatches exchange(const FrameBatch& batch, int first, int n, int to, int from, FrameBatch& into);

 private:
  friend class Sending;
  friend class Receiving;
  friend class ReceivingBatch;
  friend class Waiting;
  friend class NodePeers;
  friend class ValueSend;
  friend class ValueReceive;
  class Timed;

  int address(int rank) const noexcept {  // for the transport
    return members_.empty() ? rank : members_[static_cast<std::size_t>(rank)];
  }
  // What is known to be wrong before it is encoded, or not worth decoding.
  Status failed() const noexcept { return members_.empty() ? Status::ok : counters_->status; }

  Frame fail(Status failure, DType type, std::size_t count) noexcept;
  Frame made(Buffer buffer, Sized size, const Frame& kind) noexcept;
  Sized reduce(ConstBytes partial, ConstSlice own, Reduction op, Bytes out) noexcept;
  Sized reduce(std::span<const ConstBytes> partials, ConstSlice like, Reduction op, Bytes out) noexcept;
  void append(FrameBatch& to, Sized made, std::size_t count) noexcept;
  Buffer scratch(std::size_t bytes) noexcept;  // empty, and noted, when there is none
  void note(Status failure) noexcept { counters_->note(failure); }

  Transport* transport_;
  const Codec* codec_;
  Place* place_;
  CallCounters* counters_;
  Lane lane_;
  int segment_ = 0, part_ = 0, parts_ = 1;  // the segment, and which part of a message it is
  int rank_, size_, blocks_;
  std::span<const int> members_;  // none: all ranks
  bool members_blocks_ = false;
  Arithmetic how_;
};

// Takes the time of a verb.
class Team::Timed {
 public:
  Timed(const Team& team, Phase phase, std::size_t bytes) noexcept
      : team_(team), verb_(phase), bytes_(bytes) {}
  Timed(const Timed&) = delete;
  ~Timed() { team_.counters_->spent(verb_, team_.segment_, begin_, bytes_); }

 private:
  const Team& team_;
  Phase verb_;
  std::size_t bytes_;
  std::uint64_t begin_ = clock_now();
};

// ---- What the communication verbs return

// How long a segment waits for a message, for the trace: segments wait side by side, so that this is no part
// of a sum.
class Waiting {
 public:
  explicit Waiting(const Team& team) noexcept
      : counters_(*team.counters_),
        segment_(team.segment_),
        begin_(counters_.tag.recorder != nullptr ? clock_now() : 0) {}
  void over(std::size_t bytes) const noexcept {
    if (counters_.tag.recorder != nullptr)
      counters_.tag.add(Phase::wait, segment_, begin_, clock_now(), bytes);
  }

 private:
  CallCounters& counters_;
  int segment_;
  std::uint64_t begin_;
};

class Sending final : public Waitable {
 public:
  Sending(Team& team, const Frame& frame, int to);
  Sending(Team& team, const FrameBatch& batch, int first, int n, int to);
  Sending(const Sending&) = delete;
  bool ready() override { return pending_.ready(); }
  void result() const noexcept { waiting_.over(pending_.result().bytes); }

 private:
  Waiting waiting_;
  std::byte notice_[frame_header_bytes];
  Pending pending_;
};

class Receiving final : public Waitable {
 public:
  Receiving(Team& team, int from, ConstSlice like, std::uint32_t addends);
  Receiving(const Receiving&) = delete;
  bool ready() override { return pending_.ready(); }
  Frame result() noexcept;

 private:
  Bytes capacity() noexcept;

  Team& team_;
  Waiting waiting_;
  Frame frame_;
  std::byte notice_[frame_header_bytes];  // stands in for scratch memory that could not be had
  Pending pending_;
};

class Exchanging final : public Waitable {
 public:
  Exchanging(Team& team, const Frame& frame, int to, int from, ConstSlice like, std::uint32_t addends)
      : receiving_(team, from, like, addends), sending_(team, frame, to) {}
  bool ready() override {
    const bool sent = sending_.ready();
    return receiving_.ready() && sent;
  }
  Frame result() noexcept { return receiving_.result(); }

 private:
  Receiving receiving_;
  Sending sending_;
};

class ReceivingBatch final : public Waitable {
 public:
  ReceivingBatch(Team& team, int from, FrameBatch& into, int n);
  ReceivingBatch(const ReceivingBatch&) = delete;
  bool ready() override { return pending_.ready(); }
  void result() noexcept;

 private:
  Team& team_;
  Waiting waiting_;
  FrameBatch& into_;
  int frames_;
  std::size_t largest_;  // bytes of a frame
  std::byte notice_[frame_header_bytes];
  Pending pending_;
};

class ExchangingBatches final : public Waitable {
 public:
  ExchangingBatches(Team& team, const FrameBatch& batch, int first, int n, int to, int from, FrameBatch& into)
      : receiving_(team, from, into, n), sending_(team, batch, first, n, to) {}
  bool ready() override {
    const bool sent = sending_.ready();
    return receiving_.ready() && sent;
  }
  void result() noexcept { receiving_.result(); }

 private:
  ReceivingBatch receiving_;
  Sending sending_;
};

inline Sending Team::send(const Frame& frame, int to) { return Sending(*this, frame, to); }
inline Receiving Team::recv(int from, ConstSlice like, std::uint32_t addends) {
  return Receiving(*this, from, like, addends);
}
inline Exchanging Team::exchange(const Frame& frame, int to, int from, ConstSlice like,
                                 std::uint32_t addends) {
  return Exchanging(*this, frame, to, from, like, addends);
}
inline Sending Team::send(const FrameBatch& batch, int first, int n, int to) {
  return Sending(*this, batch, first, n, to);
}
inline ReceivingBatch Team::recv(int from, FrameBatch& into, int n) {
  return ReceivingBatch(*this, from, into, n);
}
inline ExchangingBatches Team::exchange(const FrameBatch& batch, int first, int n, int to, int from,
                                        FrameBatch& into) {
  return ExchangingBatches(*this, batch, first, n, to, from, into);
}

}  // namespace taut
