// Counters and samples of the calls on a communicator, and a copy of them for a thread that makes no calls.
#pragma once

#include <mpi.h>

#include "communication/api/state/calls_in_flight.hpp"
#include "communication/comm/process_report.hpp"
#include "communication/comm/sampler.hpp"
#include "compressor/base/options.hpp"

namespace taut::api {

class ObservedCalls {
 public:
  explicit ObservedCalls(CommReport empty) : report_(std::make_unique<CommReport>(std::move(empty))) {}
  ~ObservedCalls() { keep(std::move(report_)); }

  CallsInFlight& flights() noexcept { return flights_; }
  const CallsInFlight& flights() const noexcept { return flights_; }

  // Lets `change` update the counters while no other thread does.
  template <class Change>
  void account(Change change) noexcept {
    const auto lock = stop_others();
    change(report_->calls);
  }

  // Lets `look` read the counters while no other thread changes them.
  template <class Look>
  auto observed(Look look) const {
    const auto lock = stop_others();
    return look(*report_);
  }

  // Stops other threads from driving and counting the calls in flight. Without calls in flight no other
  // thread counts, because only this thread can start one; if a report is asked for, another thread may read.
  std::unique_lock<std::mutex> stop_others() const {
    std::unique_lock lock(flights_.any() ? flights_.driving() : counting_, std::defer_lock);
    if (flights_.any() || samples_) lock.lock();
    return lock;
  }

  // The counters; the caller has stopped others.
  CallTable& calls() noexcept { return report_->calls; }
  // Returns true if the values of calls are sampled.
  bool samples() const noexcept { return samples_; }

  // Sets the communicator's name and, if a report is asked for, its ranks.
  void read_identity(MPI_Comm comm) noexcept;

  // Samples the values of a call, unless they are still to be gathered: a block of such values has no
  // address. `in_flight`: the call is nonblocking or persistent. `in_place`: as in Compressibility.
  void sample(const CollectiveCall& request, int rank, bool in_flight, bool in_place) noexcept;

  // Counts a call that plain MPI serves.
  void count_plain(const std::optional<CollectiveCall>& request, Fallback why) noexcept;
  // Adds the time of a plain call to the sums of its kind. The caller has stopped others.
  void add_plain_time(const CallKey& key, std::uint64_t nanoseconds) noexcept;
  // Adds the time of the last call that was counted under the key, and keeps it if a report is asked for. The
  // caller has stopped others.
  void add_timed_call(const CallKey& key, std::uint64_t begin, std::uint64_t end) noexcept;

  // Copies the counters, once in each round. Returns false if a call is using them: that call makes the copy
  // when it ends, by copy_if_wanted().
  bool copy_report(unsigned round) noexcept;
  void copy_if_wanted() noexcept;
  CommReport copied_report() const;  // the last copy; throws std::bad_alloc

 private:
  std::unique_ptr<CommReport> report_;
  bool samples_ = !options().report.empty();
  Sampler sampler_{options().kernels};
  std::uint64_t last_end_ = 0;  // of the last timed plain call, by the clock; 0: none
  mutable CallsInFlight flights_;
  mutable std::mutex counting_;  // held by a thread that counts outside calls in flight, if a report is asked
  CommReport copied_{};          // last copy of report_; read and written under counting_
  std::atomic<unsigned> wanted_round_{0}, copied_round_{0};  // of copies
};

}  // namespace taut::api
