// Checks frame headers on the GPU, one warp for each frame. Rejects the headers that frame.cpp and
// frame_io.cpp reject. Offsets in the index are checked by the block that processes the chunk; the index of a
// frame without chunks is checked here.
#pragma once

#include "codecs/planes/format/frame_io.hpp"
#include "gpu/planes/seal_frame.hpp"
#include "gpu/simt/source.hpp"

namespace taut::planes::cuda {

// Treatment of frames with lags. refused: only the host can process them. kept: the sum keeps the lags.
// undone: later kernels undo the lags.
enum class LagsUse : std::uint8_t { refused, kept, undone };

struct OpenJob {
  Source sources[max_sources];
  unsigned count;
  std::uint64_t values;  // number of values that each source must hold
  DType type;
  LagsUse lags;
  std::uint64_t room;  // for a sum: size of its memory in bytes
  double slots_step;   // step of the slots, which hold one addend each
  Predictor slots_predictor;
  bool slots_follow;  // slots have the first source's predictor instead
  std::uint32_t slots_header[header_words];
  Scratch* scratch;
};

// Returns the payload bytes before the records of a frame that is not stored.
TAUT_DEVICE std::uint64_t bytes_before_records(unsigned lags, std::uint64_t values) {
  return 4 * (lags + chunks_of(values) + 1);
}

// Returns `source` with its frame moved past the lags, so that find_record() finds the index.
TAUT_DEVICE Source behind_lags(Source source, const OpenFrame& frame) {
  source.frame += frame.prediction.lags.n;
  return source;
}

// Compares members one by one: a loop over an array would place it in memory.
TAUT_DEVICE bool same(const Prediction& a, const Prediction& b) {
  static_assert(max_lags == 2);
  return a.inner == b.inner && a.lags.n == b.lags.n && a.lags.of[0] == b.lags.of[0] &&
         a.lags.of[1] == b.lags.of[1];
}

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
class HeaderParser {
 public:
  TAUT_DEVICE HeaderParser(const OpenJob& job, unsigned k)
      : job_(job), source_(job.sources[k]), h_{source_.frame} {}

  template <class Simt>
  TAUT_DEVICE OpenFrame open(const Simt& simt) const {
    OpenFrame f{};
    if (source_.frame == nullptr) {
      f = {job_.slots_step, 0, 1, {job_.slots_predictor, {}}, false, 0};
      return f;
    }
    f.status = check_header(simt, job_.scratch->crc, source_.frame, source_.bytes, frame_id);
    if (f.status == 0) f.status = status(f.prediction.lags);
    if (f.status != 0) return f;
    f.step = h_.step();
    f.addends = h_.addends();
    f.prediction.inner = static_cast<Predictor>(h_.parameter(0));
    f.stored = h_.has(FrameHeader::stored);
    f.record_words =
        static_cast<std::uint32_t>((h_.payload_bytes() - (f.stored ? 0 : bytes_before_records())) / 4);
    return f;
  }

 private:
  // Checks the header of a planes frame whose common part is valid, and returns a status.
  TAUT_DEVICE std::uint32_t status(Lags& lags) const {
    if (DType{static_cast<std::uint8_t>(h_.type())} != job_.type) return code(Status::frame_mismatch);
    const std::uint64_t parts = job_.type == DType::c64 || job_.type == DType::c128 ? 2 : 1;
    const std::uint64_t count = h_.count(), bytes = h_.payload_bytes();
    const unsigned lag_count = h_.parameter(1);
    if (count > max_count / parts || h_.addends() == 0 || h_.parameter(0) > 3 || lag_count > max_lags)
      return code(Status::corrupt_frame);
    if (count * parts != job_.values) return code(Status::frame_mismatch);
    if (h_.has(FrameHeader::stored))
      return lag_count == 0 && bytes == job_.values * sizeof(T) ? 0 : code(Status::corrupt_frame);
    if (lag_count > 0 && job_.lags == LagsUse::refused) return needs_host;
    const bool fits = step_serves<T>(h_.step()) && bytes >= bytes_before_records() && bytes % 4 == 0;
    const bool whole = job_.values > 0 || (bytes == 4 && h_.word[header_words] == 0);
    return fits && whole && read_lags(lags) ? 0 : code(Status::corrupt_frame);
  }

