// Interface of codecs, which convert values to bytes and back. A codec is independent of ranks and
// communication.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compressor/base/status.hpp"
#include "compressor/frame/frame.hpp"
#include "compressor/frame/lags.hpp"
#include "compressor/frame/references.hpp"
#include "compressor/values/dims.hpp"
#include "compressor/values/reduction.hpp"
#include "compressor/values/slice.hpp"

namespace taut {

// Contract of a codec, printed by tools and checked by the conformance suite.
struct Contract {
  Bound bound = {};          // bound of every finite value; a NaN stays a NaN, an infinity the same infinity
  bool fixed_size = false;   // a frame of n values always has max_bytes(n) bytes
  bool adds_frames = false;  // Codec::arithmetic() adds encoded data
  bool idempotent = false;   // decoded values do not change when coded again, whatever values surround them
};

struct CodecInfo;
class Codec;

// Prediction of a value from earlier values: the name of a predictor of a codec, and lags. Its text is
// "delta", "delta+192" or "delta+192+18432". The predictors "lorenzo2" and "lorenzo3" stand for the usual
// predictor of the codec with the lags of a row, or of a row and a plane, of the field.
struct NamedPredictor {
  std::string_view name = "auto";  // in static memory; auto: chosen by a sample of the values
  Lags lags = {};                  // in values

  constexpr NamedPredictor() = default;
  constexpr NamedPredictor(std::string_view known, const Lags& some) noexcept : name(known), lags(some) {}
  // Parse a text. Throw Error(invalid_policy) with the remedy if no codec knows the name.
  explicit NamedPredictor(std::string_view text);
  NamedPredictor(const char* text) : NamedPredictor(std::string_view(text)) {}

  constexpr bool automatic() const noexcept { return name == "auto"; }
  friend constexpr bool operator==(const NamedPredictor&, const NamedPredictor&) = default;
};
std::string text_of(const NamedPredictor& predictor);
// Returns nothing if no predictor has that text.
std::optional<NamedPredictor> predictor_named(std::string_view text) noexcept;
std::string predictor_texts();  // the texts of all codecs' predictors, for messages

// Returns true if a coding with this predictor may name the codec.
bool has_predictor(const CodecInfo& codec, const NamedPredictor& predictor) noexcept;
// Returns the prediction of a field of these extents by a codec that has these predictors. Throws
// Error(invalid_policy) with the remedy if the codec does not have the predictor.
Prediction<unsigned> numbered_prediction(const NamedPredictor& predictor, const Dims& dims,
                                         std::span<const std::string_view> predictors);
template <class Inner>
Prediction<Inner> prediction_of(const NamedPredictor& predictor, const Dims& dims,
                                std::span<const std::string_view> predictors) {
  const Prediction<unsigned> prediction = numbered_prediction(predictor, dims, predictors);
  return {static_cast<Inner>(prediction.inner), prediction.lags};
}

// Returns the names of predictions, with their lags, as codings give them.
template <class Inner>
std::vector<NamedPredictor> named(const std::vector<Prediction<Inner>>& predictions,
                                  std::span<const std::string_view> predictors) {
  std::vector<NamedPredictor> all;
  for (const auto& prediction : predictions)
    all.emplace_back(predictors[static_cast<std::size_t>(prediction.inner)], prediction.lags);
  return all;
}

// Coding of values: the choices that decide the bytes of a frame, and the threads and kernels that write
// them. parse_coding() (compressor/frame/coding.hpp) reads a coding from text.
struct Coding {
  const CodecInfo* codec = nullptr;  // null: chosen for each message
  Bound bound = {};                  // bound of one value
  bool checksum = false;             // protect the payload as well as the header
  NamedPredictor predictor = {};
  std::string_view kernels = {};          // name of a kernel set, in static memory; empty: the best one
  Dims dims = {};                         // extents of the field that the values belong to
  int threads = 0;                        // threads of this process for one frame; 0: not given, one
  PackedBits bits = PackedBits::rounded;  // treatment of packed integers; default under rules: exact
  std::optional<double> fill = {};        // number that stands for missing values; range_of() leaves it out

  int thread_count() const noexcept { return threads > 0 ? threads : 1; }
  // Creates the codec. Throws Error if the codec cannot serve the coding.
  std::unique_ptr<Codec> make() const;
  Coding with_bound(Bound other) const noexcept {
    Coding coding = *this;
    coding.bound = other;
    return coding;
  }

  friend bool operator==(const Coding&, const Coding&) = default;
};

// Arithmetic on encoded data, for codecs with `adds_frames` in their contract. The sum of frames decodes to
// the sum of the quantised values: exact, associative and commutative, so that any order gives the same bits.
class FrameArithmetic {
 public:
  static constexpr std::size_t max_operands = 8;

  virtual ~FrameArithmetic() = default;

  // Computes out <- sum of up to max_operands `frames` (same codec, type, count and step). `out` holds
  // max_bytes(type, count, addends).
  virtual SizeOrStatus sum(std::span<const ConstBytes> frames, Bytes out) const noexcept = 0;

  // Computes out <- frame + encode(values), in one pass. A frame with references needs those that it names;
  // the values are predicted from them too.
  virtual SizeOrStatus accumulate(ConstBytes frame, ConstSlice values, References references,
                                  Bytes out) const noexcept = 0;
  SizeOrStatus accumulate(ConstBytes frame, ConstSlice values, Bytes out) const noexcept {
    return accumulate(frame, values, {}, out);
  }

