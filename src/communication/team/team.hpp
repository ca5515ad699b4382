// Team: transport, codec and places together. It is the only interface that an algorithm uses. Frames are in
// memory that the host can access. Values may be elsewhere, for example on a GPU: the codec and `values`
// access them.
//
// Failure rule: an operation of a team never throws for a local failure (no memory, a damaged frame, a
// codec's refusal). The operation records the first failure in CallCounters and yields a failed frame, which
// travels as an error frame in the place of the real frame. Every rank thus completes its communication, and
// every rank that depends on the failed rank learns of the failure.
#pragma once

#include <cstdint>

#include "communication/team/blocks.hpp"
#include "communication/team/codec_operations.hpp"
#include "communication/team/frames.hpp"
#include "communication/team/operand_places.hpp"
#include "communication/team/place.hpp"
#include "communication/team/recorder.hpp"
#include "communication/team/task.hpp"
#include "communication/team/transport.hpp"

namespace taut {

// Arithmetic of partial results: by frames, which are added without decoding, or by values (decode, operate,
// encode).
enum class Arithmetic : std::uint8_t { frames, values };

constexpr const char* name_of(Arithmetic how) noexcept {
  return how == Arithmetic::frames ? "frames" : "values";
}

// Returns i modulo n, never negative.
constexpr int mod(int i, int n) noexcept { return (i % n + n) % n; }

class Encoding;
class Decoding;
class Combining;
class Sending;
class Receiving;
class Exchanging;

class Team {
 public:
  // `place`: memory for frames. `values`: memory that the values are in; null if it is `place`.
  Team(Transport& transport, const Codec& codec, Place& place, CallCounters& counters, Arithmetic how,
       Lane lane, Place* values = nullptr) noexcept
      : transport_(&transport),
        codec_(codec),
        place_(&place),
        values_(values != nullptr ? values : &place),
        counters_(&counters),
        lane_(lane),
        rank_(transport.rank()),
        size_(transport.size()),
        blocks_(size_),
        inputs_(size_),
        how_(how) {}

  int rank() const noexcept { return rank_; }
  int size() const noexcept { return size_; }

  // Returns the same team for segment k of a message that is processed in `segments` parts, each on a lane of
  // its own.
  Team segment(int k, int segments) const noexcept;

  // Returns the same team for a message in n blocks. A new team has as many blocks as ranks.
  Team in_blocks(int n) const noexcept;

  // among() returns the sub-team of `ranks`, in this order, this rank included. A sub-team continues with
  // partial results of all ranks' values: once the call has failed on this rank, its frames in the sub-team
  // are error frames. A message has as many blocks as the sub-team has ranks. With in_blocks_of_all() a
  // message has the blocks of all ranks, and block i is that of the i-th rank of the sub-team.
  Team among(std::span<const int> ranks) const noexcept;
  Team in_blocks_of_all() const noexcept;

  // Returns the same team for frames that hold sums over the ranks of another team. Its messages stay on a
  // node, and are not counted, as messages of values on a node are not.
  Team with_sums_of(const Team& other) const noexcept;

  // Returns the same team for messages that consist of this segment only.
  Team of_segment() const noexcept;

  // Returns the same team for frames that a Relay forwards in packets of so many bytes, or more if a frame
  // would have too many. 0: whole frames. All ranks of a call use the same number.
  Team in_packets(std::size_t bytes) const noexcept;
  static constexpr std::size_t most_packets = 32;  // of a frame

  // Returns the same team for a call in a series, whose values have places. place() tells the memory of the
  // operands of this segment; it does nothing if the call is in no series. place_of_segment() returns the
  // place of this segment in values that the call processes in segments.
  Team in_series(OperandPlaces* places) const noexcept;
  void place(const OperandMemory& memory) const noexcept {
    if (places_ != nullptr) places_->set(segment_, memory);
  }
  std::size_t place_of_segment(const ConstSlice& values) const noexcept {
    return part_of_segment(values.count).first * size_of(values.type);
  }
  // Returns the part of `count` values that this segment has.
  Range part_of_segment(std::size_t count) const noexcept {
    return part_range(count, static_cast<std::size_t>(part_), static_cast<std::size_t>(parts_));
  }

  // whole() returns this segment's part of a slice, chunk() this segment's part of block i (modulo the number
  // of blocks) of a slice. Without a layout no block is larger than block 0.
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

