// Headers of frames, checked on the GPU: a warp a frame. What frame.cpp and frame_io.cpp reject is rejected
// here, but for the offsets of the index, which whoever takes a chunk checks.
#pragma once

#include "codecs/planes/cuda/finish.hpp"
#include "codecs/planes/frame_io.hpp"

namespace taut::planes::cuda {

// Reported of a frame that only the host can read: with lags, or with a checksum of its payload.
inline constexpr std::uint32_t needs_host = 120;

// Where the chunks of a frame are, or of slots.
struct Source {
  const std::uint32_t* frame;  // with header; null: slots
  std::uint64_t bytes;         // that may be read there
  const std::uint32_t* words;  // of slots: of each chunk
  const std::uint32_t* slots;
  std::uint32_t slot_words;
};

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

TAUT_DEVICE double double_at(const std::uint32_t* words) {
  return std::bit_cast<double>(words[0] | std::uint64_t{words[1]} << 32);
}
TAUT_DEVICE std::uint64_t long_at(const std::uint32_t* words) {
  return words[0] | std::uint64_t{words[1]} << 32;
}

constexpr std::uint32_t code(Status status) { return static_cast<std::uint32_t>(status); }

template <class T>
class Opener {
 public:
  TAUT_DEVICE Opener(const OpenJob& job, unsigned k)
      : job_(job), source_(job.sources[k]), h_(source_.frame) {}

  template <class Simt>
  TAUT_DEVICE OpenFrame open(const Simt& simt) const {
    OpenFrame f{};
    if (h_ == nullptr) {
      f = {job_.slots_step, 0, 1, job_.slots_predictor, false, 0};
      return f;
    }
    if (source_.bytes < frame_header_bytes) {
      f.status = code(Status::corrupt_frame);
      return f;
    }
    const bool whole = header_crc(simt, job_.scratch->crc, h_) == h_[header_words - 1];
    f.status = !whole || h_[0] != 0x54554154 ? code(Status::corrupt_frame) : status();
    f.step = double_at(h_ + 6);
    f.addends = h_[10];
    f.predictor = static_cast<Predictor>(h_[11] & 0xFF);
    f.stored = (flags() & FrameHeader::stored) != 0;
    f.record_words =
        static_cast<std::uint32_t>(long_at(h_ + 8) / 4 - (f.stored ? 0 : chunks_of(job_.values) + 1));
    return f;
  }

 private:
  TAUT_DEVICE unsigned flags() const { return h_[1] >> 24; }
  TAUT_DEVICE static bool usable(double x) { return x >= 0 && x - x == 0; }

  // Of a header that is whole.
  TAUT_DEVICE std::uint32_t status() const {
    if ((h_[1] & 0xFF) != frame_version) return code(Status::unsupported_version);
    const unsigned type = h_[1] >> 16 & 0xFF, kind = h_[14] & 0xFF;
    const double bound = double_at(h_ + 4), step = double_at(h_ + 6);
    const std::uint64_t bytes = long_at(h_ + 8), count = long_at(h_ + 2);
    const bool bad = type < 1 || type > dtypes || (flags() & ~7u) != 0 || kind >= frame_bound_kinds ||
                     h_[14] >> 8 != 0 || !usable(bound) || (kind == 0) != (bound == 0) || !usable(step) ||
                     bytes > source_.bytes - frame_header_bytes;
    if (bad) return code(Status::corrupt_frame);
    if ((flags() & FrameHeader::failed) != 0) return code(Status::peer_failed);
    if ((h_[1] >> 8 & 0xFF) != frame_id) return code(Status::frame_mismatch);
    if ((flags() & FrameHeader::checksummed) != 0) return needs_host;
    if (DType{static_cast<std::uint8_t>(type)} != job_.type) return code(Status::frame_mismatch);
    const std::uint64_t parts = job_.type == DType::c64 || job_.type == DType::c128 ? 2 : 1;
    const unsigned predictor = h_[11] & 0xFF, lags = h_[11] >> 8 & 0xFF;
    if (count > max_count / parts || h_[10] == 0 || predictor > 3 || lags > 2)
      return code(Status::corrupt_frame);
    if (count * parts != job_.values) return code(Status::frame_mismatch);
    if ((flags() & FrameHeader::stored) != 0)
      return lags == 0 && bytes == job_.values * sizeof(T) ? 0 : code(Status::corrupt_frame);
    if (lags > 0) return needs_host;
    const bool fits = step_serves<T>(step) && bytes >= 4 * (chunks_of(job_.values) + 1) && bytes % 4 == 0;
    return fits ? 0 : code(Status::corrupt_frame);
  }

  const OpenJob& job_;
  const Source& source_;
  const std::uint32_t* h_;
};

template <class T>
struct OpenKernel {
  using Job = OpenJob;
  using Shared = OpenShared;

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

// The record of chunk i; false: the index is wrong there.
TAUT_DEVICE bool find_record(const Source& source, const OpenFrame& f, std::uint32_t chunks, std::uint32_t i,
                             Words& words) {
  if (source.frame == nullptr) {
    words = {source.slots + std::uint64_t{i} * source.slot_words, source.words[i]};
    return words.count <= source.slot_words;
  }
  const std::uint32_t* const index = source.frame + header_words;
  const std::uint32_t first = index[i], last = index[i + 1];
  words = {index + chunks + 1 + first, last - first};
  return first <= last && last <= f.record_words && (i > 0 || first == 0) &&
         (i + 1 < chunks || last == f.record_words);
}

}  // namespace taut::planes::cuda
