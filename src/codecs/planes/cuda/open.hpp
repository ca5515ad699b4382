// Headers of frames, checked on the GPU: a warp a frame. What frame.cpp and frame_io.cpp reject is rejected
// here, but for the offsets of the index, which whoever takes a chunk checks; of a frame without chunks they
// are.
#pragma once

#include "codecs/planes/cuda/finish.hpp"
#include "codecs/planes/frame_io.hpp"
#include "core/cuda/source.hpp"

namespace taut::planes::cuda {

struct OpenJob {
  Source sources[max_sources];
  unsigned count;
  std::uint64_t values;  // each has to hold
  DType type;
  double slots_step;  // of slots, of one addend
  Predictor slots_predictor;
  bool slots_follow;  // instead, that of the first source
  std::uint32_t slots_header[header_words];
  Scratch* scratch;
};

struct OpenShared {
  std::uint32_t status[max_sources];
};

template <class T>
TAUT_DEVICE bool step_serves(double step) {
  using Step = typename Quantiser<T>::Step;
  if (step == 0) return true;
  const bool power_of_two = std::bit_cast<std::uint64_t>(step) << 12 == 0;
  return step >= StepRange<T>::lowest && step <= StepRange<T>::highest &&
         static_cast<double>(static_cast<Step>(step)) == step && (!is_half<T> || power_of_two);
}

template <class T>
class Opener {
 public:
  TAUT_DEVICE Opener(const OpenJob& job, unsigned k)
      : job_(job), source_(job.sources[k]), h_{source_.frame} {}

  template <class Simt>
  TAUT_DEVICE OpenFrame open(const Simt& simt) const {
    OpenFrame f{};
    if (source_.frame == nullptr) {
      f = {job_.slots_step, 0, 1, job_.slots_predictor, false, 0};
      return f;
    }
    f.status = check_header(simt, job_.scratch->crc, source_.frame, source_.bytes, frame_id);
    if (f.status == 0) f.status = status();
    if (f.status != 0) return f;
    f.step = h_.step();
    f.addends = h_.addends();
    f.predictor = static_cast<Predictor>(h_.parameter(0));
    f.stored = h_.has(FrameHeader::stored);
    f.record_words =
        static_cast<std::uint32_t>(h_.payload_bytes() / 4 - (f.stored ? 0 : chunks_of(job_.values) + 1));
    return f;
  }

 private:
  // Of a frame of planes whose header is good.
  TAUT_DEVICE std::uint32_t status() const {
    if (DType{static_cast<std::uint8_t>(h_.type())} != job_.type) return code(Status::frame_mismatch);
    const std::uint64_t parts = job_.type == DType::c64 || job_.type == DType::c128 ? 2 : 1;
    const std::uint64_t count = h_.count(), bytes = h_.payload_bytes();
    const unsigned lags = h_.parameter(1);
    if (count > max_count / parts || h_.addends() == 0 || h_.parameter(0) > 3 || lags > 2)
      return code(Status::corrupt_frame);
    if (count * parts != job_.values) return code(Status::frame_mismatch);
    if (h_.has(FrameHeader::stored))
      return lags == 0 && bytes == job_.values * sizeof(T) ? 0 : code(Status::corrupt_frame);
    if (lags > 0) return needs_host;
    const bool fits =
        step_serves<T>(h_.step()) && bytes >= 4 * (chunks_of(job_.values) + 1) && bytes % 4 == 0;
    const bool whole = job_.values > 0 || (bytes == 4 && h_.word[header_words] == 0);
    return fits && whole ? 0 : code(Status::corrupt_frame);
  }

  const OpenJob& job_;
  const Source& source_;
  const HeaderAt h_;
};

template <class T>
struct OpenKernel {
  using Job = OpenJob;
  using Shared = OpenShared;
  static constexpr BlockShape shape{crew_threads, 2};

  template <class Simt>
  TAUT_DEVICE static void run(Simt simt, Shared&, const Job& job) {
    const unsigned warp = simt.thread() / warp_lanes;
    if (warp < job.count) {
      const OpenFrame f = Opener<T>(job, warp).open(simt);
      if (simt.thread() % warp_lanes == 0) job.scratch->opened[warp] = f;
    }
    simt.barrier();
    if (simt.thread() == 0) add_up(job);
  }

 private:
  // Header and description of the sum of all sources.
  TAUT_DEVICE static void add_up(const Job& job) {
    const std::uint32_t* const frame = job.sources[0].frame;
    const std::uint32_t* const first = frame != nullptr ? frame : job.slots_header;
    OpenFrame total = job.scratch->opened[0];
    for (unsigned k = 1; k < job.count && total.status == 0; ++k) {
      OpenFrame& f = job.scratch->opened[k];
      if (job.slots_follow && job.sources[k].frame == nullptr) f.predictor = total.predictor;
      const std::uint32_t* const h = job.sources[k].frame;
      bool alike = f.step == total.step;
      for (unsigned i = 4; h != nullptr && i < 6; ++i) alike &= h[i] == first[i];
      const bool same_kind = h == nullptr || h[14] == first[14];
      total.status = f.status != 0 ? f.status : alike && same_kind ? 0 : code(Status::frame_mismatch);
      total.predictor = f.predictor < total.predictor ? f.predictor : total.predictor;
      total.addends += f.addends;
      if (total.status == 0 && total.addends < f.addends) total.status = code(Status::invalid_count);
    }
    job.scratch->total = total;
    if (total.status != 0) return;
    for (unsigned i = 0; i < header_words; ++i) job.scratch->header[i] = first[i];
    job.scratch->header[1] &= 0x00FFFFFF;  // not stored
    job.scratch->header[10] = total.addends;
    job.scratch->header[11] = static_cast<std::uint32_t>(total.predictor);
  }
};

}  // namespace taut::planes::cuda
