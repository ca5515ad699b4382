// Team = Transport x Codec x Place: all that an algorithm sees.
//
// Collective rule: a verb never throws for a local failure (no memory, a damaged frame, a codec's refusal).
// It notes the first one in the ledger and yields a failed frame, which travels as a notice in the place of
// the real one. So every rank completes its communication, and every rank that depends on the failed one
// learns of it.
#pragma once

#include <cstdint>

#include "core/blocks.hpp"
#include "core/codec.hpp"
#include "core/place.hpp"
#include "core/recorder.hpp"
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

// Frames of consecutive blocks, one after the other. What is missing at the end has failed.
struct Bundle {
  Buffer buffer;
  std::size_t bytes = 0;
  DType type = DType::f32;
  std::size_t count = 0;  // values in each frame

  // The bytes of `n` frames from frame `first` on; fewer or none if the bundle ends early or is damaged.
  ConstBytes frames(std::size_t first, std::size_t n) const noexcept;
};

// What happened on this rank during one call.
struct Ledger {
  Status status = Status::ok;  // the first failure
  std::uint64_t encodes = 0, combines = 0, decodes = 0;
  std::uint64_t value_bytes = 0, frame_bytes = 0;  // encoded on this rank, and what became of it
  std::uint64_t sent_messages = 0, sent_bytes = 0;
  std::uint64_t carried_bytes = 0;  // of the values that the frames sent stand for
  Times times;
  CallTag tag;

  void note(Status failure) noexcept {
    if (status == Status::ok) status = failure;
  }
  void sent(std::size_t bytes, std::size_t carried) noexcept {
    ++sent_messages;
    sent_bytes += bytes;
    carried_bytes += carried;
  }
  void spent(Verb verb, int segment, std::uint64_t begin, std::size_t bytes) noexcept {
    const std::uint64_t end = clock_now();
    times[verb] += end - begin;
    tag.add(verb, segment, begin, end, bytes);
  }
};

class Sending;
class Receiving;
class Exchanging;
class ReceivingBundle;

class Team {
 public:
  Team(Transport& transport, const Codec& codec, Place& place, Ledger& ledger, Arithmetic how,
       Lane lane) noexcept
      : transport_(&transport), codec_(&codec), place_(&place), ledger_(&ledger), lane_(lane), how_(how) {}

  int rank() const noexcept { return transport_->rank(); }
  int size() const noexcept { return transport_->size(); }

  // The same team for segment k of a message that is worked on in `segments` parts, each on a lane of its
  // own.
  Team segment(int k, int segments) const noexcept;

  // This segment's part of a slice, and of block i (modulo P) of a slice.
  template <class S>
  S whole(const S& slice) const noexcept {
    return block(slice, static_cast<std::size_t>(segment_), static_cast<std::size_t>(segments_));
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
    return whole(slice.at(static_cast<std::size_t>(mod(i, size())), static_cast<std::size_t>(size())));
  }

  // ---- Values and frames ----
  Frame encode(ConstSlice values) noexcept;
  void decode(const Frame& frame, Slice values) noexcept;
  Frame combine(const Frame& partial, ConstSlice own, Reduction op) noexcept;  // partial op own values
  Frame combine(const Frame& a, const Frame& b, Reduction op) noexcept;

  // Frames of the blocks first, first + 1, ... first + n - 1 (modulo P) of `values`, which are of equal size.
  Bundle encode_blocks(const Blocks<ConstSlice>& values, int first, int n) noexcept;
  void decode(const Bundle& bundle, int i, Slice values) noexcept;

  // ---- Communication: to be awaited. `like` gives type and count of the frame that comes in. ----
  Sending send(const Frame& frame, int to);
  Receiving recv(int from, ConstSlice like, std::uint32_t addends = 1);
  Exchanging exchange(const Frame& frame, int to, int from, ConstSlice like, std::uint32_t addends = 1);
  Sending send(const Bundle& bundle, int first, int n, int to);
  ReceivingBundle recv_bundle(int from, ConstSlice like, int n);

 private:
  friend class Sending;
  friend class Receiving;
  friend class ReceivingBundle;
  friend class Waiting;
  class Timed;

  Frame fail(Status failure, DType type, std::size_t count) noexcept;
  Frame made(Buffer buffer, Sized size, const Frame& kind) noexcept;
  Frame combined(ConstBytes partial, std::uint32_t addends, ConstSlice own, Reduction op) noexcept;
  Status reduce(ConstBytes partial, ConstSlice own, Reduction op, Slice result) noexcept;
  Buffer scratch(std::size_t bytes) noexcept;  // empty, and noted, when there is none
  void note(Status failure) noexcept { ledger_->note(failure); }

  Transport* transport_;
  const Codec* codec_;
  Place* place_;
  Ledger* ledger_;
  Lane lane_;
  int segment_ = 0, segments_ = 1;
  Arithmetic how_;
};

// ---- What the communication verbs return

// How long a segment waits for a message, for the trace: segments wait side by side, so that this is no part
// of a sum.
class Waiting {
 public:
  explicit Waiting(const Team& team) noexcept
      : ledger_(*team.ledger_),
        segment_(team.segment_),
        begin_(ledger_.tag.recorder != nullptr ? clock_now() : 0) {}
  void over(std::size_t bytes) const noexcept {
    if (ledger_.tag.recorder != nullptr) ledger_.tag.add(Verb::wait, segment_, begin_, clock_now(), bytes);
  }

 private:
  Ledger& ledger_;
  int segment_;
  std::uint64_t begin_;
};

class Sending final : public Waitable {
 public:
  Sending(Team& team, const Frame& frame, int to);
  Sending(Team& team, const Bundle& bundle, int first, int n, int to);
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

class ReceivingBundle final : public Waitable {
 public:
  ReceivingBundle(Team& team, int from, ConstSlice like, int n);
  ReceivingBundle(const ReceivingBundle&) = delete;
  bool ready() override { return pending_.ready(); }
  Bundle result() noexcept;

 private:
  Team& team_;
  Waiting waiting_;
  Bundle bundle_;
  std::byte notice_[frame_header_bytes];
  Pending pending_;
};

inline Sending Team::send(const Frame& frame, int to) { return Sending(*this, frame, to); }
inline Receiving Team::recv(int from, ConstSlice like, std::uint32_t addends) {
  return Receiving(*this, from, like, addends);
}
inline Exchanging Team::exchange(const Frame& frame, int to, int from, ConstSlice like,
                                 std::uint32_t addends) {
  return Exchanging(*this, frame, to, from, like, addends);
}
inline Sending Team::send(const Bundle& bundle, int first, int n, int to) {
  return Sending(*this, bundle, first, n, to);
}
inline ReceivingBundle Team::recv_bundle(int from, ConstSlice like, int n) {
  return ReceivingBundle(*this, from, like, n);
}

}  // namespace taut