  TAUT_DEVICE std::uint64_t bytes_before_records() const {
    return cuda::bytes_before_records(h_.parameter(1), job_.values);
  }

  // Reads the lags. Returns false if a frame of that many values cannot have them.
  TAUT_DEVICE bool read_lags(Lags& lags) const {
    std::uint32_t before = least_lag;
    lags.n = h_.parameter(1);
    for (unsigned k = 0; k < max_lags; ++k) {
      lags.of[k] = k < lags.n ? source_.frame[header_words + k] : 0;
      if (k < lags.n && (lags.of[k] < before || lags.of[k] >= job_.values)) return false;
      before = lags.of[k];
    }
    return true;
  }

  const OpenJob& job_;
  const Source& source_;
  const HeaderAt h_;
};

template <class T>
struct OpenKernel {
  using Job = OpenJob;
  using Shared = OpenShared;
  static constexpr BlockShape shape{group_threads, 2};

  template <class Simt>
  TAUT_DEVICE static void run(Simt simt, Shared&, const Job& job) {
    const unsigned warp = simt.thread() / warp_lanes;
    if (warp < job.count) {
      const OpenFrame f = HeaderParser<T>(job, warp).open(simt);
      if (simt.thread() % warp_lanes == 0) job.scratch->opened[warp] = f;
    }
    simt.barrier();
    if (simt.thread() == 0) add_up(job);
  }

 private:
  // Computes header and description of the sum of all sources.
  TAUT_DEVICE static void add_up(const Job& job) {
    const std::uint32_t* const frame = job.sources[0].frame;
    const std::uint32_t* const first = frame != nullptr ? frame : job.slots_header;
    OpenFrame total = job.scratch->opened[0];
    bool one_prediction = true, any_lags = total.prediction.lags.n > 0;
    for (unsigned k = 1; k < job.count && total.status == 0; ++k) {
      OpenFrame& f = job.scratch->opened[k];
      if (job.slots_follow && job.sources[k].frame == nullptr) f.prediction.inner = total.prediction.inner;
      const std::uint32_t* const h = job.sources[k].frame;
      bool alike = f.step == total.step;
      for (unsigned i = 4; h != nullptr && i < 6; ++i) alike &= h[i] == first[i];
      const bool same_kind = h == nullptr || h[14] == first[14];
      total.status = f.status != 0 ? f.status : alike && same_kind ? 0 : code(Status::frame_mismatch);
      one_prediction &= same(f.prediction, total.prediction);
      any_lags |= f.prediction.lags.n > 0;
      if (f.prediction.inner < total.prediction.inner) total.prediction.inner = f.prediction.inner;
      total.addends += f.addends;
      if (total.status == 0 && total.addends < f.addends) total.status = code(Status::invalid_count);
    }
    if (total.status == 0 && job.lags == LagsUse::kept && any_lags)
      total.status = status_of_lagged(job, total, one_prediction);
    job.scratch->total = total;
    if (total.status != 0) return;
    for (unsigned i = 0; i < header_words; ++i) job.scratch->header[i] = first[i];
    job.scratch->header[1] &= 0x00FFFFFF;  // not stored
    job.scratch->header[10] = total.addends;
    job.scratch->header[11] = static_cast<std::uint32_t>(total.prediction.inner) | total.prediction.lags.n
                                                                                       << 8;
  }

  // Returns the status of a sum of frames with lags. A sum that loses its lags needs the integers before each
  // value, which only the host computes: TypedCodec::sum.
  TAUT_DEVICE static std::uint32_t status_of_lagged(const Job& job, const OpenFrame& total,
                                                    bool one_prediction) {
    if (!one_prediction || !fits_lagged(total.addends)) return needs_host;
    const bool room =
        job.room >= frame_header_bytes + bytes_before_records(total.prediction.lags.n, job.values);
    return room ? 0 : code(Status::buffer_too_small);
  }
};

}  // namespace taut::planes::cuda
