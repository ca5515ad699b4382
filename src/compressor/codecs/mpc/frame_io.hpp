// Writer and readers of an mpc frame as a sequence of chunks. The reader checks every offset; the writer
// stays within a given capacity.
#pragma once

#include <memory>

#include "compressor/codecs/mpc/kernels.hpp"
#include "compressor/codecs/mpc/prediction.hpp"
#include "compressor/frame/chunk_records.hpp"
#include "compressor/frame/codec.hpp"
#include "compressor/frame/lag_window.hpp"

namespace taut::mpc {

// Layout of a frame's values as words.
struct Layout {
  std::size_t word_bytes = 4;
  Prediction prediction = {};  // lags in words, each below the number of words
  References references = {};  // prediction.references of them
  Rounding rounding = {};
  Grid grid = {};  // none if there are references or a rounding

  // Returns the bytes of the heads of a record: its first words, which nothing predicts.
  std::size_t heads_bytes() const noexcept { return prediction.inner * word_bytes; }
};

// Writes grid, state numbers, lags, index and records of `values` into `payload`. Returns their bytes; 0 if
// they do not fit, or if a value would be read as a code of the grid.
std::size_t write_chunks(ConstBytes values, const Layout& layout, const KernelSet& kernels, int threads,
                         Bytes payload) noexcept;

// Writes the values as a stored frame holds them: rounded, but not coded.
void write_rounded(ConstBytes values, const Layout& layout, const KernelSet& kernels, std::byte* to) noexcept;

// Result of a sample: bytes of the sampled values, and of their records.
struct Sampled {
  std::size_t value_bytes = 0, record_bytes = 0;
};

// Cache of the codes of sampled pieces. The samples of several predictions on one grid read the same pieces,
// and those that lags point to.
class SampledCodes {
 public:
  // Returns the codes of the piece whose first byte is `first`; null if they are not kept.
  const std::byte* find(std::ptrdiff_t first) const noexcept;
  // Returns memory for the codes of another piece, in whole vectors; null if there is none.
  std::byte* add(std::ptrdiff_t first) noexcept;

 private:
  static constexpr std::size_t max_pieces = 48;  // 8 pieces, each with up to 5 pieces at its lags

  std::unique_ptr<std::byte[]> codes_;
  std::ptrdiff_t first_[max_pieces] = {};
  std::size_t n_ = 0;
};

// Estimates the bytes of records of the layout from a few pieces of `values`, which have at least
// min_sampled_bytes. Leaves out the remaining pieces once the records have `enough` bytes.
Sampled sampled(ConstBytes values, const Layout& layout, const KernelSet& kernels,
                std::size_t enough = ~std::size_t{0}, SampledCodes* codes = nullptr) noexcept;

class FrameReader {
 public:
  // Opens a whole frame of the type and count of `values`. The reader refers to `frame` afterwards.
  Status open(ConstBytes frame, ConstSlice values) noexcept;

  std::size_t chunks() const noexcept { return chunks_of(bytes_); }
  std::size_t size_of_chunk(std::size_t i) const noexcept {
    return std::min(chunk_bytes, bytes_ - i * chunk_bytes);
  }

  std::size_t bytes() const noexcept { return bytes_; }
  std::size_t word_bytes() const noexcept { return word_bytes_; }

  // Lags in words. In a frame with lags read() gives residuals, not words: see LaggedReader.
  const Lags& lags() const noexcept { return lags_; }

  // In a frame with a grid read() and LaggedReader give codes of the grid in place of words.
  const Grid& grid() const noexcept { return grid_; }

  // State numbers of the references of the frame. In a frame with references read() gives residuals: see
  // reference_sources().
  const StateNumbers& states() const noexcept { return states_; }

  // Checks the record of chunk i and writes the chunk's size_of_chunk(i) bytes to `to`.
  Status read(std::size_t i, const KernelSet& kernels, std::byte* to) const noexcept;

 private:
  bool read_grid() noexcept;
  bool read_lags() noexcept;
  bool decode(ConstBytes record, std::size_t size, const KernelSet& kernels, std::byte* to) const noexcept;

  FrameHeader header_;
  ConstBytes frame_, payload_;  // frame_: the memory that may be read; payload_: from the index on
  StateNumbers states_;
  Lags lags_;
  Grid grid_;
  unsigned distance_ = 0;
  std::size_t bytes_ = 0;  // bytes of the values
  std::size_t word_bytes_ = 4;
};

// Words of a chunk, with room for whole vectors.
struct Piece {
  alignas(64) std::byte bytes[chunk_bytes];
};

// Returns the words of a reference from byte `first` on, in whole vectors: in place, or copied to `piece` if
// the reference ends before a whole vector.
const std::byte* reference_words(ConstBytes reference, std::size_t first, std::size_t size,
                                 Piece& piece) noexcept;

// Returns words, or residuals, with the words at the lags before them, which are in memory before `words`.
inline Sources lag_sources(const std::byte* words, const Lags& lags, std::size_t word_bytes) noexcept {
  const auto at = [&](std::size_t lag) { return words - lag * word_bytes; };
  if (lags.n == 1) return {words, at(lags.lag[0])};
  return {words, at(lags.lag[0]), at(lags.lag[1]), at(lags.span())};
}

// Returns words, or residuals, with the words of the references that predict them. `pieces`: memory for each
// reference.
inline Sources reference_sources(const std::byte* words, References references, std::size_t first,
                                 std::size_t size, Piece* pieces) noexcept {
  const auto at = [&](std::size_t k) {
    return reference_words(references[k].values.as_bytes(), first, size, pieces[k]);
  };
  const std::byte* const newest = at(0);
  if (references.size() == 1) return {words, newest};
  return {words, newest, newest, at(1)};
}

// Parameter `spans` of LagWindow. With fewer spans, values would be moved more often.
inline constexpr std::size_t window_spans = 4;

// Reads the chunks of a frame with lags, in order: each depends on earlier words.
class LaggedReader {
 public:
  // `frame` must outlive the reader. Throws std::bad_alloc.
  LaggedReader(const FrameReader& frame, const KernelSet& kernels)
      : frame_(frame),
        kernels_(kernels),
        history_(frame.lags().span() * frame.word_bytes(), frame.bytes(), window_spans) {}

  // Calls take(i, words) for every chunk i; the words are valid during that call.
  template <class Take>
  Status read(const Take& take) {
    for (std::size_t i = 0; i < frame_.chunks(); ++i) {
      std::byte* const words = history_.next();
      if (const Status status = frame_.read(i, kernels_, words); status != Status::ok) return status;
      kernels_.for_word_bytes(frame_.word_bytes())
          .add_lags(lag_sources(words, frame_.lags(), frame_.word_bytes()),
                    vectors_of(frame_.size_of_chunk(i)), words);
      take(i, words);
    }
    return Status::ok;
  }

 private:
  const FrameReader& frame_;
  const KernelSet& kernels_;
  LagWindow<std::byte, chunk_bytes> history_;
};

}  // namespace taut::mpc
