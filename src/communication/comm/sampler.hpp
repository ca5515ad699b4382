// Sampler: measures the compressibility of a share of the calls, for TAUT_REPORT and `taut advise`, and the
// gain that a history would give. Beyond counting, these samples are the only cost of observing.
#pragma once

#include <atomic>
#include <list>

#include "communication/comm/collective_call.hpp"
#include "communication/comm/history.hpp"
#include "communication/comm/statistics.hpp"
#include "communication/team/place.hpp"

namespace taut {

// Values of a call that the sampler may sample.
struct SampledCall {
  ConstSlice values;
  std::uint64_t stream = 0;  // calls of one stream are those that a history would serve as one series
  bool in_place = false;     // as in Compressibility
};

// Returns the values of a call as the sampler takes them. `rank`: rank of this process. `in_flight`: the call
// is nonblocking or persistent.
SampledCall sampled_call(const CollectiveCall& call, int rank, bool in_flight, bool in_place) noexcept;

// Returns true if a history serves calls of this kind, where a bound lets sums go by frames.
bool may_refer(const Call& call) noexcept;

// Pieces of consecutive calls of one stream, as many as a history would keep. The sampler compares the next
// call of the stream with them.
class FollowedStream {
 public:
  static constexpr std::size_t most_bytes = std::size_t{4} << 20;  // of all pieces in this process
  // Number of calls of the kind in other streams after which the sampler drops the stream as ended.
  static constexpr std::size_t most_other_calls = 256;

  // Reserves memory for the pieces of `depth` calls. Throws std::bad_alloc beyond `most_bytes`.
  FollowedStream(const CallKey& kind, const SampledCall& call, std::size_t depth);
  ~FollowedStream();
  FollowedStream(const FollowedStream&) = delete;
  FollowedStream& operator=(const FollowedStream&) = delete;

  const CallKey kind;
  const std::uint64_t stream;
  const std::size_t depth;
  EarlierPieces pieces;
  std::size_t other_calls = 0;  // number of calls of the kind in other streams so far

 private:
  const std::size_t reserved_;
};

// Counts and times of the samples of several samplers, which share a budget. `Sampler` has one of the
// process.
struct SampleCosts {
  std::atomic<std::uint64_t> begin{0};        // time of the first sample; 0: there was none
  std::atomic<std::uint64_t> nanoseconds{0};  // time that samples have taken
  std::atomic<std::uint64_t> samples{0};
  std::atomic<std::uint64_t> exempt{0};  // number of first samples that were asked for
};

// Samples the 1st, 2nd, 4th, 8th ... call of a kind, or a call soon after, so that all samples of this
// process take at most 1 % of the time since the first one. First samples of a kind are exempt: those of the
// first `exempt_kinds` kinds however long others have lasted, for example where the rank has lost its core,
// and those of other kinds until all samples have taken `exempt_ns`. After a sample, the stream of the call
// is followed: pieces of its calls are kept until there are as many as a history keeps, and the next call is
// compared with them. For one thread at a time.
class Sampler {
 public:
  static constexpr std::size_t least_bytes = 4096;  // size of a message that is sampled
  static constexpr std::uint64_t exempt_kinds = 16, exempt_ns = 10'000'000;
  static constexpr std::uint64_t time_divisor = 100;  // samples may take 1/100 of the time
  static constexpr std::size_t range_pieces = 32;  // pieces of Pieces::max_values values that give the range

  using Clock = std::uint64_t (*)();  // nanoseconds

  // `extra_ns`: nanoseconds, by `clock`, that all samples may take beyond their share.
  explicit Sampler(std::string kernels, std::uint64_t extra_ns = 0, Clock clock = clock_now,
                   SampleCosts& costs = costs_of_process())
      : kernels_(std::move(kernels)), extra_ns_(extra_ns), clock_(clock), costs_(costs) {}

  // Returns true if the next call of this kind is to be sampled, or may belong to a stream that is followed.
  static bool is_due(const CallRow& row) noexcept {
    return row.call().coded() && (row.followed || row.sum.calls + 1 >= row.next_sample);
  }

  // Samples the values of a call if it is due. Called before the call is counted in `row`, the row of its
  // kind.
  void look(CallRow& row, const SampledCall& call) noexcept;

  // Returns the range of a sample of the values.
  static ValueRange sampled_range(ConstSlice values) noexcept;

 private:
  void sample(CallRow& row, const SampledCall& call);
  void sample(ConstSlice values, Bound bound, Compressibility::Sum& sum);
  std::vector<Coding> candidates_of(DType type, Bound bound) const;

  void begin_to_follow(CallRow& row, const SampledCall& call);
  void follow(CallRow& row, const SampledCall& call);
  Repetition compare(const SampledCall& call, FollowedStream& stream, bool addends);
  Repetition::Sum compare(ConstSlice piece, References references, Bound bound);
  std::unique_ptr<Codec> referring_codec(DType type, Bound bound, bool chooses) const;

  static SampleCosts& costs_of_process() noexcept;
  bool may_spend(bool first_of_kind) noexcept;
  template <class Work>
  void measured(Work work) noexcept;

  std::string kernels_;
  std::uint64_t extra_ns_;
  Clock clock_;
  SampleCosts& costs_;
  HostPlace place_;
  std::list<FollowedStream> followed_;  // at most one for each kind of call
};

}  // namespace taut
