// What becomes of the values of a point-to-point message: its sender decides alone, its receiver reads what
// comes.
#pragma once

#include "comm/codec_cache.hpp"
#include "comm/envelope.hpp"
#include "core/place.hpp"
#include "core/times.hpp"
#include "policy/message_plan.hpp"

namespace taut {

// Values made into frames, or why they were not.
struct EncodedMessage {
  Plain plain = Plain::no;
  Buffer buffer;          // room for the envelope, then the frames
  std::size_t bytes = 0;  // of both
  const Candidate* candidate = nullptr;
  Bound bound;  // of one value
  std::size_t frames = 0;
  float expected_ratio = 0;                       // by samples; 0: none were taken
  std::uint64_t begin = 0, decided = 0, end = 0;  // by clock_now(); 0: nothing was tried
};

// For one communicator, and one thread at a time.
class MessageCoder {
 public:
  // `policy` and `place` stay where they are; scratch is from there.
  MessageCoder(const Policy& policy, Place& place, std::string kernels, int threads);

  // A failure makes the message a plain one.
  EncodedMessage encode(ConstSlice values) noexcept;

  // Frames to as many bytes of values as `values` has. `type`: DType of them, 0: any.
  Status decode(ConstBytes frames, std::uint8_t type, Bytes values) noexcept;

 private:
  void decide(ConstSlice values, MessagePlan& plan, EncodedMessage& made);
  void write_frames(ConstSlice values, const MessagePlan& plan, EncodedMessage& made);
  float estimate_ratio(ConstSlice values, const Codec& codec);
  const Codec& decoder(const FrameHeader& header);

  struct Decoder {
    std::uint8_t frame_id;
    Bound::Kind kind;
    std::unique_ptr<const Codec> codec;
  };

  const Policy& policy_;
  Place& place_;
  int threads_;
  CandidateTable candidates_;
  CodecCache codecs_;
  std::vector<Decoder> decoders_;
};

}  // namespace taut
