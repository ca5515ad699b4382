// The mpc codec: stores differences between the bit patterns of the values, transposed to bit planes, without
// their zero bytes. Format: spec.md beside this file.
#include <cmath>
#include <new>
#include <string>
#include <string_view>

#include "compressor/base/float_environment.hpp"
#include "compressor/codecs/mpc/frame_io.hpp"
#include "compressor/frame/codec.hpp"
#include "compressor/simd/kernel_choice.hpp"

namespace taut {
namespace codecs {
extern const CodecInfo mpc;
}
namespace mpc {

std::span<const KernelSet* const> kernel_sets() noexcept { return built_kernels<KernelSet>(); }
namespace {

bool serves(DType type, Bound::Kind kind) noexcept {
  return kind == Bound::Kind::exact ||
         (kind == Bound::Kind::pointwise && info_of(type).family != Family::integer);
}

class Mpc final : public Codec {
 public:
  // If there are several predictions, each message gets the one that is best on a sample of its values.
  Mpc(const Coding& coding, std::vector<Prediction> predictions, const KernelSet& kernels)
      : contract_{.bound = coding.bound, .idempotent = true},
        bits_(coding.bits),
        predictions_(std::move(predictions)),
        names_grid_(coding.predictor.name == predictors[grid_predictor]),
        checksum_(coding.checksum),
        threads_(coding.thread_count()),
        kernels_(kernels) {}

  const Contract& contract() const noexcept override { return contract_; }

  std::size_t max_bytes(DType type, std::size_t count, std::uint32_t) const noexcept override {
    return frame_header_bytes + count * size_of(type);
  }

  SizeOrStatus encode(ConstSlice values, References references, Bytes out) const noexcept override {
    if (!serves(values.type, contract_.bound.kind)) return {Status::invalid_type};
    if (values.count > max_count) return {Status::invalid_count};
    if (!fit_values(references, values)) return {Status::invalid_argument};
    if (out.size() < max_bytes(values.type, values.count, 1)) return {Status::buffer_too_small};
    const FloatEnvironment environment;  // integers of a grid are the same whatever the caller has set
    Layout layout = layout_of(values, references);
    const Bytes payload = out.subspan(frame_header_bytes, values.bytes());
    std::size_t bytes = write_chunks(values.as_bytes(), layout, kernels_, threads_, payload);
    if (bytes == 0 && layout.grid.any()) {
      layout = without_grid(values, references);
      bytes = write_chunks(values.as_bytes(), layout, kernels_, threads_, payload);
    }
    FrameHeader header = header_of(values, layout);
    if (bytes == 0) {
      header.flags |= FrameHeader::stored;
      header.parameters[2] = 0;
      bytes = payload.size();
      write_rounded(values.as_bytes(), layout, kernels_, payload.data());
    }
    return {Status::ok, seal_frame(header, out.data(), bytes)};
  }

  Status decode(ConstBytes in, References references, Slice values) const noexcept override {
    if (!serves(values.type, contract_.bound.kind)) return Status::invalid_type;
    FrameReader frame;
    if (const Status status = frame.open(in, values); status != Status::ok) return status;
    auto* const to = static_cast<std::byte*>(values.data);
    const auto copy = [&](std::size_t i, const std::byte* words) {
      std::memcpy(to + i * chunk_bytes, words, frame.size_of_chunk(i));
    };
    if (frame.grid().any()) return read_on_grid(frame, copy);
    if (frame.states().any()) return read_with_references(frame, references, values, copy);
    if (frame.lags().any()) return read_lagged(frame, copy);
    return for_chunks(threads_, frame.chunks(),
                      [&](std::size_t i) { return frame.read(i, kernels_, to + i * chunk_bytes); });
  }

