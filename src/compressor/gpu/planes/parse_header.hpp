// Opens a frame: a warp checks its header, and rejects what frame.cpp and frame_io.cpp reject. The first
// block of a call's first kernel publishes the opened frame; a block that finds none published opens
// the frame for itself. Offsets in the index are checked by the block that processes the chunk; the index of
// a frame without chunks is checked here.
#pragma once

#include "compressor/codecs/planes/record/frame_io.hpp"
#include "compressor/gpu/planes/references.hpp"
#include "compressor/gpu/planes/seal_frame.hpp"
#include "compressor/gpu/simt/source.hpp"

namespace taut::planes::cuda {

// The treatment of frames that have lags.
enum class LagsUse : std::uint8_t {
  refused,  // only the host can process them
  kept,     // the sum has the same lags
  undone,   // later kernels undo them
};

// Frames that a call accepts.
struct ExpectedFrame {
  std::uint64_t values;  // number of values that each frame must hold
  DType type;
  LagsUse lags;
};

// Frames that a call with references accepts. `states`: the numbers of these references.
struct ExpectedReferences : ExpectedFrame {
  StateNumbers states;
};

template <class Expected>
inline constexpr bool reads_references = std::is_same_v<Expected, ExpectedReferences>;

// Returns the payload bytes before the records of a frame that is not stored. `words`: of lags or states.
TAUT_DEVICE std::uint64_t bytes_before_records(unsigned words, std::uint64_t values) {
  return 4 * (words + chunks_of(values) + 1);
}

// Returns `source` with its frame moved past the lags, so that find_record() finds the index.
TAUT_DEVICE Source behind_lags(Source source, const OpenFrame& frame) {
  source.frame += frame.prediction.lags.n;
  return source;
}

// Compares members one by one: a loop over an array would place it in memory.
TAUT_DEVICE bool same(const Prediction& a, const Prediction& b) {
  static_assert(max_lags == 2);
  return a.inner == b.inner && a.lags.n == b.lags.n && a.lags.lag[0] == b.lags.lag[0] &&
         a.lags.lag[1] == b.lags.lag[1];
}

// Returns true if frames of T may have this step.
template <class T>
TAUT_DEVICE bool step_serves(double step) {
  using Step = typename Quantiser<T>::Step;
  const bool power_of_two = std::bit_cast<std::uint64_t>(step) << 12 == 0;
  return step >= StepRange<T>::min && step <= StepRange<T>::max &&
         static_cast<double>(static_cast<Step>(step)) == step && (!is_half<T> || power_of_two);
}

template <class T, class Expected = ExpectedFrame>
class HeaderParser {
 public:
  TAUT_DEVICE HeaderParser(const Expected& expected, const Source& source)
      : expected_(expected), source_(source), h_{source.frame} {}

  // Called by a whole warp.
  template <class Simt>
  TAUT_DEVICE OpenFrame open(const Simt& simt, const HeaderCrc& crc) const {
    OpenFrame f{};
    f.status = check_header(simt, crc, source_.frame, source_.bytes, frame_id);
    if (f.status == 0) f.status = status(f.prediction.lags);
    if (f.status != 0) return f;
    f.step = h_.step();
    f.addends = h_.addends();
    f.prediction.inner = static_cast<Predictor>(h_.parameter(0));
    if constexpr (reads_references<Expected>) f.prediction.references = named_references();
    f.stored = h_.has(FrameHeader::stored);
    f.record_words =
        static_cast<std::uint32_t>((h_.payload_bytes() - (f.stored ? 0 : bytes_before_records())) / 4);
    return f;
  }

