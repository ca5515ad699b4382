// State of a user's communicator: its policy or rules, and the objects that serve it.
#pragma once

#include <mpi.h>

#include "communication/api/messages/comm_endpoint.hpp"
#include "communication/api/state/agreed_rules.hpp"
#include "communication/api/state/finalize_reports.hpp"
#include "communication/api/state/observed_calls.hpp"
#include "communication/comm/tuner.hpp"
#include "communication/mpi/mpi_call.hpp"
#include "communication/mpi/topology.hpp"
#include "communication/transports/mpi.hpp"

namespace taut::api {

// Cache of the last call that fell back early, if calls like it fall back again: the shortest path of a call.
class RepeatedCall {
 public:
  RepeatedCall(const AgreedRules& rules, ObservedCalls& observed) noexcept
      : rank_(rules.group().rank), by_site_(rules.counts_by_site()), rules_(rules), observed_(observed) {}

  // Returns true if a call is like the last one, which fell back early, and falls back again. The call is
  // then counted. Inspects no datatype.
  inline bool is_like(const MpiCall& call) noexcept;
  // Makes the plain call after is_like().
  inline int serve(const MpiCall& call);

  // Remembers a call that fell back early.
  void remember(const MpiCall& call, const CollectiveCall& request, const EarlyDecision& early) noexcept;
  // Forgets a call in back-off: another call comes.
  void end_back_off() noexcept {
    if (last_.autotuner != nullptr) forget();
  }
  void forget() noexcept { last_ = {}; }
  // Notes the time of a plain call, which stands for those after it.
  void note_time(std::uint64_t nanoseconds) noexcept { last_.nanoseconds = nanoseconds; }

 private:
  struct Last {
    MpiCall call;
    CallKey key{};
    std::size_t bytes = 0;
    Fallback why = Fallback::none;
    Autotuner* autotuner = nullptr;  // in back-off; valid until another call comes. Null: the call is small
    std::uint32_t calls = 0;         // repeated calls in back-off since then
    std::uint64_t nanoseconds = 0;   // time of the last timed call
  } last_;
  int rank_;
  bool by_site_;
  const AgreedRules& rules_;
  ObservedCalls& observed_;
};

class CheckedCall;
class CommState;

// States of the persistent requests of a communicator. Every rank keeps the same number of states, in the
// same order. A state that all ranks have released serves a later request.
class RequestStates {
 public:
  // Returns a state that no rank uses; null if there is none. Collective over `comm`.
  std::shared_ptr<CommState> unused(MPI_Comm comm) const;
  void add(std::shared_ptr<CommState> state) { all_.push_back(std::move(state)); }

 private:
  std::vector<std::shared_ptr<CommState>> all_;
};

// State of a communicator of the program. One thread at a time may use the state; other threads may advance
// its calls in flight meanwhile.
class CommState final : public std::enable_shared_from_this<CommState>,
                        public AgreedRules,
                        public ObservedCalls {
 public:
  // Not collective; connect() creates the private communicator. `mark`: first word of coded messages.
  // `segments`: communicator of the segments of long messages.
  explicit CommState(AgreedRules rules, std::uint64_t mark = 0,
                     std::shared_ptr<p2p::SegmentComm> segments = nullptr);
  CommState(const CommState& other,
            std::shared_ptr<const bool> freed);  // for a duplicate of the communicator
  ~CommState();
  CommState& operator=(const CommState&) = delete;

  // Describes a blocking call on the user's communicator, or another call, as api::describe() does.
  std::optional<CollectiveCall> describe(const MpiCall& call, bool blocking);

  // Returns the topology of the communicator of a call, null if it has none. MPI is asked once.
  const Topology* topology(const MpiCall& call, bool blocking);

  // Returns the topology for a nonblocking call; null if the call is no neighbourhood collective.
  const Topology* topology_for(const MpiCall& call) {
    return of_neighbours(call.info().collective) ? topology(call, false) : nullptr;
  }

  // Creates the private communicator unless it exists or is not needed. Collective over `comm`.
  void connect(MPI_Comm comm);
  void disconnect() noexcept;  // frees all MPI objects

  // Returns true if the private communicator exists or is not needed.
  bool connected() const noexcept { return communicator_ != nullptr || !may_compress(); }
  MPI_Comm private_communicator() const noexcept { return transport_->communicator(); }

  // Returns the state of one persistent request, with a private communicator that no other request uses,
  // since starts of the request have no order relative to other calls. Collective over `comm`.
  std::shared_ptr<CommState> state_for_request(MPI_Comm comm);

  // Serves a blocking call compressed, or by plain MPI. Returns an MPI error code, already passed to the
  // error handler. Throws.
  int serve(const MpiCall& call);

  // Decides on a call, and counts it if it falls back early. `overlaps`: other calls may be in flight on the
  // private communicator. Collective over `comm`.
  EarlyDecision decide(MPI_Comm comm, const std::optional<CollectiveCall>& request, bool overlaps);

  // Creates `call` and starts it. `early`: its decision, which is not to fall back. Collective over the
  // communicator.
  void start(const CollectiveCall& request, const EarlyDecision& early, FallbackCall& plain,
             std::optional<CallInFlight>& call) {
    flights().start(call, *communicator_, request, plain, early);
  }

  // Returns the check of a call that is due for one (TAUT_CHECK), null for all others. To be asked once for
  // each call that Taut may serve, on all ranks.
  std::unique_ptr<CheckedCall> check_of(const MpiCall& call, const CollectiveCall& described, bool blocking);

  // Compares the results of a checked call that Taut has served, and counts the check.
  void count_check(CheckedCall& checked, const CallKey& key, const Promise& promise);

  // Returns the messages of this communicator. Null if plain MPI serves them; fallback_reason() then says
  // why.
  CommEndpoint* messages() noexcept { return messages_ ? &*messages_ : nullptr; }

  // Sets the stream of later calls whose values are on a GPU.
  void set_stream(void* stream) noexcept;

  // Returns true if the user has freed the communicator. Requests may still use this state. The flag is that
  // of the communicator's record.
  bool freed() const noexcept { return *freed_; }
  void set_freed_flag(std::shared_ptr<const bool> freed) noexcept { freed_ = std::move(freed); }

 private:
  int serve_at_site(const MpiCall& call);
  int check(CheckedCall& checked, const CallKey& key, const Verdict& verdict);
  Verdict run(const CollectiveCall& request, const EarlyDecision& early);
  int fall_back(const MpiCall& call, const std::optional<CollectiveCall>& request, const Verdict& verdict);

  bool identified_ = false;           // read_identity() was called
  std::uint64_t may_be_checked_ = 0;  // calls for which check_of() was asked
  std::uint64_t mark_;
  std::shared_ptr<p2p::SegmentComm> segments_;  // shared with duplicates
  std::shared_ptr<const bool> freed_;           // true after the communicator is freed
  RepeatedCall repeated_{*this, *this};
  RequestStates request_states_;
  std::optional<std::shared_ptr<const Topology>> topology_[2];  // [by_direction]; empty: not asked for yet
  std::optional<CommEndpoint> messages_;
  HostPlace place_;
  void* stream_ = nullptr;  // of calls whose values are on a GPU
  std::unique_ptr<MpiTransport> transport_;
  std::unique_ptr<Communicator> communicator_;
};

// Serves a blocking call of taut.h. Returns an MPI error code, raised on the communicator. The functions of
// taut.h are not inlined: their return address, `call.site`, is the call site in the program.
int serve(const MpiCall& call);

}  // namespace taut::api