  // Decodes and combines chunk by chunk, while the decoded values are in the cache.
  Status reduce(ConstBytes in, References references, Slice values, Reduction op) const noexcept override {
    if (!serves(values.type, contract_.bound.kind) || !is_defined(op, values.type))
      return Status::invalid_type;
    FrameReader frame;
    if (const Status status = frame.open(in, values); status != Status::ok) return status;
    const auto combine = [&](std::size_t i, const std::byte* words) {
      const std::size_t value_bytes = size_of(values.type), n = frame.size_of_chunk(i) / value_bytes;
      reduce_values({values.part(i * (chunk_bytes / value_bytes), n)}, {{words, n, values.type}}, op);
    };
    if (frame.grid().any()) return read_on_grid(frame, combine);
    if (frame.states().any()) return read_with_references(frame, references, values, combine);
    if (frame.lags().any()) return read_lagged(frame, combine);
    return for_chunks(threads_, frame.chunks(), [&](std::size_t i) {
      alignas(64) std::byte piece[chunk_bytes];
      const Status status = frame.read(i, kernels_, piece);
      if (status == Status::ok) combine(i, piece);
      return status;
    });
  }

  Sample sample(ConstSlice values, Bytes scratch) const noexcept override {
    if (!serves(values.type, contract_.bound.kind) || values.bytes() < min_sampled_bytes)
      return Codec::sample(values, scratch);
    const FloatEnvironment environment;
    const Sampled found = sampled(values.as_bytes(), layout_of(values, {}), kernels_);
    return {Status::ok, found.value_bytes, found.record_bytes};
  }

 private:
  template <class Take>
  Status read_lagged(const FrameReader& frame, const Take& take) const noexcept {
    try {
      return LaggedReader(frame, kernels_).read(take);
    } catch (const std::bad_alloc&) {
      return Status::out_of_memory;
    }
  }

  // Reads a frame with a grid, whose codes may have lags. Calls take(i, words).
  template <class Take>
  Status read_on_grid(const FrameReader& frame, const Take& take) const noexcept {
    const auto& kernels = kernels_.for_word_bytes(frame.word_bytes());
    const FloatEnvironment environment;
    const auto take_codes = [&](std::size_t i, const std::byte* codes) {
      Piece words;
      kernels.from_codes(codes, vectors_of(frame.size_of_chunk(i)), frame.grid(), words.bytes);
      take(i, words.bytes);
    };
    if (frame.lags().any()) return read_lagged(frame, take_codes);
    return for_chunks(threads_, frame.chunks(), [&](std::size_t i) {
      Piece codes;
      const Status status = frame.read(i, kernels_, codes.bytes);
      if (status == Status::ok) take_codes(i, codes.bytes);
      return status;
    });
  }

  // Reads a frame with references, chunk by chunk: they do not depend on each other. Calls take(i, words).
  template <class Take>
  Status read_with_references(const FrameReader& frame, References references, Slice values,
                              const Take& take) const noexcept {
    if (!begin_with_named(references, frame.states(), values)) return Status::corrupt_frame;
    references = references.first(frame.states().n);
    const auto& kernels = kernels_.for_word_bytes(frame.word_bytes());
    return for_chunks(threads_, frame.chunks(), [&](std::size_t i) {
      Piece own, pieces[max_references];
      const std::size_t first = i * chunk_bytes, size = frame.size_of_chunk(i);
      if (const Status status = frame.read(i, kernels_, own.bytes); status != Status::ok) return status;
      kernels.add_lags(reference_sources(own.bytes, references, first, size, pieces), vectors_of(size),
                       own.bytes);
      take(i, own.bytes);
      return Status::ok;
    });
  }

  FrameHeader header_of(ConstSlice values, const Layout& layout) const noexcept {
    FrameHeader header{
        .codec = frame_id, .type = values.type, .count = values.count, .bound = contract_.bound};
    header.parameters[0] = static_cast<std::uint8_t>(layout.prediction.inner | layout.grid.distance_flags());
    header.parameters[1] = static_cast<std::uint8_t>(layout.prediction.lags.n | layout.grid.lag_flags());
    header.parameters[2] = static_cast<std::uint8_t>(layout.references.size());
    if (checksum_) header.flags |= FrameHeader::checksummed;
    return header;
  }

