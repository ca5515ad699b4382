// What becomes of the values of a point-to-point message: its sender decides alone, its receiver reads what
// comes.
#pragma once

#include <algorithm>
#include <array>

#include "comm/codec_cache.hpp"
#include "comm/envelope.hpp"
#include "comm/statistics.hpp"
#include "core/phase_times.hpp"
#include "core/place.hpp"
#include "policy/plan/message_plan.hpp"
#include "policy/tuning/candidate_cache.hpp"

namespace taut {

// Values made into frames, or why they were not.
struct EncodedMessage {
  Fallback plain = Fallback::none;
  Buffer buffer{};              // the coded message
  std::size_t bytes = 0;        // of it; 0: the values travel as they are
  std::size_t frame_bytes = 0;  // of its frames
  const Candidate* candidate = nullptr;
  Bound bound{};  // of one value
  std::size_t frames = 0;
  bool packed = false;                            // integers are packed into the values, by samples
  float expected_ratio = 0;                       // by samples; 0: none were taken
  std::uint64_t begin = 0, decided = 0, end = 0;  // by clock_now(); 0: nothing was tried
};

// Counts what became of a message of so many bytes of values.
void note_sent(const EncodedMessage& made, std::size_t bytes, CallRow& row) noexcept;

// How often to try where trying showed no gain: after each failure in a row about twice as many messages are
// not tried, at most 62, of short ones more: up to 64 MiB in all, since samples of any message take about
// the same. So what does not compress costs samples now and then alone. Numbers odd and even, in the end
// even, so that of two kinds that alternate both get their turn.
class RetryBackoff {
 public:
  static constexpr std::size_t least_most = 62, most = 4094, most_bytes = std::size_t{64} << 20;

  bool has() noexcept { return left_ == 0 || left_-- == 0; }
  void tried(bool gain, std::size_t bytes) noexcept {
    const auto limit = std::clamp(most_bytes / std::max<std::size_t>(bytes, 1), least_most, most);
    next_ = gain ? 0 : std::min(2 * next_ + 1 - next_ % 2, limit / 2 * 2);
    left_ = next_;
  }

 private:
  std::size_t next_ = 0, left_ = 0;
};

// For one thread at a time.
class MessageCoder {
 public:
  // `policy` and `place` stay where they are; scratch is from there.
  MessageCoder(const Policy& policy, const MessageFormat& format, Place& place, std::string kernels,
               int threads);

  // The values as a coded message. A failure makes the message a plain one. `stream`: messages that are
  // likely to be alike; what their samples showed, by type and size, is remembered.
  EncodedMessage encode(ConstSlice values, std::uint64_t stream = 0) noexcept;

  // Frames to as many bytes of values as `values` has. `type`: DType of them, 0: any.
  Status decode(ConstBytes frames, std::uint8_t type, Bytes values) noexcept;

 private:
  // What is remembered of messages that are alike.
  struct StreamState {
    RetryBackoff backoff;
    CandidateCache cached_candidate;
  };
  StreamState& stream_state(ConstSlice values, std::uint64_t stream) noexcept;
  void decide(ConstSlice values, MessagePlan& plan, CandidateCache& cached_candidate, EncodedMessage& made);
  std::size_t choose(ConstSlice values, const MessagePlan& plan, CandidateCache& cached_candidate,
                     float& ratio);
  void write_frames(ConstSlice values, const MessagePlan& plan, EncodedMessage& made);
  float estimate_ratio(ConstSlice values, const Codec& codec);
  const Codec& decoder(const FrameHeader& header);

  struct Decoder {
    std::uint8_t frame_id;
    Bound::Kind kind;
    std::unique_ptr<const Codec> codec;
  };

  const Policy& policy_;
  MessageFormat format_;
  Place& place_;
  int threads_;
  CandidateTable candidates_;
  CodecCache codecs_;
  std::vector<Decoder> decoders_;
  std::array<StreamState, 256> streams_;
};

}  // namespace taut
