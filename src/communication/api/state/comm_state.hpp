// State of a user's communicator: its policy or rules, and the objects that serve it.
#pragma once

#include <mpi.h>

#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "communication/api/messages/comm_endpoint.hpp"
#include "communication/api/state/finalize_reports.hpp"
#include "communication/comm/in_flight.hpp"
#include "communication/comm/sampler.hpp"
#include "communication/mpi/mpi_call.hpp"
#include "communication/mpi/rank_and_size.hpp"
#include "communication/mpi/topology.hpp"
#include "communication/transports/mpi.hpp"
#include "compressor/base/options.hpp"

namespace taut::api {

// State of a communicator. One thread at a time may use it; other threads may drive its calls in flight
// meanwhile.
class CommState : public std::enable_shared_from_this<CommState> {
 public:
  // Creates the state for a policy, or for the rules on this communicator. Not collective; connect() creates
  // the private communicator. `mark`: first word of coded messages. `segments`: communicator of the segments
  // of long messages.
  CommState(Rules rules, bool enabled, bool inter, RankAndSize group, std::uint64_t mark = 0,
            std::shared_ptr<p2p::SegmentComm> segments = nullptr);
  CommState(const CommState& other,
            std::shared_ptr<const bool> freed);  // for a duplicate of the communicator
  ~CommState();
  CommState& operator=(const CommState&) = delete;

  // Reads the communicator's name and, if a report is asked for, its ranks.
  void read_identity(MPI_Comm comm) noexcept;

  // Describes a blocking call on the user's communicator, or another call, as api::describe() does.
  std::optional<CollectiveCall> describe(const MpiCall& call, bool blocking);

  // Returns the topology of the communicator of a call, null if it has none. MPI is asked once.
  const Topology* topology(const MpiCall& call, bool blocking);

  // Returns the same for a call that does not block; null for calls that use no topology.
  const Topology* topology_for(const MpiCall& call) {
    return of_neighbours(call.info().collective) ? topology(call, false) : nullptr;
  }

  // Creates the private communicator unless it exists or is not needed. Collective over `comm`.
  void connect(MPI_Comm comm);

  // Returns true if the private communicator exists or is not needed.
  bool connected() const noexcept { return communicator_ != nullptr || !usable(); }

  // Returns the state of one persistent request, with a private communicator that no other request uses,
  // since starts of the request have no order relative to other calls. A state that all ranks have released
  // is used again. Collective over `comm`.
  std::shared_ptr<CommState> state_for_request(MPI_Comm comm);

  // Returns true if a call falls back early whatever the ranks measure. Local, and the same on all ranks.
  bool never_serves(const std::optional<CollectiveCall>& request) const noexcept {
    return !request || (request->bytes_known && request->bytes < rules_.least_bytes());
  }

  // Serves a blocking call compressed, or by plain MPI. Returns an MPI error code, already raised. Throws.
  int serve(const MpiCall& call) { return names_sites_ ? serve_at_site(placed(call)) : serve_at_site(call); }

  // Returns the call with its call site in the program, if a report or a rule names call sites. Called while
  // the program's call is on the stack.
  MpiCall placed(const MpiCall& call) const noexcept;
  const void* placed(const void* return_address) const noexcept;

  // Decides on a call, and counts it if it falls back early. `overlaps`: other calls may be in flight on the
  // private communicator. Without a request, the call is not one that Taut compresses. Collective over
  // `comm`.
  EarlyDecision decide(MPI_Comm comm, const std::optional<CollectiveCall>& request, bool overlaps);

  // Creates `call` by this decision, which is no fallback, and starts it. Collective over the communicator.
  void start(const CollectiveCall& request, const EarlyDecision& early, FallbackCall& plain,
             std::optional<CallInFlight>& call);

  // Starts a call that is left to plain MPI. The arguments are those of CallInFlight.
  void start_plain(FallbackCall& plain, Fallback why, gpu::StreamPoint& begins, bool in_turn,
                   std::optional<CallInFlight>& call);

  // Advances all calls in flight of this state by one step, unless another thread is doing so.
  void progress() noexcept;
  bool has_calls_of(std::thread::id thread) const noexcept { return open_ > 0 && user_ == thread; }

  // Returns the messages of this communicator. Null if plain MPI serves them; fallback_reason() then says
  // why.
  Messages* messages() noexcept { return messages_ ? &*messages_ : nullptr; }
  Fallback fallback_reason() const noexcept {
    return enabled_ && inherited() && !rules_.off() ? Fallback::communicator : Fallback::off;
  }
  const Policy& policy() const noexcept { return *rules_.only(); }  // valid if there are messages()

  // Sets the stream of later calls whose values are on a GPU.
  void set_stream(void* stream) noexcept;

  // Returns true if any call may be compressed; the same on every rank.
  bool usable() const noexcept { return enabled_ && !inter_ && group_.size > 1 && !rules_.off(); }