  // Returns the layout for a message: on a grid, if the choice among predictions finds one on which the
  // values take fewer bytes.
  Layout layout_of(ConstSlice values, References references) const noexcept {
    const bool long_enough = values.bytes() >= min_sampled_bytes;
    const bool may_have_grid = contract_.bound.exact() && references.empty() &&
                               (names_grid_ || (predictions_.size() > 1 && long_enough));
    if (!may_have_grid) return without_grid(values, references);
    const std::size_t word_bytes = size_of(component_of(values.type));
    const Grid found = find_grid(values, kernels_.for_word_bytes(word_bytes));
    if (!found.any()) return without_grid(values, references);
    Layout layout{.word_bytes = word_bytes, .grid = long_enough ? found.with_differences(word_bytes) : found};
    const Choice choice = best(values, layout, references);
    layout.prediction = choice.prediction;
    if (!long_enough) return layout;
    // Returns the bytes of the sampled records in a layout; any number of at least `enough` if there are as
    // many.
    const auto sampled_bytes = [&](const Layout& on, std::size_t enough) {
      return sampled(values.as_bytes(), on, kernels_, enough).record_bytes;
    };
    std::size_t bytes = choice.bytes;
    // Codes of integers alone have shorter sparse records, which hold the bits of differences even if these
    // are 0.
    Layout integers_alone = layout;
    integers_alone.grid = found;
    if (const std::size_t without = found.integers_alone ? sampled_bytes(integers_alone, bytes) : bytes;
        without + without / 31 < bytes) {
      layout = integers_alone;
      bytes = without;
    }
    Layout plain = layout;
    plain.grid = {};
    // The grid is kept at once if it saves a quarter under its own prediction: other predictions of words
    // seldom make up for that.
    if (const std::size_t many = bytes + bytes / 3; many < sampled_bytes(plain, many + 1)) return layout;
    plain = without_grid(values, references);
    const std::size_t more = bytes + bytes / 15;
    return more < sampled_bytes(plain, more + 1) ? layout : plain;
  }

  Layout without_grid(ConstSlice values, References references) const noexcept {
    const DType component = component_of(values.type);
    Layout layout{.word_bytes = size_of(component)};
    if (contract_.bound.kind == Bound::Kind::pointwise && info_of(component).family == Family::real)
      layout.rounding = Rounding::within(contract_.bound.value, component, bits_);
    if (predictions_.size() == 1)
      layout.prediction = named(values, references);
    else if (names_grid_ && references.empty())
      layout.prediction = usual(values);  // the other predictions are candidates of their own
    else
      layout.prediction = best(values, layout, references).prediction;
    layout.references = references.first(layout.prediction.references);
    return layout;
  }

  // Returns the prediction that the coding names. It has all references unless it has lags.
  Prediction named(ConstSlice values, References references) const noexcept {
    return of_words(predictions_[0], values).with_references(references.size());
  }

  static Prediction usual(ConstSlice values) noexcept {
    return {static_cast<unsigned>(components_of(values.type)), {}};
  }

  // Converts lags from values to words, and leaves out lags that reach no value.
  static Prediction of_words(const Prediction& prediction, ConstSlice values) noexcept {
    const Prediction reaching{prediction.inner, prediction.lags.within(values.count)};
    return reaching.in_components(components_of(values.type));
  }

  // Prediction, and the bytes of the sampled records with it; 0 without a sample.
  struct Choice {
    Prediction prediction;
    std::size_t bytes = 0;
  };

