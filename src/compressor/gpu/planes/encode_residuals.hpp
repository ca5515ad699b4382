// Encoding of residuals, in frames with lags and in frames with references. A chunk that needs layers, with
// lags wide integers, or runs that take too much space makes the encoding begin again, without lags and
// references. So does a record that does not fit in the frame.
#pragma once

#include <algorithm>

#include "compressor/gpu/planes/encode.hpp"

namespace taut::planes::cuda {

// Returns the same as max_plane_bytes() of codecs/planes/general/general.hpp: the size of the largest record
// of n values without residuals and runs. It also decides whether a chunk of residuals may have runs.
TAUT_DEVICE std::uint32_t max_plane_bytes(std::uint32_t n, std::uint8_t flags) {
  constexpr std::uint32_t signs = 3;
  const std::uint32_t bits = ((flags & large) != 0 ? large_bits : small_bits) + signs;
  return 8 + static_cast<std::uint32_t>(blocks_of(n)) * (bits + 1) + 4;
}

// Size of the largest record of residuals. Integers that lags or references predict from may have large_bits,
// whatever those of the chunk have; residuals are sums of up to four, and their second differences of up to
// four of these. Runs take what hold_large() leaves them.
template <class T>
inline constexpr std::uint32_t residual_record_words = [] {
  constexpr std::uint32_t planes = 8 + chunk_blocks * (large_bits + 5 + 1), runs_count = 4;
  constexpr std::uint32_t small_planes = 8 + chunk_blocks * (small_bits + 3 + 1) + 4;
  constexpr std::uint32_t layer = chunk_values * sizeof(T),
                          runs = layer > small_planes ? layer - small_planes : 0;
  return (planes + runs_count + runs + 3) / 4;
}();

template <class T>
using ResidualShared = EncodeShared<T, std::max(record_words<T>, residual_record_words<T>)>;

template <class T, class Simt, PackedBits Bits>
class ResidualChunkEncoder : public ChunkEncoder<T, Simt, Bits, ResidualShared<T>> {
 public:
  using ChunkEncoder<T, Simt, Bits, ResidualShared<T>>::ChunkEncoder;

 protected:
  // Computes the integers of a chunk that is not small, and the flags of its record. A value without an
  // integer repeats the preceding one. Returns false, and makes the encoding begin again, if the chunk cannot
  // have a record of residuals.
  TAUT_DEVICE bool hold_large(std::int32_t (&q)[block_values], std::uint8_t& flags) {
    const auto found = this->find_large(q);
    const bool some_exact = this->group_.any(found.marked != 0);
    const bool in_small_range = !this->group_.any(found.magnitudes >> small_bits != 0);
    flags = some_exact && in_small_range ? 0 : static_cast<std::uint8_t>(large);
    if (!some_exact && !is_half<T>) return true;
    const RunsPlan runs = this->runs_of(found.marked);
    const std::uint32_t planes = max_plane_bytes(this->n_, flags),
                        layer = this->n_ * static_cast<std::uint32_t>(sizeof(T));
    const bool fits = planes < layer && runs.count <= (layer - planes) / run_bytes_of<T>(false);
    if (!fits) begin_again();
    fill_holds(this->group_, found.marked, this->values_, q);
    if (some_exact) flags |= has_runs;
    return fits;
  }

  // Makes the encoding begin again, without lags and references.
  TAUT_DEVICE void begin_again() const {
    if (this->group_.thread() == 0)
      this->group_.simt().atomic_max(&this->job_.sink.control->encodes_again, 1);
  }

  // Writes a record with runs. make_plan() returns the plan of the differences d; restore(q) computes the
  // integers of the chunk once more.
  template <class Shared, class MakePlan, class Restore>
  TAUT_DEVICE void encode_with_runs(Shared& planes, std::int32_t base, const std::int32_t (&d)[block_values],
                                    std::uint8_t flags, const MakePlan& make_plan, const Restore& restore) {
    std::int32_t unused[block_values];
    const RunsPlan runs = this->runs_of(this->quantise(unused) | this->packed());
    const auto plan = make_plan();
    this->announce_words((plan.bytes() + 4 + runs.count * run_bytes_of<T>(false) + 3) / 4, true);
    write_planes(this->group_, planes, plan, flags, base, this->blocks(), Differences<std::int32_t>{d},
                 this->shared_.record);
    std::int32_t q[block_values];
    restore(q);
    this->put_runs(runs, false, q, plan);
  }
};

// Starts the encoding again, also if some record did not fit. The repeated encoding counts as a launch of its
// own, so that no block mistakes its published words for those of the first encoding.
struct BeginAgainKernel {
  struct Job {
    Control* control;
  };
  struct Shared {};
  static constexpr BlockShape shape{warp_lanes, 1};
  template <class Simt>
  TAUT_DEVICE static void run(Simt simt, Shared&, const Job& job) {
    Control& control = *job.control;
    if (simt.thread() != 0 || (control.encodes_again == 0 && control.failure == 0)) return;
    control.encodes_again = 1;
    ++control.epoch;
    control.ticket = control.coded = control.failure = control.words = control.deferred = 0;
  }
};

}  // namespace taut::planes::cuda
