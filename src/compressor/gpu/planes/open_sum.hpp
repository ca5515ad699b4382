// Opens the sources of a sum and describes their sum. A source is a frame, or slots (sink.hpp). The first
// thread block of the sum's first kernel publishes the opened sources; a thread block that finds none
// published opens the sources for itself.
#pragma once

#include "compressor/gpu/planes/parse_header.hpp"

namespace taut::planes::cuda {

// Sources of a sum, and the facts that the host knows about them.
struct SumInput {
  Source sources[max_sources];
  unsigned count;  // number of sources
  ExpectedFrame expected;
  std::uint64_t room;  // size of the memory of the sum in bytes
  double slots_step;   // step of the slots, which hold one addend each
  Predictor slots_predictor;
  bool slots_use_first_predictor;            // slots have the first source's predictor instead
  std::uint32_t slots_header[header_words];  // header of the sum if the first source is not a frame
};

// Size in words of the opened sources: an OpenFrame for the sum, and one for each source.
TAUT_DEVICE unsigned opened_words(const SumInput& input) { return (input.count + 1) * words_of<OpenFrame>(); }

template <class T, class Simt>
TAUT_DEVICE OpenFrame open_source(const Simt& simt, const SumInput& input, unsigned k, const HeaderCrc& crc) {
  if (input.sources[k].frame == nullptr)
    return {input.slots_step, 0, 1, {input.slots_predictor, {}}, false, 0};
  return HeaderParser<T>(input.expected, input.sources[k]).open(simt, crc);
}

// Opens all sources, each by one of the thread block's warps. Executes one barrier.
template <class T, class Simt>
TAUT_DEVICE void open_sources(const Simt& simt, const SumInput& input, const HeaderCrc& crc, unsigned warps,
                              OpenedSources& opened) {
  for (unsigned k = simt.thread() / warp_lanes; k < input.count; k += warps) {
    const OpenFrame f = open_source<T>(simt, input, k, crc);
    if (simt.thread() % warp_lanes == 0) opened.sources[k] = f;
  }
  simt.barrier();
}

// Describes the sum of the opened sources. Used by the first warp: lane k processes source k, and word k of
// the header.
template <class Simt>
class SumDescriber {
 public:
  TAUT_DEVICE SumDescriber(const Simt& simt, const SumInput& input, OpenedSources& opened)
      : simt_(simt), input_(input), opened_(opened), lane_(simt.thread()), has_source_(lane_ < input.count) {}

  TAUT_DEVICE void describe() const {
    if (has_source_ && input_.slots_use_first_predictor && frame() == nullptr)
      opened_.sources[lane_].prediction.inner = opened_.sources[0].prediction.inner;
    const OpenFrame own = has_source_ ? opened_.sources[lane_] : OpenFrame{};
    const std::uint64_t addends = simt_.inclusive_sum(std::uint64_t{own.addends});
    OpenFrame total = opened_.sources[0];
    total.status = first_error(has_source_ ? status_of(own, addends) : 0);
    total.addends = simt_.shuffle(static_cast<std::uint32_t>(addends), warp_lanes - 1);
    const bool one_prediction = simt_.ballot(has_source_ && !same(own.prediction, total.prediction)) == 0;
    const bool any_lags = simt_.ballot(own.prediction.lags.n > 0) != 0;
    const std::uint32_t inner = has_source_ ? static_cast<std::uint32_t>(own.prediction.inner) : ~0u;
    total.prediction.inner = static_cast<Predictor>(~simt_.reduce_max(~inner));
    if (total.status == 0 && any_lags) total.status = status_of_lagged(total, one_prediction);
    if (lane_ == 0) opened_.total = total;
    simt_.sync_warp();
  }

  // Writes the opened sources and the sum's header to scratch memory, for the next kernels.
  TAUT_DEVICE void publish(Scratch& scratch) const {
    const OpenFrame& total = opened_.total;
    if (has_source_) scratch.opened.sources[lane_] = opened_.sources[lane_];
    if (lane_ == 0) scratch.opened.total = total;
    if (total.status == 0 && lane_ < header_words) scratch.header[lane_] = header_word(total);
  }

 private:
  TAUT_DEVICE const std::uint32_t* frame() const { return input_.sources[lane_].frame; }
  TAUT_DEVICE const std::uint32_t* first_header() const {
    return input_.sources[0].frame != nullptr ? input_.sources[0].frame : input_.slots_header;
  }

  // Returns the status of this lane's source in the sum, which must have the step and the bound of the first
  // source. `addends`: number of addends of the sources up to this one.
  TAUT_DEVICE std::uint32_t status_of(const OpenFrame& own, std::uint64_t addends) const {
    if (own.status != 0 || opened_.sources[0].status != 0) return own.status;
    const std::uint32_t* const h = frame() != nullptr ? frame() : first_header();
    const std::uint32_t* const first = first_header();
    // Words 4 and 5 are the bound, word 14 its kind: HeaderView.
    const bool same_bound = h[4] == first[4] && h[5] == first[5] && h[14] == first[14];
    if (own.step != opened_.sources[0].step || !same_bound) return code(Status::frame_mismatch);
    return addends > UINT32_MAX ? code(Status::invalid_count) : 0;
  }

  TAUT_DEVICE std::uint32_t first_error(std::uint32_t status) const {
    const std::uint32_t failed = simt_.ballot(status != 0);
    return simt_.shuffle(status, failed == 0 ? 0 : 31 - simt_.leading_zeros(failed & (0u - failed)));
  }

  // Returns the status of a sum of frames with lags. A sum that loses its lags needs the integers before each
  // value, which only the host computes: TypedCodec::sum.
  TAUT_DEVICE std::uint32_t status_of_lagged(const OpenFrame& total, bool one_prediction) const {
    if (!one_prediction || !may_have_lags(total.addends)) return needs_host;
    const bool room = input_.room >= frame_header_bytes + bytes_before_records(total.prediction.lags.n,
                                                                               input_.expected.values);
    return room ? 0 : code(Status::buffer_too_small);
  }

  // Returns the word of this lane of the sum's header, without payload_bytes and checksum. The frame is not
  // stored.
  TAUT_DEVICE std::uint32_t header_word(const OpenFrame& total) const {
    const std::uint32_t word = first_header()[lane_];
    if (lane_ == 1) return word & 0x00FFFFFF;
    if (lane_ == 10) return total.addends;
    if (lane_ == 11) return static_cast<std::uint32_t>(total.prediction.inner) | total.prediction.lags.n << 8;
    return word;
  }

  const Simt& simt_;
  const SumInput& input_;
  OpenedSources& opened_;
  unsigned lane_;
  bool has_source_;
};

}  // namespace taut::planes::cuda
