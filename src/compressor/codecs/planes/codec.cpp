// The planes codec: stores quantised values as bit planes of their differences. Format: spec.md beside this
// file.
#include <algorithm>
#include <cmath>
#include <new>

#include "compressor/base/float_environment.hpp"
#include "compressor/codecs/planes/prediction.hpp"
#include "compressor/codecs/planes/typed_codec.hpp"
#include "compressor/frame/codec.hpp"
#include "compressor/frame/sample.hpp"
#include "compressor/simd/kernel_choice.hpp"

namespace taut {
namespace planes {

std::span<const KernelSet* const> kernel_sets() noexcept { return built_kernels<KernelSet>(); }
namespace {

// Returns true for the types that the codec quantises: all but integers.
constexpr bool is_quantised(DType type) noexcept { return info_of(type).family != Family::integer; }

class Planes final : public Codec, public FrameScaling, private FrameArithmetic {
 public:
  // If there are several predictions, each message gets the one that is best on a sample of its values.
  Planes(const Coding& coding, std::vector<Prediction> predictions, const KernelSet& kernels)
      : contract_{.bound = coding.bound, .adds_frames = true, .idempotent = true},
        predictions_(std::move(predictions)),
        row_(row_lag(coding.dims)),
        checksum_(coding.checksum),
        codecs_(ValueTypes::each([&]<class T>() {
          return TypedCodec<T>(coding.bound, coding.bits, kernels, coding.thread_count());
        })) {}

  const Contract& contract() const noexcept override { return contract_; }
  const FrameArithmetic* arithmetic() const noexcept override { return this; }

  std::size_t max_bytes(DType type, std::size_t count, std::uint32_t addends) const noexcept override {
    return max_frame_bytes(size_of(component_of(type)), count * components_of(type), addends);
  }

  SizeOrStatus encode(ConstSlice values, References references, Bytes out) const noexcept override {
    if (!is_quantised(values.type)) return {Status::invalid_type};
    if (values.count > max_count / components_of(values.type)) return {Status::invalid_count};
    if (!fit_values(references, values)) return {Status::invalid_argument};
    const bool by_addend = refer_by_addend(references);
    const std::size_t needed = max_bytes(values.type, values.count, by_addend ? 2 : 1);
    if (out.size() < needed) return {Status::buffer_too_small};
    return typed<SizeOrStatus>(values.type, [&](const auto& codec) {
      const Bytes room = out.first(needed);
      const auto encode_with = [&](const Prediction& prediction) {
        return codec.with(prediction, references).encode(values, header(values), room);
      };
      const auto chosen = choose(codec, values, references, encode_with);
      const std::size_t bytes = encode_with(chosen);
      return SizeOrStatus{bytes > 0 ? Status::ok : Status::out_of_memory, bytes};
    });
  }

  Status decode(ConstBytes in, References references, Slice values) const noexcept override {
    return typed<Status>(values.type,
                         [&](const auto& codec) { return codec.decode(in, references, values); });
  }

  Status reduce(ConstBytes in, References references, Slice values, Reduction op) const noexcept override {
    return typed<Status>(values.type,
                         [&](const auto& codec) { return codec.reduce(in, references, values, op); });
  }

  bool has_integers(ConstSlice values) const noexcept override {
    bool all = false;
    typed<Status>(values.type, [&](const auto& codec) {
      all = codec.has_integers(values);
      return Status::ok;
    });
    return all;
  }

  Sample sample(ConstSlice values, Bytes scratch) const noexcept override {
    return typed<Sample>(values.type, [&](const auto& codec) {
      const Estimates estimates(codec, values, {}, predictions_);
      if (estimates.value_bytes == 0) return Codec::sample(values, scratch);
      return Sample{Status::ok, estimates.value_bytes, estimates.bytes[estimates.best()]};
    });
  }

  SizeOrStatus sum(std::span<const ConstBytes> frames, Bytes out) const noexcept override {
    FrameHeader first;
    if (frames.empty()) return {Status::invalid_argument};
    if (const Status s = read_header(frames[0], first); s != Status::ok) return {s};
    return typed<SizeOrStatus>(first.type, [&](const auto& codec) { return codec.sum(frames, out); });
  }

  SizeOrStatus accumulate(ConstBytes frame, ConstSlice values, References references,
                          Bytes out) const noexcept override {
    return typed<SizeOrStatus>(
        values.type, [&](const auto& codec) { return codec.accumulate(frame, values, references, out); });
  }

