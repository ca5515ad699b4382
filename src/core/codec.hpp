// values <-> bytes. A codec knows nothing of ranks.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/dims.hpp"
#include "core/frame.hpp"
#include "core/reduction.hpp"
#include "core/slice.hpp"
#include "core/status.hpp"

namespace taut {

// The promise of a codec, printed by tools and checked by the conformance suite.
struct Contract {
  Bound bound = {};          // for every finite value; NaN and infinities keep their class
  bool fixed_size = false;   // a frame of n values always has max_bytes(n) bytes
  bool adds_frames = false;  // arithmetic() works on encoded data
  bool idempotent = false;   // what decode() returns encodes to itself, whatever values stand around it
};

struct CodecOptions {
  Bound bound = {};                       // for one value; of a kind that stands in frames
  bool checksum = false;                  // protect the payload as well as the header
  const char* predictor = "auto";         // one that the codec knows; auto: by a sample of what is encoded
  const char* kernels = "";               // name of a kernel set; empty: the best of this processor
  Dims dims = {};                         // of the field that values come from
  int threads = 1;                        // of this process that a frame may be worked on by; 1 to 64
  PackedBits bits = PackedBits::rounded;  // of packed integers
};

// Sums of encoded data, for codecs whose contract says so. The sum of frames decodes to the sum of the
// quantised values: exact, associative and commutative, so that any order gives the same bits.
class FrameArithmetic {
 public:
  static constexpr std::size_t max_operands = 8;

  virtual ~FrameArithmetic() = default;

  // out <- sum of up to max_operands `frames` (same codec, type, count and step). `out` holds
  // max_bytes(type, count, addends).
  virtual Sized sum(std::span<const ConstBytes> frames, Bytes out) const noexcept = 0;

  // out <- frame + encode(values), in one pass.
  virtual Sized accumulate(ConstBytes frame, ConstSlice values, Bytes out) const noexcept = 0;
};

// What a codec is going to make of a message, judged by a few pieces of it.
struct Sample {
  Status status = Status::ok;
  std::size_t value_bytes = 0;
  std::size_t frame_bytes = 0;  // without headers

  double ratio() const noexcept {
    return static_cast<double>(value_bytes) / static_cast<double>(frame_bytes == 0 ? 1 : frame_bytes);
  }
};

class Codec {
 public:
  virtual ~Codec() = default;
  virtual const Contract& contract() const noexcept = 0;

  // Largest frame, header included, of up to `count` values (of a sum of `addends` frames of as many values).
  virtual std::size_t max_bytes(DType type, std::size_t count, std::uint32_t addends = 1) const noexcept = 0;

  // Writes one frame. `out` must hold max_bytes; else buffer_too_small and nothing is written.
  virtual Sized encode(ConstSlice values, Bytes out) const noexcept = 0;

  // Reads one frame into `values` (type and count as in the frame). Never reads past `in`, never writes past
  // `values`; anything malformed gives a status, and `values` may then hold anything.
  virtual Status decode(ConstBytes in, Slice values) const noexcept = 0;

  // values <- values op decode(in).
  virtual Status reduce(ConstBytes in, Slice values, Reduction op) const noexcept = 0;

  // Judges encode. `scratch` holds sample_scratch bytes (core/sample.hpp); by default pieces are encoded to
  // it.
  virtual Sample sample(ConstSlice values, Bytes scratch) const noexcept;

  // Null unless contract().adds_frames.
  virtual const FrameArithmetic* arithmetic() const noexcept { return nullptr; }
};

inline constexpr std::size_t max_predictors = 12;

// What the registry knows of a codec.
struct CodecInfo {
  // When codec=auto considers it: lower ranks first.
  static constexpr std::uint8_t usual = 1, also = 2, last_resort = 9, only_by_name = 255;

  const char* name;       // as in the folder and in policies
  std::uint8_t frame_id;  // as in frames; never reused
  const char* since;
  const char* summary;
  // What `auto` chooses from under these options, at most max_predictors, the usual one first: names for
  // CodecOptions::predictor, so that ranks can agree on one. Null: there is no choice.
  std::vector<std::string> (*predictors)(const CodecOptions& options);
  bool (*serves)(DType type, Bound::Kind kind) noexcept;
  std::unique_ptr<Codec> (*make)(const CodecOptions&);  // throws Error on options it cannot serve
  std::uint8_t (*rank)(Bound::Kind kind) noexcept = [](Bound::Kind) noexcept { return usual; };
  bool adds_frames = false;  // as in the contract; so is the next
  bool idempotent = false;
};

std::span<const CodecInfo* const> registered_codecs() noexcept;
const CodecInfo* find_codec(const char* name) noexcept;  // null: unknown

// A codec that this build lacks, because it needs a library that was not there.
struct AbsentCodec {
  const char* name;
  const char* remedy;  // an imperative sentence without its full stop
};
std::span<const AbsentCodec> absent_codecs() noexcept;

}  // namespace taut
