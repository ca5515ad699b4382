// The planes codec: frames of quantised values as bit planes of their differences. Format: spec.md beside
// this file.
#include <cmath>
#include <new>
#include <string>
#include <string_view>

#include "codecs/planes/typed_codec.hpp"
#include "core/codec.hpp"
#include "core/float_environment.hpp"
#include "core/sample.hpp"

namespace taut {
namespace planes {
namespace {

constexpr bool coded(DType type) noexcept { return info_of(type).family != Family::integer; }

class Planes final : public Codec, private FrameArithmetic {
 public:
  Planes(const CodecOptions& options, Predictor predictor, const KernelSet& kernels)
      : contract_{options.bound, false, true},
        predictor_(predictor),
        checksum_(options.checksum),
        f32_(options.bound, predictor, kernels),
        f64_(options.bound, predictor, kernels),
        f16_(options.bound, predictor, kernels),
        bf16_(options.bound, predictor, kernels) {}

  const Contract& contract() const noexcept override { return contract_; }
  const FrameArithmetic* arithmetic() const noexcept override { return this; }

  std::size_t max_bytes(DType type, std::size_t count, std::uint32_t addends) const noexcept override {
    return max_frame_bytes(size_of(component_of(type)), count * components_of(type), addends);
  }

  Sized encode(ConstSlice values, Bytes out) const noexcept override {
    if (!coded(values.type)) return {Status::invalid_type};
    if (values.count > max_count / components_of(values.type)) return {Status::invalid_count};
    const std::size_t most = max_bytes(values.type, values.count, 1);
    if (out.size() < most) return {Status::buffer_too_small};
    return typed<Sized>(values.type, [&](const auto& codec) {
      return Sized{Status::ok, codec.encode(values, header(values), out.first(most))};
    });
  }

  Status decode(ConstBytes in, Slice values) const noexcept override {
    return typed<Status>(values.type, [&](const auto& codec) { return codec.decode(in, values); });
  }

  Status reduce(ConstBytes in, Slice values, Reduction op) const noexcept override {
    return typed<Status>(values.type, [&](const auto& codec) { return codec.reduce(in, values, op); });
  }

  Sized sum(std::span<const ConstBytes> frames, Bytes out) const noexcept override {
    FrameHeader first;
    if (frames.empty()) return {Status::invalid_argument};
    if (const Status s = read_header(frames[0], first); s != Status::ok) return {s};
    return typed<Sized>(first.type, [&](const auto& codec) { return codec.sum(frames, out); });
  }

  Sized accumulate(ConstBytes frame, ConstSlice values, Bytes out) const noexcept override {
    return typed<Sized>(values.type, [&](const auto& codec) { return codec.accumulate(frame, values, out); });
  }

 private:
  // Runs `action` on the codec of the type's components, under the float environment that the bound's proof
  // assumes.
  template <class Result, class Action>
  Result typed(DType type, Action action) const noexcept {
    const FloatEnvironment environment;
    try {
      switch (component_of(type)) {
        case DType::f32: return action(f32_);
        case DType::f64: return action(f64_);
        case DType::f16: return action(f16_);
        case DType::bf16: return action(bf16_);
        default: return {Status::invalid_type};
      }
    } catch (const std::bad_alloc&) {
      return {Status::out_of_memory};
    }
  }

  FrameHeader header(ConstSlice values) const noexcept {
    FrameHeader h{.codec = frame_id, .type = values.type, .count = values.count, .bound = contract_.bound};
    h.flags = checksum_ ? FrameHeader::checksummed : 0;
    h.parameters[0] = static_cast<std::uint8_t>(predictor_);
    return h;
  }

  Contract contract_;
  Predictor predictor_;
  bool checksum_;
  TypedCodec<float> f32_;
  TypedCodec<double> f64_;
  TypedCodec<f16> f16_;
  TypedCodec<bf16> bf16_;
};

constexpr const char* predictors[] = {"delta", "pairs", "none"};  // in the order of preference

// Chooses the predictor for each message by a sample of it.
class AutoPlanes final : public Codec, private FrameArithmetic {
 public:
  AutoPlanes(const CodecOptions& options, const KernelSet& kernels)
      : delta_(options, Predictor::delta, kernels),
        pairs_(options, Predictor::pairs, kernels),
        none_(options, Predictor::none, kernels) {}

