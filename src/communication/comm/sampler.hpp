// Sampler: measures the compressibility of a share of the calls, for TAUT_REPORT and `taut advise`. Beyond
// counting, these samples are the only cost of observing.
#pragma once

#include "communication/comm/statistics.hpp"
#include "communication/team/place.hpp"

namespace taut {

// Samples the 1st, 2nd, 4th, 8th ... call of a kind, or a call soon after, so that all samples of this
// process take no more than 1 % of its time since the first. The first sample of a kind may exceed this share
// while all samples have taken less than `for_firsts`. For one thread at a time.
class Sampler {
 public:
  static constexpr std::size_t least_bytes = 4096;         // size of a message
  static constexpr std::uint64_t for_firsts = 10'000'000;  // nanoseconds
  static constexpr std::uint64_t share = 100;              // samples may take one nanosecond in `share`
  static constexpr std::size_t range_pieces = 32;  // pieces of Pieces::most_values values that give the range

  using Clock = std::uint64_t (*)();  // nanoseconds

  // `granted`: nanoseconds that all samples may take beyond their share, by `clock`.
  explicit Sampler(std::string kernels, std::uint64_t granted = 0, Clock clock = clock_now)
      : kernels_(std::move(kernels)), granted_(granted), clock_(clock) {}

  // Returns true if the next call of this kind is to be sampled.
  static bool is_due(const CallRow& row) noexcept {
    return row.call().coded() && row.sum.calls + 1 >= row.next_sample;
  }

  // Samples the values of a call if it is due. Called before the call is counted in `row`, the row of its
  // kind. `in_place`: as in Compressibility.
  void look(CallRow& row, ConstSlice values, bool in_place = false) noexcept;

  // Returns the range of a sample of the values.
  static ValueRange range_of_some(ConstSlice values) noexcept;

 private:
  void sample(CallRow& row, ConstSlice values, bool in_place);
  void sample(ConstSlice values, Bound bound, Compressibility::Sum& sum);

  bool may_spend(bool on_first) const noexcept;

  std::string kernels_;
  std::uint64_t granted_;
  Clock clock_;
  HostPlace place_;
};

}  // namespace taut
