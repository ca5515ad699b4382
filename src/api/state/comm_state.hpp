// What hangs on a user's communicator: its policy, or rules, and what is needed to serve it.
#pragma once

#include <mpi.h>

#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "api/args/group.hpp"
#include "api/args/mpi_call.hpp"
#include "api/messages/messages.hpp"
#include "api/state/finalize_reports.hpp"
#include "comm/in_flight.hpp"
#include "comm/sampler.hpp"
#include "policy/text/options.hpp"
#include "transports/mpi.hpp"

namespace taut::api {

// One thread at a time may use it; beside that one, others may drive its calls in flight.
class CommState : public std::enable_shared_from_this<CommState> {
 public:
  // Nothing collective happens here; the private communicator follows with connect().
  // A policy, or rules on this communicator. `mark`: that of its messages.
  CommState(Rules rules, bool enabled, bool inter, Group group, std::uint64_t mark = 0);
  CommState(const CommState& other,
            std::shared_ptr<const bool> freed);  // for a duplicate of the communicator
  ~CommState();
  CommState& operator=(const CommState&) = delete;

  // Reads the communicator's name, for reports.
  void name_after(MPI_Comm comm) noexcept;

  // Makes the private communicator unless it is there or not needed. Collective over `comm`.
  void connect(MPI_Comm comm);

  // Whether it is connected, or never will be.
  bool connected() const noexcept { return communicator_ != nullptr || !usable(); }

  // One with a private communicator that nobody else uses: for a persistent request, whose starts keep no
  // order with other calls. It is used again once all ranks have let go of it. Collective over `comm`.
  std::shared_ptr<CommState> spare(MPI_Comm comm);

  // Whether a call is plain MPI's at every start, whatever ranks learn. Local, the same on all ranks.
  bool always_plain(const std::optional<CollectiveCall>& request) const noexcept {
    return !request || (request->bytes_known && request->bytes < rules_.least_bytes());
  }

  // Why a call is for plain MPI without further ado, if it is; no request: the call is none that is
  // compressed. `as_called`: of a call that repeated_fallback() may know again. Local.
  Fallback early_fallback(const std::optional<CollectiveCall>& request,
                          const MpiCall& as_called = {}) noexcept;

  // Whether a call is like the last one, which was plain at once and will be so again. Then it is counted,
  // and plain too; run_again() makes it. Looks at no datatype.
  bool repeated_fallback(const MpiCall& call) noexcept;

  template <class Call>
  int run_again(Call call) {
    if (!times_again()) return call();
    const std::uint64_t begin = clock_now();
    const int code = call();
    ran_again(clock_now() - begin);
    return code;
  }

  // Serves a call, or says why not. Collective over `comm`.
  Verdict run(MPI_Comm comm, const CollectiveCall& request);

  // Makes `call` and starts it. Collective over `comm`.
  void start(MPI_Comm comm, const CollectiveCall& request, FallbackCall& plain,
             std::optional<CallInFlight>& call);

  // A step of all calls in flight here, unless another thread is at it.
  void progress() noexcept;
  bool has_calls_of(std::thread::id thread) const noexcept { return open_ > 0 && user_ == thread; }

  // Runs `call`, which is plain MPI's for that reason, and takes its time where that does not show.
  template <class Call>
  int run_plain(const std::optional<CollectiveCall>& request, Fallback why, Call call) {
    const bool counts = compares(why) || observed_closely_;
    if (!request || !(counts || request->bytes >= rules_.least_bytes())) return call();
    const CallTag tag = recorder() != nullptr ? recorder()->open(request->kind()) : CallTag{};
    const std::uint64_t begin = clock_now();
    const int code = call();
    ran_plain(*request, why, begin, tag);
    return code;
  }

  // Those of this communicator; null: they are plain MPI's, for this reason.
  Messages* messages() noexcept { return messages_ ? &*messages_ : nullptr; }
  Fallback fallback_reason() const noexcept {
    return enabled_ && inherited() && !rules_.off() ? Fallback::communicator : Fallback::off;
  }
  const Policy& policy() const noexcept { return *rules_.only(); }  // where there are messages()

  // Whether any call may be compressed; the same on every rank.
  bool usable() const noexcept { return enabled_ && !inter_ && group_.size > 1 && !rules_.off(); }

  // Whether duplicates of the communicator are served alike: those without a policy ask for rules themselves.
  bool inherited() const noexcept { return rules_.only() != nullptr; }

  // Whether a message of so many bytes is timed.
  bool times(std::size_t bytes) const noexcept { return observed_closely_ || bytes >= rules_.least_bytes(); }

  // `change` changes what is counted while nobody else does.
  template <class Change>
  void account(Change change) noexcept {
    const auto lock = stop_driving();
    change(observed_->calls);
  }

  const Group& group() const noexcept { return group_; }
  MPI_Comm private_communicator() const noexcept { return transport_->communicator(); }

  // `look` sees the calls while nobody else changes them.
  template <class Look>
  auto observed(Look look) const {
    const auto lock = stop_driving();
    return look(*observed_);
  }
  void disconnect() noexcept;  // frees all that belongs to MPI

  // Whether the user has freed the communicator; requests may still hold this.
  bool freed() const noexcept { return *freed_; }
  void belong_to(std::shared_ptr<const bool> freed) noexcept { freed_ = std::move(freed); }

 private:
  void begin(MPI_Comm comm);
  void drive() noexcept;
  void count_calls() noexcept;
  std::unique_lock<std::mutex> stop_driving() const;
  void count_plain(const std::optional<CollectiveCall>& request, Fallback why) noexcept;
  void remember(const MpiCall& as_called, const CollectiveCall& request, Fallback why) noexcept;
  bool times_again() noexcept;
  void ran_again(std::uint64_t nanoseconds) noexcept;
  void add_plain_time(const CallKey& key, std::uint64_t nanoseconds) noexcept;
  void sample(const CollectiveCall& request) noexcept;
  // Whether the time of a call that is plain for that reason is to be compared with those of frames.
  static bool compares(Fallback why) noexcept {
    return why == Fallback::slower || why == Fallback::trial || why == Fallback::no_gain;
  }
  void ran_plain(const CollectiveCall& request, Fallback why, std::uint64_t begin,
                 const CallTag& tag) noexcept;

  Rules rules_;
  bool enabled_, inter_, begun_ = false;
  Group group_;
  std::uint64_t mark_;
  std::shared_ptr<const bool> freed_;     // true once the communicator is
  std::unique_ptr<CommReport> observed_;  // the calls, those too that do not reach the communicator below
  bool observed_closely_ = options().observe();
  bool samples_ = !options().report.empty();
  Sampler sampler_{options().kernels};
  struct {
    MpiCall call;
    CallKey key{};
    std::size_t bytes = 0;
    Fallback why = Fallback::none;
    bool backs_off = false;         // what its kind has shown is why: as long as no other call comes between
    std::uint32_t calls = 0;        // since then that rested
    std::uint64_t nanoseconds = 0;  // the last one that was timed
  } again_;                         // the last call that was plain at once, and will be so again
  std::vector<std::shared_ptr<CommState>> spares_;  // the same number on all ranks
  std::optional<Messages> messages_;
  HostPlace place_;
  std::unique_ptr<MpiTransport> transport_;
  std::unique_ptr<Communicator> communicator_;
  mutable std::mutex driving_;  // held by who uses the communicator or its calls in flight
  InFlight in_flight_;
  std::atomic<std::size_t> open_{0};   // calls in flight
  std::atomic<std::thread::id> user_;  // who started the last of them
};

}  // namespace taut::api
