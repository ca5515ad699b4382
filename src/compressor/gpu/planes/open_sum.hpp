// Opens the sources of a sum, frames or slots, and describes their sum. The first block of the sum's first
// kernel publishes the opened sources; a block that finds none published opens the sources for itself.
#pragma once

#include "compressor/gpu/planes/parse_header.hpp"

namespace taut::planes::cuda {

// Sources of a sum, and what the host knows about them.
struct SumInput {
  Source sources[max_sources];
  unsigned count;  // number of sources
  ExpectedFrame expected;
  std::uint64_t room;  // size of the memory of the sum in bytes
  double slots_step;   // step of the slots, which hold one addend each
  Predictor slots_predictor;
  bool slots_follow;  // slots have the first source's predictor instead
  std::uint32_t slots_header[header_words];
};

// Number of words of the opened sources: of the sum, and of each source.
TAUT_DEVICE unsigned opened_words(const SumInput& input) { return (input.count + 1) * words_of<OpenFrame>(); }

template <class T, class Simt>
TAUT_DEVICE OpenFrame open_source(const Simt& simt, const SumInput& input, unsigned k, const HeaderCrc& crc) {
  if (input.sources[k].frame == nullptr)
    return {input.slots_step, 0, 1, {input.slots_predictor, {}}, false, 0};
  return HeaderParser<T>(input.expected, input.sources[k]).open(simt, crc);
}

// Opens all sources, each by one of the block's warps. Takes one barrier.
template <class T, class Simt>
TAUT_DEVICE void open_sources(const Simt& simt, const SumInput& input, const HeaderCrc& crc, unsigned warps,
                              OpenedSources& opened) {
  for (unsigned k = simt.thread() / warp_lanes; k < input.count; k += warps) {
    const OpenFrame f = open_source<T>(simt, input, k, crc);
    if (simt.thread() % warp_lanes == 0) opened.sources[k] = f;
  }
  simt.barrier();
}

// Describes the sum of the opened sources. Used by the first warp; lane k has source k.
template <class Simt>
class SumDescriber {
 public:
  TAUT_DEVICE SumDescriber(const Simt& simt, const SumInput& input, OpenedSources& opened)
      : simt_(simt), input_(input), opened_(opened), k_(simt.thread()), there_(k_ < input.count) {}

  TAUT_DEVICE void describe() const {
    if (there_ && input_.slots_follow && frame() == nullptr)
      opened_.sources[k_].prediction.inner = opened_.sources[0].prediction.inner;
    const OpenFrame own = there_ ? opened_.sources[k_] : OpenFrame{};
    const std::uint64_t addends = simt_.inclusive_sum(std::uint64_t{own.addends});
    OpenFrame total = opened_.sources[0];
    total.status = first_error(there_ ? status_of(own, addends) : 0);
    total.addends = simt_.shuffle(static_cast<std::uint32_t>(addends), warp_lanes - 1);
    const bool one_prediction = simt_.ballot(there_ && !same(own.prediction, total.prediction)) == 0;
    const bool any_lags = simt_.ballot(own.prediction.lags.n > 0) != 0;
    const std::uint32_t inner = there_ ? static_cast<std::uint32_t>(own.prediction.inner) : ~0u;
    total.prediction.inner = static_cast<Predictor>(~simt_.reduce_max(~inner));
    if (total.status == 0 && any_lags) total.status = status_of_lagged(total, one_prediction);
    if (k_ == 0) opened_.total = total;
    simt_.sync_warp();
  }

  // Writes the description to scratch memory, for the next kernel.
  TAUT_DEVICE void keep(Scratch& scratch) const {
    const OpenFrame& total = opened_.total;
    if (there_) scratch.opened.sources[k_] = opened_.sources[k_];
    if (k_ == 0) scratch.opened.total = total;
    if (total.status == 0 && k_ < header_words) scratch.header[k_] = header_word(total);
  }

 private:
  TAUT_DEVICE const std::uint32_t* frame() const { return input_.sources[k_].frame; }
  TAUT_DEVICE const std::uint32_t* first_header() const {
    return input_.sources[0].frame != nullptr ? input_.sources[0].frame : input_.slots_header;
  }

  // Returns the status of this lane's source in the sum. `addends`: of the sources up to this one.
  TAUT_DEVICE std::uint32_t status_of(const OpenFrame& own, std::uint64_t addends) const {
    if (own.status != 0 || opened_.sources[0].status != 0) return own.status;
    const std::uint32_t* const h = frame() != nullptr ? frame() : first_header();
    const std::uint32_t* const first = first_header();
    const bool alike =
        own.step == opened_.sources[0].step && h[4] == first[4] && h[5] == first[5] && h[14] == first[14];
    if (!alike) return code(Status::frame_mismatch);
    return addends > UINT32_MAX ? code(Status::invalid_count) : 0;
  }

  TAUT_DEVICE std::uint32_t first_error(std::uint32_t status) const {
    const std::uint32_t failed = simt_.ballot(status != 0);
    return simt_.shuffle(status, failed == 0 ? 0 : 31 - simt_.leading_zeros(failed & (0u - failed)));
  }

  // Returns the status of a sum of frames with lags. A sum that loses its lags needs the integers before each
  // value, which only the host computes: TypedCodec::sum.
  TAUT_DEVICE std::uint32_t status_of_lagged(const OpenFrame& total, bool one_prediction) const {
    if (!one_prediction || !fits_lagged(total.addends)) return needs_host;
    const bool room = input_.room >= frame_header_bytes + bytes_before_records(total.prediction.lags.n,
                                                                               input_.expected.values);
    return room ? 0 : code(Status::buffer_too_small);
  }

  // Returns word k of the sum's header, without payload_bytes and checksum. The frame is not stored.
  TAUT_DEVICE std::uint32_t header_word(const OpenFrame& total) const {
    const std::uint32_t word = first_header()[k_];
    if (k_ == 1) return word & 0x00FFFFFF;
    if (k_ == 10) return total.addends;
    if (k_ == 11) return static_cast<std::uint32_t>(total.prediction.inner) | total.prediction.lags.n << 8;
    return word;
  }

  const Simt& simt_;
  const SumInput& input_;
  OpenedSources& opened_;
  unsigned k_;
  bool there_;
};

}  // namespace taut::planes::cuda