  SizeOrStatus scale(ConstBytes frame, double factor, Bytes out) const noexcept override {
    FrameHeader header;
    if (const Status s = read_header(frame, header); s != Status::ok) return {s};
    return typed<SizeOrStatus>(header.type,
                               [&](const auto& codec) { return codec.scale(frame, factor, out); });
  }

  Status summarize(ConstBytes frame, ValueStatistics& statistics) const noexcept override {
    FrameHeader header;
    if (const Status s = read_header(frame, header); s != Status::ok) return s;
    if (components_of(header.type) > 1) return Status::invalid_type;
    return typed<Status>(header.type, [&](const auto& codec) { return codec.summarize(frame, statistics); });
  }

 private:
  // Returns true if the frame will be an addend of a sum, and has a reference of its own
  // (Reference::by_addend). It must then be predicted from that reference, its only one.
  static bool refer_by_addend(References references) noexcept {
    return references.size() == 1 && references[0].by_addend;
  }

  // Runs `action` on the codec of the type's components, in the floating-point environment that the bound's
  // proof assumes.
  template <class Result, class Action>
  Result typed(DType type, Action action) const noexcept {
    const FloatEnvironment environment;
    Result result{Status::invalid_type};
    const auto use = [&]<class T>(const TypedCodec<T>& codec) {
      if (component_of(type) == dtype_of<T>) result = action(codec);
    };
    try {
      std::apply([&](const auto&... codec) { (use(codec), ...); }, codecs_);
    } catch (const std::bad_alloc&) {
      return {Status::out_of_memory};
    }
    return result;
  }

  FrameHeader header(ConstSlice values) const noexcept {
    FrameHeader h{.codec = frame_id, .type = values.type, .count = values.count, .bound = contract_.bound};
    h.flags = checksum_ ? FrameHeader::checksummed : 0;
    return h;
  }

  // Predictions among which one is chosen for a message: those of the coding, and two for each number of
  // references, with and without a lag.
  static constexpr std::size_t max_candidates = max_predictors + 4 * max_references;
  struct Candidates {
    Prediction list[max_candidates];
    std::size_t n = 0;

    // `row`: lag that is tried behind references, or none.
    explicit Candidates(std::span<const Prediction> predictions, DType type, std::size_t references,
                        const Lags& row = {}) noexcept {
      const Predictor default_predictor = components_of(type) == 2 ? Predictor::pairs : Predictor::delta;
      for (const Prediction& prediction : predictions) list[n++] = prediction;
      for (unsigned k = 1; k <= references; ++k)
        for (const Predictor inner : {Predictor::none, default_predictor}) {
          list[n++] = {inner, {}, k};
          if (row.any()) list[n++] = {inner, row, k};
        }
    }
    // If the frame will be an addend with a reference, removes the candidates without references and sets
    // by_addend in the others.
    void limit_to_addend(References references) noexcept {
      if (!refer_by_addend(references)) return;
      n = static_cast<std::size_t>(
          std::remove_if(list, list + n, [](const Prediction& p) { return p.references == 0; }) - list);
      for (Prediction& prediction : std::span(list, n)) prediction.by_addend = true;
    }
    std::span<const Prediction> all() const noexcept { return {list, n}; }
  };

  // Estimated bytes of the sampled pieces under each prediction. value_bytes is 0 if the integers allow no
  // estimate.
  struct Estimates {
    std::size_t value_bytes = 0, bytes[max_candidates] = {}, n;

    template <class Typed>
    Estimates(const Typed& codec, ConstSlice values, References references,
              std::span<const Prediction> predictions) noexcept
        : n(predictions.size()) {
      constexpr std::size_t min_values = 4096;  // smaller messages are encoded quickly
      if (values.count < min_values) return;
      Prediction of_components[max_candidates];
      for (std::size_t k = 0; k < n; ++k)
        of_components[k] = predictions[k].in_components(components_of(values.type));
      value_bytes = codec.estimate(values, references, {of_components, n}, {bytes, n});
    }
    std::size_t best() const noexcept {
      return static_cast<std::size_t>(std::min_element(bytes, bytes + n) - bytes);
    }
  };

