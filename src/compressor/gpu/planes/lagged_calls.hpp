// Launches the kernels of calls on frames with lags, as calls.hpp does, with additional memory for integers.
#pragma once

#include "compressor/gpu/planes/calls.hpp"
#include "compressor/gpu/planes/decode_lagged.hpp"
#include "compressor/gpu/planes/encode_lagged.hpp"

namespace taut::planes::cuda {

// Memory for the integers of `count` values, and for one word for each thread of the column kernels or for
// each chunk.
class IntegersMemory {
 public:
  static std::size_t bytes(std::uint64_t count) {
    const std::uint64_t totals =
        std::max<std::uint64_t>(columns_threads * columns_blocks(count), chunks_of(count));
    return sizeof(std::int32_t) * (chunks_of(count) * chunk_values + totals);
  }
  // `data` is aligned to 16 bytes.
  IntegersMemory(std::byte* data, std::uint64_t count)
      : data_(reinterpret_cast<std::int32_t*>(data)), count_(count) {}

  std::int32_t* integers() const { return data_; }
  // Words for the totals: one for each thread of column_sums.hpp, and at least one for each chunk.
  std::uint32_t* totals() const {
    return reinterpret_cast<std::uint32_t*>(data_ + chunks_of(count_) * chunk_values);
  }

 private:
  std::int32_t* data_;
  std::uint64_t count_;
};

// Converts residuals to integers.
template <class Launcher>
void undo_lags(Launcher& launcher, const IntegersMemory& room, std::uint64_t count,
               const CallMemory& memory) {
  taut::cuda::undo_lags<ColumnTotalsKernel, ColumnCarriesKernel, ColumnSumsKernel>(
      launcher, [&](unsigned lag) {
        return ColumnsJob{room.integers(),       count, room.totals(),
                          columns_blocks(count), lag,   &memory.scratch->opened.total};
      });
}

template <class T>
struct LaggedEndKernel : EndKernel<LaggedExactKernel<T>> {};

// Decodes as decode() does, and also decodes frames with lags.
template <class T, class Launcher>
void decode_lagged(Launcher& launcher, const Source& source, DType type, T* values, std::uint64_t count,
                   bool add, const IntegersMemory& room, const CallMemory& memory) {
  const ExpectedFrame expected{count, type, LagsUse::undone};
  const LaggedDecodeJob<T> job{decode_job(source, values, expected, add, memory), room.integers()};
  launcher.template launch<ResidualsKernel<T>>(opening_blocks(job.decode.chunks), job);
  if (count > 0) {
    undo_lags(launcher, room, count, memory);
    launcher.template launch<LaggedValuesKernel<T>>(job.decode.chunks, job);
  }
  end_call<LaggedEndKernel<T>>(launcher, job, job.decode.blocks, seal_of(count, memory));
}

// Encodes to the canonical frame, with lags where the CPU uses them. `frame` is exactly as long as the
// codec's max_bytes: a frame that would not fit is encoded without lags. Requires at least one lag, that all
// lags reach values, and a step other than 0.
template <class T, class Launcher>
void encode_lagged(Launcher& launcher, const EncodeCall<T>& call, const Lags& lags, const FrameMemory& frame,
                   const IntegersMemory& room, const CallMemory& memory) {
  FrameSeal seal = seal_of(call, memory);
  seal.frame = reinterpret_cast<std::uint32_t*>(frame.data);
  seal.lags = lags;
  seal.blocks = seal.chunks + closing_blocks(seal.chunks);
  const EncodeJob<T> plain = encode_job(call, sink_of(frame, call.count, memory), seal);
  LaggedEncodeJob<T> job{plain, room.integers(), room.totals(), lags};
  job.encode.sink = sink_of(frame, call.count, memory, lags.n);
  with_bits(call.z, [&]<PackedBits Bits>() {
    launcher.template launch<IntegersKernel<T, Bits>>(plain.sink.chunks, job);
    launcher.template launch<LaggedRecordsKernel<T, Bits>>(plain.sink.chunks, job);
    launcher.template launch<BeginAgainKernel>(1, {plain.sink.control});
    launcher.template launch<EncodeAgainKernel<T, Bits>>(seal.blocks, plain);
  });
}

}  // namespace taut::planes::cuda