  // ---- Values and frames. `largest`: no frame has more values. Blocks are numbered as in chunk().
  // Encodings, decodings and sums are to be awaited: a GPU may do the work. Their operands stay in place.
  // Nothing is decoded or copied to a slice without data.
  Frames empty(ConstSlice largest, int n) noexcept;             // room for n frames
  void copy(const Frames& from, int i, Frames& to) noexcept;    // appends frame i
  Buffer blocks_of_values(ConstSlice largest, int n) noexcept;  // room for n blocks; empty without memory
  void copy(ConstSlice from, Slice to) noexcept;  // uncoded; `to` may be `from`, and both may overlap
  // result <- the reduction of n blocks of values, one after another, in a wider type; see Place.
  Status reduce_widely(const Buffer& operands, int n, Slice result, Reduction op, int divisor) noexcept;

  // Returns the number of frames that are best encoded or decoded together.
  int batch() const noexcept { return codec_.batch(); }

  Encoding encode(ConstSlice values, Status known = Status::ok);  // an error frame if `known` is not ok
  Encoding encode(ConstSlice values, Frames& to, Status known = Status::ok);  // appends a frame
  // Encode n blocks, from block `first` on: to one buffer, or to to[0] .. to[n - 1].
  Encoding encode(const Blocks<ConstSlice>& values, int first, int n);
  Encoding encode(const Blocks<ConstSlice>& values, int first, std::span<Frames> to);

  Decoding decode(const Frames& frames, Slice values);
  Decoding decode(const Frames& frames, int i, Slice values);
  Decoding reduce(const Frames& frame, Slice values, Reduction op);  // values <- values op frame

  // Yield partial op values: one frame, or n frames and the blocks first .. first + n - 1.
  Combining combine(const Frames& partial, ConstSlice own, Reduction op);
  Combining combine(const Frames& partial, const Blocks<ConstSlice>& values, int first, int n, Reduction op);
  // Yield a op b: one frame each, or frames first .. first + n - 1 of `a` and 0 .. n - 1 of `b`.
  Combining combine(const Frames& a, const Frames& b, Reduction op);
  Combining combine(const Frames& a, int first, int n, const Frames& b, Reduction op);
  // Yields first op others[0] op others[1] ...: up to FrameArithmetic::max_operands frames at once.
  Combining combine(const Frames& first, std::span<const Frames> others, Reduction op);

  // ---- Communication; results are to be awaited. `like`: type and count of the received frame ----
  Sending send(const Frames& frame, int to);
  Receiving recv(int from, ConstSlice like);
  Exchanging exchange(const Frames& frame, int to, int from, ConstSlice like);
  // The same operations for n frames. Received frames are appended to `into`, which has room for them.
  Sending send(const Frames& frames, int first, int n, int to);
  Receiving recv(int from, Frames& into, int n);
  Exchanging exchange(const Frames& frames, int first, int n, int to, int from, Frames& into);

 private:
  friend class Encoding;
  friend class Decoding;
  friend class Combining;
  friend class Sending;
  friend class Receiving;
  friend class Relay;
  friend class Waiting;
  friend class NodePeers;
  friend class ValueSend;
  friend class ValueReceive;
  friend class NodeWorking;
  class Timed;

  int address(int rank) const noexcept {  // number of a rank in the transport
    return members_.empty() ? rank : members_[static_cast<std::size_t>(rank)];
  }
  // Returns the failure of the call so far if this is a sub-team, which then neither encodes nor decodes;
  // otherwise ok.
  Status failed() const noexcept { return members_.empty() ? Status::ok : counters_->status; }

  // A frame that arrives, or a sum, has up to this number of addends, and a frame up to this size.
  std::uint32_t addends() const noexcept {
    return how_ == Arithmetic::frames ? static_cast<std::uint32_t>(inputs_) : 1;
  }
  std::size_t max_bytes(DType type, std::size_t count) const noexcept {
    return codec_->max_bytes(type, count, addends());
  }
  // Returns the memory from which frames are sent. After a failure, which is recorded, it is empty.
  ConstBytes outgoing(ConstBytes frames) const noexcept;
  std::size_t packet_bytes(DType type, std::size_t count) const noexcept;  // of this frame; 0: it is whole
  Frames empty(DType type, std::size_t count, int n) noexcept;
  Operation start_sum(std::span<const ConstBytes> partials, ConstSlice like, Reduction op,
                      Bytes out) noexcept;
  Operation start_sum(ConstBytes partial, ConstSlice own, Reduction op, Bytes out) noexcept;
  Task<SizeOrStatus> sum_values(std::span<const ConstBytes> partials, ConstSlice like, Reduction op,
                                Bytes out);
  Task<SizeOrStatus> sum_values(ConstBytes partial, ConstSlice own, Reduction op, Bytes out);
  void append(Frames& to, SizeOrStatus made, std::size_t count) noexcept;
  // Returns an empty buffer if there is no memory, and then records the failure.
  Buffer scratch(std::size_t bytes) noexcept { return scratch(*place_, bytes); }
  Buffer scratch(Place& place, std::size_t bytes) noexcept;
  void note(Status failure) noexcept { counters_->note(failure); }

