// Coding of point-to-point messages. The sender alone decides if a message is compressed; the receiver reads
// either form.
#pragma once

#include <algorithm>
#include <array>

#include "communication/comm/envelope.hpp"
#include "communication/comm/message_device.hpp"
#include "communication/comm/message_history.hpp"
#include "communication/comm/statistics.hpp"
#include "communication/policy/plan/plan.hpp"
#include "communication/team/codec_operations.hpp"
#include "communication/team/place.hpp"
#include "communication/team/recorder.hpp"

namespace taut {

// Bytes of values in one segment of a long message. Encoding of the first segment and decoding of the last
// one overlap nothing: for 16 MiB that is a sixteenth of the coding. Other sizes were not measured
// (docs/adr/0022).
inline constexpr std::size_t segment_bytes = std::size_t{1} << 20;
inline constexpr std::size_t most_segments = 256;

// Returns the number of segments of a message whose values have `bytes`.
constexpr std::size_t segments_of(std::size_t bytes) noexcept {
  return std::clamp<std::size_t>(bytes / segment_bytes, 1, most_segments);
}

// Unused bytes of a buffer before a message whose header has envelope_bytes. They align the frames behind the
// header to 16 bytes: kernels write aligned frames without a copy.
inline constexpr std::size_t message_padding = 16 - envelope_bytes % 16;

// Segment of a long message whose encoding has been started.
struct StartedSegment {
  EncodeItem item;
  Operation operation{};
};

// One message that may be coded, as its sender or its receiver has it, and what reports say of it.
struct Message {
  std::size_t bytes = 0;             // of the values
  std::optional<DType> type{};       // of the values; a receiver knows that of a coded message
  const CodecInfo* codec = nullptr;  // null: the values travel plain
  Bound bound{};                     // of one value, of a coded message
  FollowingSegments following{};     // segments behind the coded message, which is then the first one
  bool refers = false;               // frames refer to earlier messages
  bool failed = false;               // its receive
  std::uint64_t begin = 0, decided = 0, end = 0;  // of coding, by clock_now(); 0: nothing was tried

  // The following members are of the sender: frames of the values, or the reason why there are none.
  Fallback fallback = Fallback::none;
  Status failure = Status::ok;              // of a GPU: the values may not be readable
  std::shared_ptr<MessageDevice> device{};  // GPU that has the values; null: the host
  Buffer buffer{};                          // the coded message, then the segments that follow
  std::size_t coded_bytes = 0;              // size of the coded message
  std::size_t later_bytes = 0;              // size of those that are encoded, each rounded up to 16
  std::size_t frame_bytes = 0;              // size of all frames
  const Coding* candidate = nullptr;
  std::size_t frames = 0;
  bool packed = false;                      // samples show integers packed into the values
  float expected_ratio = 0;                 // by samples; 0: none were taken
  std::optional<ResultComparison> check{};  // with the values that the receiver gets, if checked (TAUT_CHECK)
  std::uint64_t check_nanoseconds = 0;
  std::size_t room = 0;                    // bytes of the buffer for each segment, a multiple of 16
  std::shared_ptr<const Codec> encoder{};  // of the segments
  std::array<std::unique_ptr<StartedSegment>, 2> started{};  // segments by their number modulo 2
  HistoryForecast forecast{};                                // by earlier messages of the stream
  HeldReferences references{};
  std::shared_ptr<MessageState> state{};  // that the message leaves; null: none

  bool coded() const noexcept { return codec != nullptr; }

  // Returns the bytes before the frames.
  std::size_t header_bytes() const noexcept {
    return following.header_bytes() + (state != nullptr ? StateNotice::header_bytes : 0);
  }

  // Returns the memory from the first byte of the coded message on.
  Bytes memory() const noexcept {
    return buffer.bytes().subspan(following.header_bytes() == envelope_bytes ? message_padding : 0);
  }
};

// Counts the outcome of encoding a message.
void note_sent(const Message& message, CallRow& row) noexcept;

// Back-off for messages whose samples show no gain. Each failure in a row about doubles the number of
// messages that are not sampled next: at most 62, or for short messages up to 64 MiB in all (at most 4094).
// Samples of any message take about the same time, so messages that do not compress cost little. The limit is
// even, so tries come at odd distances: of two kinds of messages that alternate, both are tried.
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

// Stream of a message that is encoded, and the states of its sender. Without states the message has no
// history.
struct MessageHistory {
  SentStates* states = nullptr;
  MessageStream stream{};
};

// Whole message that frames are part of: the states that they may refer to, those that this process has
// received or those of a message of its own, and where in the message they begin, in bytes.
struct WholeMessage {
  ReceivedStates* states = nullptr;
  const HeldReferences* own = nullptr;
  std::size_t bytes = 0, offset = 0;
};

// Encoder and decoder of the messages under one policy. For one thread at a time.
class MessageCoder {
 public:
  // `policy` and `place` must outlive this object; scratch memory is from `place`.
  MessageCoder(const Policy& policy, const MessageFormat& format, Place& place, std::string kernels,
               int threads);

