// Encodes values to a frame with lags; writes the same bytes as residuals.cpp. The first kernel writes the
// integers of all chunks to memory. The second kernel codes each chunk from its own integers and those that
// its lags reach. A chunk that needs raw layers, wide integers, or runs that take too much space makes the
// encoding begin again without lags, as does a record that does not fit. The kernels for that case are always
// launched, and have nothing to encode if it does not occur. The last of them ends the call.
#pragma once

#include "compressor/gpu/planes/encode_residuals.hpp"

namespace taut::planes::cuda {

template <class T>
struct LaggedEncodeJob {
  EncodeJob<T> encode;
  std::int32_t* integers;  // whole chunks of integers
  std::uint32_t* forms;    // flags of each chunk's record, from the first kernel for the second
  Lags lags;               // all of them reach values
};

template <class T, class Simt, PackedBits Bits>
class LaggedChunkEncoder : public ResidualChunkEncoder<T, Simt, Bits> {
  using Base = ResidualChunkEncoder<T, Simt, Bits>;

 public:
  TAUT_DEVICE LaggedChunkEncoder(Simt simt, ResidualShared<T>& shared, const LaggedEncodeJob<T>& job)
      : Base(simt, shared, job.encode), lagged_(job) {}

  // Runs the first kernel: stores integers. A value without an integer repeats the preceding one.
  TAUT_DEVICE void run_integers() {
    const std::uint32_t chunk = this->group_.simt().block();
    if (this->group_.thread() == 0) this->shared_.chunk = chunk;
    this->group_.simt().barrier();
    this->set_counts(chunk);
    std::int32_t q[block_values];
    std::uint8_t flags = 0;
    if (!this->all_small(q)) this->hold_large(q, flags);
    store_block(own_integers(), block_values, q);
    if (this->group_.thread() == 0) lagged_.forms[chunk] = flags;
  }

  // Runs the second kernel: writes records.
  TAUT_DEVICE void run_records() {
    const Sink& sink = this->job_.sink;
    if (sink.control->encodes_again != 0) return;
    const std::uint32_t chunk = take_chunk(this->group_.simt(), sink, this->shared_.chunk);
    if (!has_chunk(this->group_.simt(), sink, chunk)) return;
    this->set_counts(chunk);
    const auto flags = static_cast<std::uint8_t>(lagged_.forms[chunk]);
    std::int32_t r[block_values];
    load_residuals(r);
    const std::int32_t base = difference(this->group_, this->job_.z.predictor, this->values_, r);
    if ((flags & has_runs) != 0) {
      this->encode_with_runs(
          this->shared_.planes, base, r, flags, [&] { return this->plan_of(r, false); },
          [&](std::int32_t(&q)[block_values]) { load_block(own_integers(), block_values, q); });
    } else {
      this->encode_differences(base, r, flags);
    }
    this->store();
  }

 private:
  // Returns the index in the frame of this thread's first value.
  TAUT_DEVICE std::uint64_t first_place() const {
    return std::uint64_t{this->shared_.chunk} * chunk_values + this->group_.thread() * block_values;
  }
  TAUT_DEVICE std::int32_t* own_integers() const { return lagged_.integers + first_place(); }

  TAUT_DEVICE void load_residuals(std::int32_t (&r)[block_values]) const {
    const Lags& lags = lagged_.lags;
    load_block(own_integers(), block_values, r);
    for (unsigned k = 0; k < lags.n; ++k) add_earlier_integers(r, lags.lag[k], 0u - 1);
    if (lags.n == 2) add_earlier_integers(r, std::uint64_t{lags.lag[0]} + lags.lag[1], 1);
  }
  // Computes r <- r + sign * (the integers `back` positions earlier). Integers before the frame's start are
  // 0.
  TAUT_DEVICE void add_earlier_integers(std::int32_t (&r)[block_values], std::uint64_t back,
                                        std::uint32_t sign) const {
    const std::uint64_t begin = first_place();
    for (unsigned i = 0; i < block_values; ++i) {
      const std::uint32_t q =
          begin + i >= back ? static_cast<std::uint32_t>(lagged_.integers[begin + i - back]) : 0;
      r[i] = static_cast<std::int32_t>(static_cast<std::uint32_t>(r[i]) + sign * q);
    }
  }

  const LaggedEncodeJob<T>& lagged_;
};

template <class T, PackedBits Bits>
struct IntegersKernel {
  using Job = LaggedEncodeJob<T>;
  using Shared = ResidualShared<T>;
  static constexpr BlockShape shape{chunk_threads, 2};
  template <class Simt>
  TAUT_DEVICE static void run(Simt simt, Shared& shared, const Job& job) {
    LaggedChunkEncoder<T, Simt, Bits>(simt, shared, job).run_integers();
  }
};

template <class T, PackedBits Bits>
struct LaggedRecordsKernel {
  using Job = LaggedEncodeJob<T>;
  using Shared = ResidualShared<T>;
  static constexpr BlockShape shape{chunk_threads, 2};
  template <class Simt>
  TAUT_DEVICE static void run(Simt simt, Shared& shared, const Job& job) {
    LaggedChunkEncoder<T, Simt, Bits>(simt, shared, job).run_records();
  }
};

// Encodes again without lags if that is needed, and ends the call.
template <class T, PackedBits Bits>
struct EncodeAgainKernel {
  using Job = EncodeJob<T>;
  using Shared = EncodeShared<T>;
  static constexpr BlockShape shape{chunk_threads, 2};
  template <class Simt>
  TAUT_DEVICE static void run(Simt simt, Shared& shared, const Job& job) {
    if (job.sink.control->encodes_again != 0) return ChunkEncoder<T, Simt, Bits>(simt, shared, job).run();
    if (arrives_last(simt, *job.sink.control, job.seal.blocks)) seal_frame(simt, job.seal, 0, shared.record);
  }
};

}  // namespace taut::planes::cuda
