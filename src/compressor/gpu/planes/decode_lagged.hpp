// Decodes frames with lags. Planes give residuals (lags.hpp), which the first kernel writes to memory.
// The kernels of column_sums.hpp add the residuals up to integers. Two more kernels compute the values. A
// frame without lags is decoded by the first kernel, and its exact chunks by the last one.
#pragma once

#include "compressor/gpu/planes/decode.hpp"
#include "compressor/gpu/simt/column_sums.hpp"

namespace taut::planes::cuda {

// Undoes the prediction by one lag: an integer is its residual plus the integer one lag before, a running
// sum.
struct ColumnsJob {
  using Word = std::int32_t;
  using Sum = std::uint32_t;

  std::int32_t* words;  // residuals, replaced by integers
  std::uint64_t count;
  std::uint32_t* totals;
  std::uint32_t blocks;
  unsigned lag;  // index of the lag in the frame
  const OpenFrame* frame;

  TAUT_DEVICE std::uint32_t length() const {
    return frame->status != 0 || lag >= frame->prediction.lags.n ? 0 : frame->prediction.lags.lag[lag];
  }
};

struct ColumnTotalsKernel : ColumnTotals<ColumnsJob> {};
struct ColumnCarriesKernel : ColumnCarries<ColumnsJob> {};
struct ColumnSumsKernel : ColumnSums<ColumnsJob> {};

template <class T>
struct LaggedDecodeJob {
  DecodeJob<T> decode;
  std::int32_t* integers;  // whole chunks of integers
};

// Decodes the chunks of one thread block, of frames with and without lags.
template <class T, class Simt>
class LaggedChunkDecoder : public ChunkDecoder<T, Simt> {
  using Base = ChunkDecoder<T, Simt>;

 public:
  TAUT_DEVICE LaggedChunkDecoder(Simt simt, DecodeShared& shared, const LaggedDecodeJob<T>& job,
                                 const OpenFrame& frame)
      : Base(simt, shared, job.decode, frame), integers_(job.integers) {}

  // Runs the first kernel: writes residuals, or the values of a frame without lags.
  TAUT_DEVICE void run_residuals() {
    const std::uint32_t chunk = this->group_.simt().block();
    if (!this->open(chunk, resident_predicted_blocks)) return;
    if (!lagged()) return this->decode(chunk);
    this->locate(chunk);
    if (!this->shared_.good || !this->template read<RunsCheck::lengths>()) return this->fail();
    std::int32_t r[block_values];
    this->integers(r);
    store_block(block_of(chunk), block_values, r);
  }

  // Computes values once the residuals have become integers. Skips chunks with a malformed head. Values of
  // other chunks that the first kernel found malformed are unspecified: the call has failed.
  TAUT_DEVICE void run_values() {
    if (!lagged()) return;
    const std::uint32_t chunk = this->group_.simt().block();
    this->locate(chunk);
    if (!this->find_head(chunk)) return;
    const RecordHead& head = this->shared_.head;
    if (!head.simple()) return this->defer(chunk);
    std::int32_t q[block_values];
    load_block(block_of(chunk), block_values, q);
    this->store_multiples(head.flags, q);
  }

  // Computes the values of chunks with exact values. `chunk_integers`: see run_exact() of the base class.
  TAUT_DEVICE void run_exact(std::int64_t* chunk_integers) {
    if (!lagged()) return Base::run_exact(chunk_integers);
    this->each_deferred([&](std::uint32_t chunk) {
      std::int32_t q[block_values];
      load_block(block_of(chunk), block_values, q);
      this->store_general(q, chunk_integers);
    });
  }

 private:
  TAUT_DEVICE bool lagged() const { return this->frame_.status == 0 && this->frame_.prediction.lags.n > 0; }
  TAUT_DEVICE std::int32_t* block_of(std::uint32_t chunk) const {
    return integers_ + std::uint64_t{chunk} * chunk_values + this->group_.thread() * block_values;
  }

  std::int32_t* integers_;
};

template <class T>
struct ResidualsKernel {
  using Job = LaggedDecodeJob<T>;
  using Shared = DecodeShared;
  static constexpr BlockShape shape{chunk_threads, resident_predicted_blocks};
  template <class Simt>
  TAUT_DEVICE static void run(Simt simt, Shared& shared, const Job& job) {
    LaggedChunkDecoder<T, Simt>(simt, shared, job, shared.frame).run_residuals();
  }
};

template <class T>
struct LaggedValuesKernel {
  using Job = LaggedDecodeJob<T>;
  using Shared = DecodeShared;
  static constexpr BlockShape shape{chunk_threads, 2};
  template <class Simt>
  TAUT_DEVICE static void run(Simt simt, Shared& shared, const Job& job) {
    LaggedChunkDecoder<T, Simt>(simt, shared, job, job.decode.scratch->opened.total).run_values();
  }
};

template <class T>
struct LaggedExactKernel {
  using Job = LaggedDecodeJob<T>;
  using Shared = DecodeExactShared;
  // One block on a multiprocessor is enough, because few chunks need this kernel.
  static constexpr BlockShape shape{chunk_threads, 1};
  template <class Simt>
  TAUT_DEVICE static void run(Simt simt, Shared& shared, const Job& job) {
    LaggedChunkDecoder<T, Simt>(simt, shared.decode, job, job.decode.scratch->opened.total)
        .run_exact(shared.q);
  }
};

}  // namespace taut::planes::cuda