  // Encodes the values to a coded message. After a failure the message travels plain. `kind`: messages that
  // are likely to be alike; the results of their samples are kept, by type and size. If segments follow, only
  // the first one is encoded.
  Message encode(ConstSlice values, std::uint64_t kind = 0, const FollowingSegments& following = {},
                 const MessageHistory& history = {}) noexcept;

  // Encodes segment `i` > 0 of the values into the memory of `message`. Returns the message that carries it:
  // a coded one, or the values where that is not shorter. On a GPU the encoding of the next segment is
  // started too, and runs on while this one is sent.
  ConstBytes encode_segment(ConstSlice values, std::size_t i, Message& message) noexcept;

  // Decodes frames to as many bytes of values as `values` has, on the host or on a GPU that devices() serves.
  // `type`: DType of the values, 0: any. `whole`: the message; without states, frames refer to none.
  Status decode(ConstBytes frames, std::uint8_t type, Bytes values, WholeMessage whole = {}) noexcept;

  // Returns the GPUs that have values of messages. Threads may share them.
  MessageDevices& devices() noexcept { return devices_; }

 private:
  // State of a kind of message: what samples of such messages have shown.
  struct MessageKindState {
    RetryBackoff backoff;
    CandidateCache cached_candidate;
  };
  MessageKindState& kind_state(ConstSlice values, std::uint64_t kind) noexcept;
  ValueRange range(ConstSlice values, const Message& message);
  void decide(ConstSlice values, const MessageHistory& history, MessagePlan& plan,
              CandidateCache& cached_candidate, Message& message);
  std::shared_ptr<const Codec> codec_with_references(const Coding& candidate, const Message& message);
  void forecast_gain(ConstSlice values, const MessageHistory& history, const MessagePlan& plan,
                     Message& message);
  void begin_state(ConstSlice values, const MessageHistory& history, const MessagePlan& plan,
                   Message& message);
  void apply_forecast(ConstSlice sampled, const MessagePlan& plan, Message& message);
  SizeOrStatus encode_part(ConstSlice part, std::size_t offset, Bytes out, Message& message);
  void sample(ConstSlice values, const MessagePlan& plan, CandidateCache& cached_candidate, Message& message);
  void choose(ConstSlice sampled, const MessagePlan& plan, CandidateCache& cached_candidate,
              Message& message);
  std::shared_ptr<const Codec> codec_of(const Coding& candidate, const Message& message);
  Place& frames_of(const Message& message) noexcept;
  std::size_t max_message_bytes(ConstSlice values, const Codec& codec, std::size_t frames);
  void write_frames(ConstSlice values, const MessageHistory& history, const MessagePlan& plan,
                    Message& message);
  void start_segment(ConstSlice values, std::size_t i, Message& message);
  std::size_t write_segment(ConstSlice segment, std::size_t offset, std::size_t i, Message& message);
  float estimate_ratio(ConstSlice values, const Codec& codec);
  void begin_check(ConstSlice values, Message& message);
  void check(ConstSlice values, std::size_t offset, ConstBytes frames, Message& message);
  std::shared_ptr<const Codec> decoder(const FrameHeader& header);
  Status decode_frame(ConstBytes frame, const FrameHeader& header, Slice values, MessageDevice* device,
                      const WholeMessage& whole);
  Status decode_referring(ConstBytes frame, const FrameHeader& header, const StateNumbers& states,
                          Slice values, MessageDevice* device, const WholeMessage& whole);

  struct Decoder {
    std::uint8_t frame_id;
    Bound::Kind kind;
    std::shared_ptr<const Codec> codec;
  };

  const Policy& policy_;
  MessageFormat format_;
  Place& place_;
  int threads_;
  std::uint64_t coded_ = 0;  // messages on the host
  CandidateTable candidates_;
  CodecCache codecs_;
  MessageDevices devices_;
  std::vector<Decoder> decoders_;
  std::array<MessageKindState, 256> kinds_;
};

}  // namespace taut