  // Returns the prediction with the fewest bytes on a sample. Predictions with lags or references are slower,
  // and are chosen only if they save one byte in 32.
  Choice best(ConstSlice values, Layout layout, References references) const noexcept {
    Choice best{usual(values)};
    if (values.bytes() < min_sampled_bytes && references.empty()) return best;
    std::size_t least = ~std::size_t{0};
    SampledCodes codes;
    const auto consider = [&](const Prediction& prediction) {
      layout.prediction = prediction;
      layout.references = references.first(prediction.references);
      const std::size_t bytes = sampled(values.as_bytes(), layout, kernels_, least, &codes).record_bytes;
      const bool slower = prediction.lags.any() || prediction.references > 0;
      if (const std::size_t compared = slower ? bytes + bytes / 31 : bytes; compared < least) {
        best = {prediction, bytes};
        least = compared;
      }
    };
    if (values.bytes() < min_sampled_bytes) {
      consider(best.prediction);
    } else {
      for (const Prediction& prediction : predictions_) consider(of_words(prediction, values));
    }
    const auto parts = static_cast<unsigned>(components_of(values.type));
    for (unsigned n = 1; n <= references.size(); ++n)
      for (const unsigned distance : {0U, parts}) consider({distance, {}, n});
    return best;
  }

  Contract contract_;
  PackedBits bits_;
  std::vector<Prediction> predictions_;
  bool names_grid_;  // predictor=grid: search for a grid in short messages too
  bool checksum_;
  int threads_;
  const KernelSet& kernels_;
};

std::vector<Prediction> predictions(const Coding& coding) {
  const bool names_grid = coding.predictor.name == predictors[grid_predictor] && !coding.predictor.lags.any();
  if (coding.predictor.automatic() || names_grid) return automatic_predictions(coding.dims);
  return {prediction_of(coding.predictor, coding.dims)};
}

std::vector<NamedPredictor> automatic(const Dims& dims) {
  std::vector<NamedPredictor> all = named(automatic_predictions(dims), predictors);
  all.insert(all.end() - 1, NamedPredictor(predictors[grid_predictor]));
  return all;
}

std::unique_ptr<Codec> make(const Coding& coding) {
  const Bound bound = coding.bound;
  if (!bound.exact() &&
      !(bound.kind == Bound::Kind::pointwise && bound.value > 0 && std::isfinite(bound.value)))
    throw Error(Status::invalid_argument,
                "the mpc codec is exact, or within a finite pointwise bound above 0; it has no other bounds");
  const KernelSet& kernels = require_kernels(kernel_sets(), coding.kernels);
  return std::make_unique<Mpc>(coding, predictions(coding), kernels);
}

// Kernels on GPUs encode by every coding without a checksum of the payload. To decode, they have to know the
// number of lags and if there is a grid; the header of the frame holds both.
constexpr CodecOnDevices on_devices{
    .encodes = [](const Coding& coding) noexcept { return !coding.checksum; },
    .decoding = [](const FrameHeader& header, ConstBytes, const Coding&) -> std::optional<Coding> {
      if (reference_count(header) > 0) return {};  // kernels do not read them
      Coding coding{.codec = &codecs::mpc, .bound = header.bound};
      coding.predictor.lags.n = header.parameters[1] & ~integers_flag;
      if ((header.parameters[0] & (product_flag | quotient_flag)) != 0)
        coding.predictor.name = predictors[grid_predictor];
      return coding;
    },
};

}  // namespace
}  // namespace mpc

namespace codecs {

extern constinit const CodecInfo mpc{
    .name = "mpc",
    .frame_id = taut::mpc::frame_id,
    .since = "0.2",
    .summary = "differences of the values' bits as bit planes without zeros; exact, or mantissas rounded",
    .predictors = taut::mpc::predictors,
    .automatic = taut::mpc::automatic,
    .serves = taut::mpc::serves,
    .make = taut::mpc::make,
    .idempotent = true,
    .takes_references = true,
    .device = &taut::mpc::on_devices,
};

}  // namespace codecs
}  // namespace taut