  // Returns the prediction for a message. A prediction that the coding names uses all references, unless it
  // has two lags. Short messages are not sampled; with references they are encoded by each candidate, by
  // encode_with(prediction) -> bytes. Complex values are two interleaved series.
  template <class Typed, class EncodeWith>
  Prediction choose(const Typed& codec, ConstSlice values, References references,
                    const EncodeWith& encode_with) const noexcept {
    if (predictions_.size() == 1) return named_prediction(values.type, references);
    const bool complex = components_of(values.type) == 2;
    const Prediction default_prediction{complex ? Predictor::pairs : Predictor::delta, {}};
    if (values.components().count < min_values_to_sample) {
      Candidates candidates({&default_prediction, 1}, values.type, references.size());
      candidates.limit_to_addend(references);
      return references.empty() ? default_prediction
                                : *std::ranges::min_element(candidates.all(), {}, encode_with);
    }
    Candidates candidates(predictions_, values.type, references.size(),
                          refer_by_addend(references) ? Lags{} : row_);
    candidates.limit_to_addend(references);
    const Estimates estimates(codec, values, references, candidates.all());
    if (estimates.value_bytes == 0 && refer_by_addend(references)) return candidates.list[0];
    const std::size_t best = estimates.value_bytes > 0 ? estimates.best() : best_encoded(codec, values);
    return candidates.list[best].in_components(components_of(values.type));
  }

  // Returns the prediction that the coding names.
  Prediction named_prediction(DType type, References references) const noexcept {
    Prediction prediction = predictions_[0].in_components(components_of(type));
    prediction.by_addend = refer_by_addend(references);
    if (prediction.by_addend) prediction.lags = {};
    Prediction referring = prediction;
    referring.references = static_cast<unsigned>(references.size());
    return prediction.lags.n <= max_lags_of(referring) ? referring : prediction;
  }

  // Encodes the sampled pieces with each prediction without lags, and returns the index of the best one. Lags
  // would reach beyond a piece.
  template <class T>
  std::size_t best_encoded(const TypedCodec<T>& codec, ConstSlice values) const noexcept {
    const ConstSlice components{values.components()};
    const Pieces pieces(components.count);
    std::byte room[max_frame_bytes(sizeof(T), Pieces::max_values, 1)];
    std::size_t best = 0, min_bytes = 0;
    for (std::size_t k = 0; k < predictions_.size(); ++k) {
      if (predictions_[k].lags.any()) continue;
      std::size_t bytes = 0;
      for (std::size_t i = 0; i < pieces.count; ++i)
        bytes +=
            codec.with(predictions_[k]).encode({components.part(pieces.first(i), pieces.values)}, {}, room);
      if (k > 0 && bytes >= min_bytes) continue;
      best = k;
      min_bytes = bytes;
    }
    return best;
  }

  Contract contract_;
  std::vector<Prediction> predictions_;
  Lags row_;  // a row of the coding's extents
  bool checksum_;
  ForEachType<TypedCodec> codecs_;
};

bool serves(DType type, Bound::Kind kind) noexcept {
  return is_quantised(type) && (kind == Bound::Kind::absolute || kind == Bound::Kind::snap);
}

std::vector<Prediction> predictions(const Coding& coding) {
  if (coding.predictor.automatic()) return automatic_predictions(coding.dims);
  return {prediction_of(coding.predictor, coding.dims)};
}

std::unique_ptr<Codec> make(const Coding& coding) {
  const double bound = coding.bound.value;
  if (!serves(DType::f32, coding.bound.kind) || !(bound > 0) || !std::isfinite(bound))
    throw Error(Status::invalid_argument,
                "the planes codec needs a finite bound above 0; for exact values use lossless");
  const KernelSet& kernels = require_kernels(kernel_sets(), coding.kernels);
  const FloatEnvironment environment;  // gives the same step on ranks with different rounding modes
  return std::make_unique<Planes>(coding, predictions(coding), kernels);
}

// The codings that a GPU serves: all but those with a checksum of the payload. Of a frame's coding, a GPU has
// to know the number of lags before it decodes; the header holds it.
constexpr CodecOnDevices on_devices{
    .encodes = [](const Coding& coding) noexcept { return !coding.checksum; },
    .decoding = [](const FrameHeader& header, ConstBytes, const Coding&) -> std::optional<Coding> {
      if (reference_count(header) > 0) return {};  // without its references
      Coding coding{.bound = header.bound};
      coding.predictor.lags.n = header.parameters[1];
      return coding;
    },
};

}  // namespace
}  // namespace planes

namespace codecs {

extern constinit const CodecInfo planes{
    .name = "planes",
    .frame_id = taut::planes::frame_id,
    .since = "0.1",
    .summary = "uniform quantiser under an absolute bound, differences as bit planes; frames can be added",
    .predictors = taut::planes::predictors,
    .automatic =
        [](const Dims& dims) {
          return named(taut::planes::automatic_predictions(dims), taut::planes::predictors);
        },
    .serves = taut::planes::serves,
    .make = taut::planes::make,
    .adds_frames = true,
    .idempotent = true,
    .takes_references = true,
    .device = &taut::planes::on_devices,
};

}  // namespace codecs
}  // namespace taut