  Transport* transport_;
  CodecHandle codec_;
  Place* place_;   // of frames
  Place* values_;  // of values
  CallCounters* counters_;
  OperandPlaces* places_ = nullptr;  // null: the call is in no series, or not by nodes
  Lane lane_;
  int segment_ = 0, part_ = 0, parts_ = 1;  // number of the segment; its part of a message; number of parts
  int rank_, size_, blocks_;
  int inputs_;  // ranks whose values are in a sum
  bool counts_messages_ = true;
  std::size_t packet_bytes_ = 0;
  std::span<const int> members_;  // empty: all ranks
  bool members_blocks_ = false;
  Arithmetic how_;
};

// Scope that measures the time of an operation.
class Team::Timed {
 public:
  Timed(const Team& team, Phase phase, std::size_t bytes) noexcept
      : team_(team), phase_(phase), bytes_(bytes) {}
  Timed(const Timed&) = delete;
  ~Timed() { team_.counters_->spent(phase_, team_.segment_, begin_, bytes_); }

 private:
  const Team& team_;
  Phase phase_;
  std::size_t bytes_;
  std::uint64_t begin_ = clock_now();
};

// ---- Results of the communication functions

// Measures how long a segment waits for a message, for the trace only: segments wait concurrently, so that
// these times are not summed up.
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
  Sending(const Team& team, const Frames& frames, int first, int n, int to);
  Sending(const Sending&) = delete;
  bool ready() override { return pending_.ready(); }
  void result() const noexcept {
    pending_.result();
    waiting_.over(bytes_);
  }

 private:
  Waiting waiting_;
  std::size_t bytes_;  // size of the message; MPI's status of a send has none
  std::byte error_frame_[frame_header_bytes];
  Pending pending_;
};

// Receives a frame of its own, which is the result, or appends n frames to `into`. A receive always yields as
// many frames as expected: error frames replace those that are missing.
class Receiving final : public Waitable {
 public:
  Receiving(Team& team, int from, ConstSlice like);
  Receiving(Team& team, int from, Frames& into, int n);
  Receiving(const Receiving&) = delete;
  bool ready() override { return pending_.ready(); }
  Frames result() noexcept;

 private:
  void start(int from);
  Status take(ConstBytes message) noexcept;

  Team& team_;
  Waiting waiting_;
  Frames own_;
  Frames& into_;
  int expected_;                               // frames
  std::size_t largest_;                        // size of the largest frame
  std::byte error_frame_[frame_header_bytes];  // used if no scratch memory was available
  Pending pending_;
};

class Exchanging final : public Waitable {
 public:
  Exchanging(Team& team, const Frames& frame, int to, int from, ConstSlice like)
      : receiving_(team, from, like), sending_(team, frame, 0, 1, to) {}
  Exchanging(Team& team, const Frames& frames, int first, int n, int to, int from, Frames& into)
      : receiving_(team, from, into, n), sending_(team, frames, first, n, to) {}
  bool ready() override {
    const bool sent = sending_.ready();
    return receiving_.ready() && sent;
  }
  Frames result() noexcept { return receiving_.result(); }

 private:
  Receiving receiving_;
  Sending sending_;
};

inline Sending Team::send(const Frames& frame, int to) { return Sending(*this, frame, 0, 1, to); }
inline Sending Team::send(const Frames& frames, int first, int n, int to) {
  return Sending(*this, frames, first, n, to);
}
inline Receiving Team::recv(int from, ConstSlice like) { return Receiving(*this, from, like); }
inline Receiving Team::recv(int from, Frames& into, int n) { return Receiving(*this, from, into, n); }
inline Exchanging Team::exchange(const Frames& frame, int to, int from, ConstSlice like) {
  return Exchanging(*this, frame, to, from, like);
}
inline Exchanging Team::exchange(const Frames& frames, int first, int n, int to, int from, Frames& into) {
  return Exchanging(*this, frames, first, n, to, from, into);
}

}  // namespace taut
