// What is kept of one call while it runs, and where it goes at the end.
#pragma once

#include "comm/statistics.hpp"

namespace taut {

struct Verdict;

// Who is told of a communicator's calls.
struct Observer {
  CallTable* table = nullptr;    // null: one of the communicator's own
  Recorder* recorder = nullptr;  // null: no events
};

class CallRecord {
 public:
  // Counts the call.
  CallRecord(const Observer& observer, const Call& call) noexcept;
  CallRecord(const CallRecord&) = delete;
  ~CallRecord();

  // Time counts from here, unless the call is left to plain MPI at once.
  void begin() noexcept { began_ = clock_now(); }
  // The ranks have agreed, in one or two rounds.
  void agreed(int rounds, int ranks, float expected_ratio) noexcept;
  // Samples showed packed integers.
  void saw_packed() noexcept { ++row().sum.packed_calls; }
  // The call is to be compressed.
  void decided(const Plan& plan, const Candidate& candidate) noexcept;
  void end(const Verdict& verdict) noexcept;

  bool compressed() const noexcept { return compressed_; }  // decided() was called
  bool has_agreed() const noexcept { return counters_.times[Phase::agree] > 0; }
  CallCounters& counters() noexcept { return counters_; }

 private:
  CallRow& row() noexcept { return observer_.table->row(key_); }
  void add_traffic(Statistics& sum) const noexcept;
  PhaseTimes split() noexcept;

  Observer observer_;
  CallKey key_;
  std::size_t bytes_;
  CallCounters counters_;
  std::uint64_t began_ = 0;
  bool compressed_ = false;
};

}  // namespace taut
