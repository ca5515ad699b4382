// Record of one call while it runs. Its results go to the statistics at the end.
#pragma once

#include "communication/comm/statistics.hpp"

namespace taut {

struct Verdict;

// Observer: the table and the recorder that a communicator reports its calls to.
struct Observer {
  CallTable* table = nullptr;    // null: the communicator uses a table of its own
  Recorder* recorder = nullptr;  // null: no events
};

class CallRecord {
 public:
  // Counts the call in the table, and starts the clock.
  CallRecord(const Observer& observer, const Call& call) noexcept;
  CallRecord(const CallRecord&) = delete;
  ~CallRecord();

  // Records that the ranks have agreed, in `rounds` rounds.
  void agreed(int rounds, int ranks, float expected_ratio) noexcept;
  // Records that samples showed packed integers.
  void saw_packed() noexcept { ++row().sum.packed_calls; }
  // Records that frames of this rank refer to earlier calls.
  void refers() noexcept { ++row().sum.referring_calls; }
  // Records that the call is compressed, and how.
  void decided(const Plan& plan, const Coding& candidate) noexcept;
  void end(const Verdict& verdict) noexcept;

  bool compressed() const noexcept { return compressed_; }  // decided() was called
  bool has_agreed() const noexcept { return counters_.times[Phase::agree] > 0; }
  CallCounters& counters() noexcept { return counters_; }
  std::size_t bytes() const noexcept { return bytes_; }  // as this rank knew them at the start

 private:
  CallRow& row() noexcept { return observer_.table->row(key_); }
  void add_traffic(Statistics& sum) const noexcept;
  PhaseTimes split() noexcept;

  Observer observer_;
  CallKey key_;
  std::size_t bytes_;
  CallCounters counters_;
  std::uint64_t began_ = clock_now();
  bool compressed_ = false;
};

}  // namespace taut