  // Returns true if duplicates of the communicator inherit this state. Without a policy, a duplicate binds
  // the rules itself.
  bool inherited() const noexcept { return rules_.only() != nullptr; }

  // Returns true if a message of this size is timed.
  bool is_timed(std::size_t bytes) const noexcept {
    return observed_closely_ || bytes >= rules_.least_bytes();
  }

  // Lets `change` update the counters while no other thread does.
  template <class Change>
  void account(Change change) noexcept {
    const auto lock = stop_driving();
    change(observed_->calls);
  }

  const RankAndSize& group() const noexcept { return group_; }
  MPI_Comm private_communicator() const noexcept { return transport_->communicator(); }

  // Lets `look` read the counters while no other thread changes them.
  template <class Look>
  auto observed(Look look) const {
    const auto lock = stop_driving();
    return look(*observed_);
  }
  // Copies the counters for a thread that makes no calls, once in each round. Returns false if a call is
  // using them: that call makes the copy when it ends.
  bool copy_report(unsigned round) noexcept;
  CommReport copied_report() const;  // the last copy; throws std::bad_alloc

  void disconnect() noexcept;  // frees all MPI objects

  // Returns true if the user has freed the communicator. Requests may still use this state. The flag is that
  // of the communicator's record.
  bool freed() const noexcept { return *freed_; }
  void set_freed_flag(std::shared_ptr<const bool> freed) noexcept { freed_ = std::move(freed); }

 private:
  int serve_at_site(const MpiCall& call);
  void begin(MPI_Comm comm);
  Verdict run(const CollectiveCall& request, const EarlyDecision& early);
  void put_in_flight(CallInFlight& call);
  void drive() noexcept;
  void count_calls() noexcept;
  std::unique_lock<std::mutex> stop_driving() const;
  void copy_counters() noexcept;
  bool is_repeated(const MpiCall& call) noexcept;
  void remember(const MpiCall& call, const CollectiveCall& request, const EarlyDecision& early) noexcept;
  int fall_back_again(const MpiCall& call);
  int fall_back(const MpiCall& call, const std::optional<CollectiveCall>& request, const Verdict& verdict);
  void count_plain(const std::optional<CollectiveCall>& request, Fallback why) noexcept;
  void add_plain_time(const CallKey& key, std::uint64_t nanoseconds) noexcept;
  void add_timed_call(const CallKey& key, std::uint64_t begin, std::uint64_t end) noexcept;
  void sample(const CollectiveCall& request) noexcept;

  Rules rules_;
  bool enabled_, inter_, begun_ = false;
  RankAndSize group_;
  std::uint64_t mark_;
  std::shared_ptr<p2p::SegmentComm> segments_;  // shared with duplicates
  std::shared_ptr<const bool> freed_;           // true after the communicator is freed
  std::unique_ptr<CommReport> observed_;        // statistics, also of calls that do not reach communicator_
  bool observed_closely_ = options().observe();
  bool samples_ = !options().report.empty();
  bool names_sites_ = samples_ || rules_.need_callsites();
  bool keeps_sites_ = names_sites_ || inherited();  // rules alone count calls of all sites together
  Sampler sampler_{options().kernels};
  // Cache of the last call that fell back early, if calls like it fall back again: the shortest path.
  struct Repeated {
    MpiCall call;
    CallKey key{};
    std::size_t bytes = 0;
    Fallback why = Fallback::none;
    Autotuner* autotuner = nullptr;  // in back-off; valid until another call comes. Null: the call is small
    std::uint32_t calls = 0;         // repeated calls in back-off since then
    std::uint64_t nanoseconds = 0;   // time of the last timed call
  } repeated_;
  std::uint64_t last_end_ = 0;  // of the last timed plain call, by the clock; 0: none
  std::vector<std::shared_ptr<CommState>> request_states_;  // of persistent requests; as many on all ranks
  std::optional<std::shared_ptr<const Topology>> topology_[2];  // [by_direction]; empty: not asked for yet
  std::optional<Messages> messages_;
  HostPlace place_;
  void* stream_ = nullptr;  // of calls whose values are on a GPU
  std::unique_ptr<MpiTransport> transport_;
  std::unique_ptr<Communicator> communicator_;
  mutable std::mutex driving_;  // held by the thread that uses communicator_ or in_flight_
  mutable std::mutex
      counting_;         // held by the thread that counts outside calls in flight, if a report is asked
  CommReport copied_{};  // last copy of observed_; read and written under counting_
  std::atomic<unsigned> wanted_round_{0}, copied_round_{0};  // of copies
  InFlight in_flight_;
  std::atomic<std::size_t> open_{0};   // number of calls in flight
  std::atomic<std::thread::id> user_;  // thread that started the last call in flight
};

// Serves a blocking call of taut.h. Returns an MPI error code, raised on the communicator. The functions of
// taut.h are not inlined: their return address, `call.site`, is the call site in the program.
int serve(const MpiCall& call);

}  // namespace taut::api