  const Contract& contract() const noexcept override { return delta_.contract(); }
  const FrameArithmetic* arithmetic() const noexcept override { return this; }
  std::size_t max_bytes(DType type, std::size_t count, std::uint32_t addends) const noexcept override {
    return delta_.max_bytes(type, count, addends);
  }

  Sized encode(ConstSlice values, Bytes out) const noexcept override {
    return best_for(values).encode(values, out);
  }
  Status decode(ConstBytes in, Slice values) const noexcept override { return delta_.decode(in, values); }
  Status reduce(ConstBytes in, Slice values, Reduction op) const noexcept override {
    return delta_.reduce(in, values, op);
  }

 private:
  Sized sum(std::span<const ConstBytes> frames, Bytes out) const noexcept override {
    return delta_.arithmetic()->sum(frames, out);
  }
  Sized accumulate(ConstBytes frame, ConstSlice values, Bytes out) const noexcept override {
    FrameHeader h;
    if (const Status s = read_header(frame, h); s != Status::ok) return {s};
    const auto predictor = static_cast<Predictor>(h.parameters[0]);
    const Planes& same = predictor == Predictor::pairs  ? pairs_
                         : predictor == Predictor::none ? none_
                                                        : delta_;
    return same.arithmetic()->accumulate(frame, values, out);
  }

  // A sample has to be small beside the message to be worth it. Complex numbers are two series side by side.
  const Planes& best_for(ConstSlice numbers) const noexcept {
    constexpr std::size_t least_values = 65536, scratch_bytes = 8192;
    std::byte scratch[scratch_bytes];
    const bool complex = components_of(numbers.type) == 2;
    const ConstSlice values{numbers.components()};
    const Planes* best = complex ? &pairs_ : &delta_;
    if (values.count < least_values || sample_scratch(*best, values.type) > scratch_bytes) return *best;
    std::size_t least = take_sample(*best, values, scratch).frame_bytes;
    for (const Planes* other : {complex ? &delta_ : &pairs_, &none_}) {
      const std::size_t bytes = take_sample(*other, values, scratch).frame_bytes;
      if (bytes < least) {
        best = other;
        least = bytes;
      }
    }
    return *best;
  }

  Planes delta_, pairs_, none_;
};

Predictor predictor_named(std::string_view name) {
  if (name == "none") return Predictor::none;
  if (name == "delta") return Predictor::delta;
  if (name == "pairs") return Predictor::pairs;
  throw Error(Status::invalid_policy,
              "predictor '" + std::string(name) + "' is unknown; use auto, delta, pairs or none");
}

bool serves(DType type, Bound::Kind kind) noexcept {
  return coded(type) && (kind == Bound::Kind::absolute || kind == Bound::Kind::snap);
}

std::unique_ptr<Codec> make(const CodecOptions& options) {
  const double bound = options.bound.value;
  if (!serves(DType::f32, options.bound.kind) || !(bound > 0) || !std::isfinite(bound))
    throw Error(Status::invalid_argument,
                "the planes codec needs a finite bound above 0; for exact values use lossless");
  const KernelSet* kernels = find_kernels(options.kernels);
  if (kernels == nullptr)
    throw Error(Status::invalid_argument,
                "kernel set '" + std::string(options.kernels) +
                    "' is unknown or not supported by this processor; use scalar, avx2 or avx512");
  const FloatEnvironment environment;  // ranks under different rounding modes come to the same step
  if (std::string_view(options.predictor) == "auto") return std::make_unique<AutoPlanes>(options, *kernels);
  return std::make_unique<Planes>(options, predictor_named(options.predictor), *kernels);
}

}  // namespace
}  // namespace planes

namespace codecs {

const CodecInfo& planes() noexcept {
  static constexpr CodecInfo info{
      .name = "planes",
      .frame_id = taut::planes::frame_id,
      .since = "0.1",
      .summary = "uniform quantiser under an absolute bound, differences as bit planes; frames can be added",
      .predictors = taut::planes::predictors,
      .serves = taut::planes::serves,
      .make = taut::planes::make,
      .adds_frames = true,
  };
  return info;
}

}  // namespace codecs
}  // namespace taut