  // Returns true if the values can be a reference of an addend, or of a sum: the codec represents each by an
  // integer, and none is an exact value. A frame that is encoded with such a reference always names it, and
  // may have max_bytes() of two addends.
  virtual bool has_integers(ConstSlice) const noexcept { return false; }
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

// Encoder and decoder for one coding.
class Codec {
 public:
  virtual ~Codec() = default;
  virtual const Contract& contract() const noexcept = 0;

  // Returns the size of the largest frame, header included, of up to `count` values, or of a sum of `addends`
  // such frames.
  virtual std::size_t max_bytes(DType type, std::size_t count, std::uint32_t addends = 1) const noexcept = 0;

  // Writes one frame. `out` must hold max_bytes; otherwise encode() returns buffer_too_small and writes
  // nothing. A codec that takes references may predict the values from them; the frame then names those that
  // the codec used. The values that it decodes to do not depend on references. Other codecs ignore them.
  virtual SizeOrStatus encode(ConstSlice values, References references, Bytes out) const noexcept = 0;
  SizeOrStatus encode(ConstSlice values, Bytes out) const noexcept { return encode(values, {}, out); }

  // Reads one frame into `values` (type and count as in the frame). Never reads past `in` and never writes
  // past `values`. Malformed bytes give a status, and `values` may then hold anything: corrupt_frame if the
  // references do not begin with those that the frame names. A frame without references ignores them.
  virtual Status decode(ConstBytes in, References references, Slice values) const noexcept = 0;
  Status decode(ConstBytes in, Slice values) const noexcept { return decode(in, {}, values); }

  // Computes values <- values op decode(in, references).
  virtual Status reduce(ConstBytes in, References references, Slice values, Reduction op) const noexcept = 0;
  Status reduce(ConstBytes in, Slice values, Reduction op) const noexcept {
    return reduce(in, {}, values, op);
  }

  // Estimates the result of encode(). `scratch` holds sample_scratch bytes (compressor/frame/sample.hpp); the
  // default implementation encodes pieces of the values to `scratch`.
  virtual Sample sample(ConstSlice values, Bytes scratch) const noexcept;

  // Returns null unless contract().adds_frames.
  virtual const FrameArithmetic* arithmetic() const noexcept { return nullptr; }
};

inline constexpr std::size_t max_predictors = 13;

// Codings and frames that a codec's kernels for GPUs serve (gpu/<codec>/codec.cu). The functions give the
// same results on all ranks, whether they have a GPU or not.
struct CodecOnDevices {
  bool (*encodes)(const Coding& coding) noexcept;  // returns true if kernels encode by this coding
  // Returns the coding, without its codec, by which kernels decode a frame: bound, number of lags, and
  // extents if the payload depends on them. Returns nothing if the host has to decode the frame. `payload`:
  // empty if it is not on the host. `known`: the coding of the frames that the caller expects.
  std::optional<Coding> (*decoding)(const FrameHeader& header, ConstBytes payload, const Coding& known);
};

// Registry entry of a codec.
struct CodecInfo {
  // Priorities of codecs for codec=auto, which considers lower numbers first. A codec of priority last_resort
  // is a candidate only if no other codec serves the values.
  static constexpr std::uint8_t first_priority = 1, second_priority = 2, last_resort = 9, only_by_name = 255;

  static constexpr unsigned usual_predictor = 1;  // number among the predictors of a codec

  const char* name;       // name of the folder, and in policies
  std::uint8_t frame_id;  // identifier in frames; never reused
  const char* since;      // version of Taut that first had the codec
  const char* summary;
  // Predictors that a coding may name, numbered as frames number them.
  std::span<const std::string_view> predictors = {};
  // Returns the predictors that `auto` chooses from for a field of these extents: at most max_predictors, the
  // usual one first. Ranks agree on one by its position. Null: there is no choice.
  std::vector<NamedPredictor> (*automatic)(const Dims& dims) = nullptr;
  bool (*serves)(DType type, Bound::Kind kind) noexcept;  // true: codes such values under such bounds
  std::unique_ptr<Codec> (*make)(const Coding&);          // throws Error if the codec cannot serve the coding
  std::uint8_t (*priority)(Bound::Kind kind) noexcept = [](Bound::Kind) noexcept { return first_priority; };
  bool adds_frames = false;                // as in the contract
  bool idempotent = false;                 // as in the contract
  bool takes_references = false;           // frames may have references; parameters[2] tells how many
  const CodecOnDevices* device = nullptr;  // null: there are no kernels for GPUs
};

std::span<const CodecInfo* const> registered_codecs() noexcept;
const CodecInfo* find_codec(const char* name) noexcept;  // null: unknown

// Name of a codec that this build lacks, because a library that the codec needs was missing.
struct AbsentCodec {
  const char* name;
  const char* remedy;  // an imperative sentence without its full stop
};
std::span<const AbsentCodec> absent_codecs() noexcept;

class ValueStatistics;

// Operations on one frame that need no codec options. A codec that adds frames may implement them.
class FrameScaling {
 public:
  virtual ~FrameScaling() = default;

  // Computes out <- factor * frame, as TAUT_Frame_scale promises, for a finite factor other than 0. `out`
  // holds max_bytes of the frame's type, count and addends. Returns invalid_argument if no frame can hold the
  // result.
  virtual SizeOrStatus scale(ConstBytes frame, double factor, Bytes out) const noexcept = 0;

  // Adds the decoded values of a frame of real numbers to `statistics`.
  virtual Status summarize(ConstBytes frame, ValueStatistics& statistics) const noexcept = 0;

  // Returns null for a codec without these operations.
  static const FrameScaling* of(const Codec& codec) noexcept {
    return dynamic_cast<const FrameScaling*>(&codec);
  }
};

}  // namespace taut
