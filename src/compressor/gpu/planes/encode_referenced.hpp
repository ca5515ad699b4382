// Encodes values to a frame with references; writes the same bytes as residuals.cpp. A chunk is coded from
// its own values and those of the references at the same places. The kernels for an encoding without
// references are always launched, and have nothing to encode unless some chunk needs another form
// (encode_residuals.hpp). The last of them ends the call.
#pragma once

#include "compressor/gpu/planes/encode_residuals.hpp"
#include "compressor/gpu/planes/named_widths.hpp"
#include "compressor/gpu/planes/references.hpp"

namespace taut::planes::cuda {

template <class T>
struct ReferencedEncodeJob {
  EncodeJob<T> encode;  // its quantiser has the predictor of the frame, its sink begins behind the states
  ReferenceArrays<T> arrays;
  unsigned references;  // 1 or 2
};

template <class T>
struct ReferencedShared : ResidualShared<T> {
  NamedShared named;
};

template <class T, class Simt, PackedBits Bits>
class ReferencedChunkEncoder : public ResidualChunkEncoder<T, Simt, Bits> {
  using Base = ResidualChunkEncoder<T, Simt, Bits>;

 public:
  TAUT_DEVICE ReferencedChunkEncoder(Simt simt, ReferencedShared<T>& shared,
                                     const ReferencedEncodeJob<T>& job)
      : Base(simt, shared, job.encode), named_(shared.named), referenced_(job) {}

  TAUT_DEVICE void run() {
    const Sink& sink = this->job_.sink;
    const std::uint32_t chunk = take_chunk(this->group_.simt(), sink, this->shared_.chunk);
    if (!has_chunk(this->group_.simt(), sink, chunk)) return;
    this->set_counts(chunk);
    std::int32_t q[block_values];
    std::uint8_t flags = 0;
    if (this->all_small(q)) {
      encode_residuals(q, flags);
    } else if (has_wide_integers()) {
      encode_wide();
    } else if (this->hold_large(q, flags)) {
      encode_residuals(q, flags);
    } else {
      this->announce_words(0, true);  // other blocks wait for the size
    }
    this->store();
  }

 private:
  TAUT_DEVICE bool has_wide_integers() {
    std::int32_t unused[block_values];
    const std::uint32_t marked = sizeof(T) == 8 ? this->quantise(unused) | this->packed() : 0;
    if (sizeof(T) != 8 || !this->group_.any(marked != 0)) return false;
    auto found = this->count_exact(marked);
    return this->becomes_wide(found);
  }

  // Writes a wide record, or makes the encoding begin again if it is not smaller than a raw layer.
  TAUT_DEVICE void encode_wide() {
    if constexpr (sizeof(T) == 8) {
      std::int64_t q[block_values];
      const RunsPlan runs = this->runs_of(this->hold_integers(true, q).marked);
      subtract_prediction(q);
      const std::int64_t base = difference(this->group_, this->job_.z.predictor, this->values_, q);
      const NamedPlan plan = with_names(this->group_, named_, this->plan_of(q, true), this->blocks());
      const std::uint32_t exact_bytes = runs.count > 0 ? 4 + runs.count * run_bytes_of<T>(true) : 0,
                          words = (plan.bytes() + exact_bytes) / 4;
      const bool fits = runs.count <= this->max_runs_of(true) && words < layer_words<T>(this->n_);
      this->announce_words(fits ? words : 0, true);
      if (!fits) return this->begin_again();
      const std::uint8_t flags = runs.count > 0 ? wide | large | has_runs : wide | large;
      write_planes(this->group_, named_, plan, flags, base, this->blocks(), Differences<std::int64_t>{q},
                   this->shared_.record);
      if (runs.count == 0) return;
      this->hold_integers(true, q);
      this->put_runs(runs, true, q, plan);
    }
  }

  TAUT_DEVICE void encode_residuals(std::int32_t (&q)[block_values], std::uint8_t flags) {
    subtract_prediction(q);
    const std::int32_t base = difference(this->group_, this->job_.z.predictor, this->values_, q);
    const auto plan = [&] {
      return with_names(this->group_, named_, this->plan_of(q, false), this->blocks());
    };
    if ((flags & has_runs) == 0) return this->encode_planned(plan(), named_, base, q, flags);
    this->encode_with_runs(named_, base, q, flags, plan, [&](std::int32_t(&held)[block_values]) {
      std::uint8_t same = 0;
      this->hold_large(held, same);
    });
  }

  template <class Int>
  TAUT_DEVICE void subtract_prediction(Int (&q)[block_values]) const {
    const std::uint64_t first =
        std::uint64_t{this->shared_.chunk} * chunk_values + this->group_.thread() * block_values;
    const ReferenceGrid<T> grid{this->job_.z, this->job_.range.reciprocal};
    ReferencePrediction<T>(referenced_.arrays, referenced_.references, grid, first, this->values_)
        .add_to(q, std::make_unsigned_t<Int>{0} - 1);
  }

  NamedShared& named_;
  const ReferencedEncodeJob<T>& referenced_;
};

template <class T, PackedBits Bits>
struct ReferencedEncodeKernel {
  using Job = ReferencedEncodeJob<T>;
  using Shared = ReferencedShared<T>;
  static constexpr BlockShape shape{chunk_threads, 2};
  template <class Simt>
  TAUT_DEVICE static void run(Simt simt, Shared& shared, const Job& job) {
    ReferencedChunkEncoder<T, Simt, Bits>(simt, shared, job).run();
  }
};

// Header of a frame with references, beside what its FrameSeal says.
struct ReferencedSeal {
  StateNumbers states;
  Predictor predictor;
};

// Ends an encoding with references. Called as seal_frame().
template <class Simt>
TAUT_DEVICE void seal_with_references(const Simt& simt, const FrameSeal& seal,
                                      const ReferencedSeal& referenced, std::uint32_t* header) {
  const StateNumbers& states = referenced.states;
  const unsigned lane = simt.thread(), words = state_words * states.n;
  static_assert(max_references == 2);  // no array is indexed by the lane: it would be placed in memory
  const std::uint64_t state = lane < state_words ? states.number[0] : states.number[1];
  if (lane < words) seal.frame[header_words + lane] = static_cast<std::uint32_t>(state >> (32 * (lane % 2)));
  for (unsigned i = lane; lane == 0 && i < header_words; ++i) header[i] = seal.header[i];
  if (lane == 0) header[11] = static_cast<std::uint32_t>(referenced.predictor) | states.n << 16;
  const std::uint64_t bytes = 4 * (words + seal.chunks + std::uint64_t{1} + seal.scratch->control.words);
  write_header(simt, seal.scratch->crc, header, bytes, seal.frame, seal.result);
  end_call(simt, *seal.scratch, seal.result);
}

// Encodes again without references if that is needed, and ends the call.
template <class T, PackedBits Bits>
struct ReferencedEndKernel {
  struct Job {
    EncodeJob<T> plain;
    ReferencedSeal referenced;
  };
  using Shared = EncodeShared<T>;
  static constexpr BlockShape shape{chunk_threads, 2};
  template <class Simt>
  TAUT_DEVICE static void run(Simt simt, Shared& shared, const Job& job) {
    const EncodeJob<T>& plain = job.plain;
    if (plain.sink.control->encodes_again != 0) return ChunkEncoder<T, Simt, Bits>(simt, shared, plain).run();
    if (arrives_last(simt, *plain.sink.control, plain.seal.blocks))
      seal_with_references(simt, plain.seal, job.referenced, shared.record);
  }
};

}  // namespace taut::planes::cuda
