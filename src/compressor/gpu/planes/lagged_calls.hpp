// Launches the kernels of calls on frames with lags, as calls.hpp does, with additional memory for integers.
#pragma once

#include "compressor/gpu/planes/calls.hpp"
#include "compressor/gpu/planes/decode_lagged.hpp"
#include "compressor/gpu/planes/encode_lagged.hpp"

namespace taut::planes::cuda {

// Memory of a call for the integers of `count` values. Behind them are the totals of a decoding or, in the
// same place, the forms of an encoding.
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
  // Returns the totals of column_sums.hpp, one for each thread of its kernels. Only for a decoding.
  std::uint32_t* totals() const { return behind_integers(); }
  // Returns the flags of the records (LaggedEncodeJob::forms), one word for each chunk. Only for an encoding.
  std::uint32_t* forms() const { return behind_integers(); }

 private:
  std::uint32_t* behind_integers() const {
    return reinterpret_cast<std::uint32_t*>(data_ + chunks_of(count_) * chunk_values);
  }

  std::int32_t* data_;
  std::uint64_t count_;
};

// Converts residuals to integers. The lags are those of OpenedSources::total, which is the frame itself.
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

// Encodes to a frame, the same as on the CPU. The whole frame is encoded without lags if a chunk cannot have
// them (encode_lagged.hpp), or if the frame would not fit: `frame` is exactly as long as the codec's
// max_bytes. Requires at least one lag, that all lags reach values, and a step other than 0.
template <class T, class Launcher>
void encode_lagged(Launcher& launcher, const EncodeCall<T>& call, const Lags& lags, const FrameMemory& frame,
                   const IntegersMemory& room, const CallMemory& memory) {
  FrameSeal seal = seal_of(call, memory);
  seal.frame = reinterpret_cast<std::uint32_t*>(frame.data);
  seal.lags = lags;
  seal.blocks = seal.chunks + closing_blocks(seal.chunks);
  const EncodeJob<T> plain = encode_job(call, sink_of(frame, call.count, memory), seal);
  LaggedEncodeJob<T> job{plain, room.integers(), room.forms(), lags};
  job.encode.sink = sink_of(frame, call.count, memory, lags.n);
  with_packed_bits(call.z, [&]<PackedBits Bits>() {
    launcher.template launch<IntegersKernel<T, Bits>>(plain.sink.chunks, job);
    launcher.template launch<LaggedRecordsKernel<T, Bits>>(plain.sink.chunks, job);
    launcher.template launch<BeginAgainKernel>(1, {plain.sink.control});
    launcher.template launch<EncodeAgainKernel<T, Bits>>(seal.blocks, plain);
  });
}

}  // namespace taut::planes::cuda
