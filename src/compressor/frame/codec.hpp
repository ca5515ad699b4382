// Interface of codecs, which convert values to bytes and back. A codec is independent of ranks and
// communication.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compressor/base/status.hpp"
#include "compressor/frame/frame.hpp"
#include "compressor/values/dims.hpp"
#include "compressor/values/reduction.hpp"
#include "compressor/values/slice.hpp"

namespace taut {

// Contract of a codec, printed by tools and checked by the conformance suite.
struct Contract {
  Bound bound = {};          // bound of every finite value; NaN and infinities keep their class
  bool fixed_size = false;   // a frame of n values always has max_bytes(n) bytes
  bool adds_frames = false;  // arithmetic() adds encoded data
  bool idempotent = false;   // decoded values do not change when coded again, whatever values surround them
};

struct CodecOptions {
  Bound bound = {};                // bound of one value; of a kind that frames can store
  bool checksum = false;           // protect the payload as well as the header
  const char* predictor = "auto";  // name of a predictor of the codec; auto: chosen by a sample of the values
  const char* kernels = "";        // name of a kernel set; empty: the best for this processor
  Dims dims = {};                  // extents of the field that the values belong to
  int threads = 1;                 // number of threads that may work on a frame; 1 to 64
  PackedBits bits = PackedBits::rounded;  // treatment of packed integers
};

// Arithmetic on encoded data, for codecs with `adds_frames` in their contract. The sum of frames decodes to
// the sum of the quantised values: exact, associative and commutative, so that any order gives the same bits.
class FrameArithmetic {
 public:
  static constexpr std::size_t max_operands = 8;

  virtual ~FrameArithmetic() = default;

  // Computes out <- sum of up to max_operands `frames` (same codec, type, count and step). `out` holds
  // max_bytes(type, count, addends).
  virtual Sized sum(std::span<const ConstBytes> frames, Bytes out) const noexcept = 0;

  // Computes out <- frame + encode(values), in one pass.
  virtual Sized accumulate(ConstBytes frame, ConstSlice values, Bytes out) const noexcept = 0;
};

// Estimate of how a codec compresses a message: total sizes of a few pieces of the message.
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

  // Returns the size of the largest frame, header included, of up to `count` values, or of a sum of `addends`
  // such frames.
  virtual std::size_t max_bytes(DType type, std::size_t count, std::uint32_t addends = 1) const noexcept = 0;

  // Writes one frame. `out` must hold max_bytes; otherwise encode() returns buffer_too_small and writes
  // nothing.
  virtual Sized encode(ConstSlice values, Bytes out) const noexcept = 0;

  // Reads one frame into `values` (type and count as in the frame). Never reads past `in` and never writes
  // past `values`. Malformed bytes give a status, and `values` may then hold anything.
  virtual Status decode(ConstBytes in, Slice values) const noexcept = 0;

  // Computes values <- values op decode(in).
  virtual Status reduce(ConstBytes in, Slice values, Reduction op) const noexcept = 0;

  // Estimates the result of encode(). `scratch` holds sample_scratch bytes (compressor/frame/sample.hpp); the
  // default implementation encodes pieces of the values to `scratch`.
  virtual Sample sample(ConstSlice values, Bytes scratch) const noexcept;

  // Returns null unless contract().adds_frames.
  virtual const FrameArithmetic* arithmetic() const noexcept { return nullptr; }
};

inline constexpr std::size_t max_predictors = 12;

// Registry entry of a codec.
struct CodecInfo {
  // Ranks of codecs for codec=auto, which considers lower ranks first.
  static constexpr std::uint8_t usual = 1, also = 2, last_resort = 9, only_by_name = 255;

  const char* name;       // name of the folder, and in policies
  std::uint8_t frame_id;  // identifier in frames; never reused
  const char* since;
  const char* summary;
  // Returns the predictors that `auto` chooses from under these options: names for CodecOptions::predictor,
  // at most max_predictors, the usual one first. The names let ranks agree on a predictor. Null: there is no
  // choice.
  std::vector<std::string> (*predictors)(const CodecOptions& options);
  bool (*serves)(DType type, Bound::Kind kind) noexcept;
  std::unique_ptr<Codec> (*make)(const CodecOptions&);  // throws Error if the codec cannot serve the options
  std::uint8_t (*rank)(Bound::Kind kind) noexcept = [](Bound::Kind) noexcept { return usual; };
  bool adds_frames = false;  // as in the contract; likewise `idempotent`
  bool idempotent = false;
};

std::span<const CodecInfo* const> registered_codecs() noexcept;
const CodecInfo* find_codec(const char* name) noexcept;  // null: unknown

// A codec that this build lacks, because a library that the codec needs was missing.
struct AbsentCodec {
  const char* name;
  const char* remedy;  // an imperative sentence without its full stop
};
std::span<const AbsentCodec> absent_codecs() noexcept;

}  // namespace taut
