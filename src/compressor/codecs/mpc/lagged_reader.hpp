// Reads the chunks of a frame with lags, in order: each depends on earlier words.
#pragma once

#include "compressor/codecs/mpc/frame_io.hpp"
#include "compressor/frame/lag_window.hpp"

namespace taut::mpc {

class LaggedReader {
 public:
  // `frame` must outlive the reader. Throws std::bad_alloc.
  LaggedReader(const FrameReader& frame, const KernelSet& kernels)
      : frame_(frame), kernels_(kernels), history_(frame.lags().span() * frame.word_bytes(), frame.bytes()) {}

  // Calls take(i, words) for every chunk i; the words are valid during that call.
  template <class Take>
  Status read(const Take& take) {
    for (std::size_t i = 0; i < frame_.chunks(); ++i) {
      std::byte* const words = history_.next();
      if (const Status status = frame_.read(i, kernels_, words); status != Status::ok) return status;
      kernels_.of(frame_.word_bytes())
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