 private:
  // Checks the header of a planes frame whose common part is valid, and returns a status.
  TAUT_DEVICE std::uint32_t status(Lags& lags) const {
    if (DType{static_cast<std::uint8_t>(h_.type())} != expected_.type) return code(Status::frame_mismatch);
    const std::uint64_t parts = expected_.type == DType::c64 || expected_.type == DType::c128 ? 2 : 1;
    const std::uint64_t count = h_.count(), bytes = h_.payload_bytes();
    const unsigned lag_count = h_.parameter(1);
    if (count > max_count / parts || h_.addends() == 0 || h_.parameter(0) > 3 || lag_count > max_lags)
      return code(Status::corrupt_frame);
    if (count * parts != expected_.values) return code(Status::frame_mismatch);
    const double step = h_.step();
    if (step != 0 && !step_serves<T>(step)) return code(Status::corrupt_frame);
    if (h_.has(FrameHeader::stored))
      return lag_count == 0 && h_.parameter(2) == 0 && bytes == expected_.values * sizeof(T)
                 ? 0
                 : code(Status::corrupt_frame);
    if constexpr (reads_references<Expected>) {
      if (const std::uint32_t refused = status_of_references(lag_count, step); refused != 0) return refused;
    } else if ((lag_count > 0 && expected_.lags == LagsUse::refused) || step == 0 || h_.parameter(2) > 0) {
      return needs_host;
    }
    const bool fits = bytes >= bytes_before_records() && bytes % 4 == 0;
    const std::uint64_t before = reads_references<Expected> ? bytes_before_records() - 4 : 0;
    const bool whole =
        expected_.values > 0 || (bytes == before + 4 && h_.word[header_words + before / 4] == 0);
    return fits && whole && read_lags(lags) && names_known_states() ? 0 : code(Status::corrupt_frame);
  }

  // Returns the status of a frame that may have references and is not stored.
  TAUT_DEVICE std::uint32_t status_of_references(unsigned lags, double step) const {
    const unsigned references = h_.parameter(2);
    if (lags > 0 || references == reference_of_each_addend || (step == 0 && references == 0))
      return needs_host;
    return step == 0 || references > max_references ? code(Status::corrupt_frame) : 0;
  }

  // Returns the number of references that the frame names, at most those that the caller has: the frame may
  // change after it was checked.
  TAUT_DEVICE unsigned named_references() const {
    if constexpr (reads_references<Expected>) {
      const unsigned named = h_.parameter(2);
      return named < expected_.states.n ? named : expected_.states.n;
    }
    return 0;
  }

  TAUT_DEVICE std::uint64_t bytes_before_records() const {
    const unsigned words =
        h_.parameter(1) + (reads_references<Expected> ? state_words * named_references() : 0);
    return cuda::bytes_before_records(words, expected_.values);
  }

  // True if the states that the frame names are the first ones that the caller has.
  TAUT_DEVICE bool names_known_states() const {
    bool same = true;
    if constexpr (reads_references<Expected>) {
      const unsigned named = h_.parameter(2);
      same = named <= expected_.states.n;
      for (unsigned k = 0; k < max_references; ++k)
        same &= k >= named || h_.long_at(header_words + state_words * k) == expected_.states.number[k];
    }
    return same;
  }

  // Reads the lags. Returns false if a frame of that many values cannot have them.
  TAUT_DEVICE bool read_lags(Lags& lags) const {
    std::uint32_t before = min_lag;
    lags.n = h_.parameter(1);
    for (unsigned k = 0; k < max_lags; ++k) {
      lags.lag[k] = k < lags.n ? source_.frame[header_words + k] : 0;
      if (k < lags.n && (lags.lag[k] < before || lags.lag[k] >= expected_.values)) return false;
      before = lags.lag[k];
    }
    return true;
  }

  const Expected& expected_;
  const Source& source_;
  const HeaderView h_;
};

// Puts the opened frame into `frame`, which is in shared memory. The first block also keeps it for the next
// kernels of the call. Called by the first warp.
template <class T, class Simt, class Expected>
TAUT_DEVICE void find_opened(const Simt& simt, Scratch& scratch, const Expected& expected,
                             const Source& source, OpenFrame& frame) {
  constexpr unsigned words = words_of<OpenFrame>();
  static_assert(words <= warp_lanes);
  const bool there = read_published(simt, scratch.control, scratch.published, words, frame);
  const bool published = simt.ballot(!there) == 0;
  simt.sync_warp();
  if (published) return;
  const OpenFrame f = HeaderParser<T, Expected>(expected, source).open(simt, scratch.crc);
  if (simt.thread() == 0) {
    frame = f;
    if (simt.block() == 0) scratch.opened.total = f;
    if (f.status != 0) simt.atomic_max(&scratch.control.failure, f.status);
  }
  simt.sync_warp();
  if (simt.block() == 0) publish(simt, scratch.control, frame, words, scratch.published);
}

}  // namespace taut::planes::cuda
