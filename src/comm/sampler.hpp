// What observing costs beyond counting: samples of the values of calls, for TAUT_REPORT and `taut advise`.
#pragma once

#include "comm/codec_cache.hpp"
#include "comm/statistics.hpp"
#include "core/place.hpp"

namespace taut {

// Samples the 1st, 2nd, 4th, 8th ... call of a kind, or those soon after, so that all samples of this process
// take no more than 1 % of its time since the first. The first one of a kind may come before its time, while
// all have taken less than some milliseconds. For one thread at a time.
class Sampler {
 public:
  static constexpr std::size_t least_bytes = 4096;         // of a message
  static constexpr std::uint64_t for_firsts = 10'000'000;  // nanoseconds
  static constexpr std::uint64_t share = 100;              // one in so many nanoseconds
  static constexpr std::size_t range_pieces = 32;          // of Pieces::most_values, for the range

  // `granted`: nanoseconds that all samples may take beyond their share.
  explicit Sampler(std::string kernels, std::uint64_t granted = 0)
      : kernels_(std::move(kernels)), granted_(granted) {}

  // Whether the next call of this kind is to be looked at.
  static bool is_due(const CallRow& row) noexcept {
    return row.call().coded() && row.sum.calls + 1 >= row.next_sample;
  }

  // Before the call is counted in `row`, which is of its kind.
  void look(CallRow& row, ConstSlice values) noexcept;

  // The range of some of the values.
  static ValueRange range_of_some(ConstSlice values) noexcept;

 private:
  void sample(CallRow& row, ConstSlice values);
  void sample(ConstSlice values, Bound bound, Compressibility::Sum& sum);

  bool may_spend(bool on_first) const noexcept;

  std::string kernels_;
  std::uint64_t granted_;
  HostPlace place_;
};

}  // namespace taut
