// Communicator: Taut's facade on top of a user's communicator. It combines policy, codecs, algorithms and
// transport.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "comm/agree.hpp"
#include "comm/call_record.hpp"
#include "comm/collective_call.hpp"
#include "comm/policy_state.hpp"
#include "core/nodes.hpp"

namespace taut {

// Verdict: the outcome of a call, either served (with a status) or left to plain MPI, for the same reason on
// every rank. A call that is left to plain MPI has not changed the user's memory.
struct Verdict {
  Fallback plain = Fallback::none;
  Status status = Status::ok;
};

class Communicator {
 public:
  // `rules`: a policy, or the rules for this communicator, the same on every rank. Throws Error if they
  // cannot be served here. `place`: provides scratch memory. `nodes`: nodes of the ranks.
  Communicator(Transport& transport, Place& place, Rules rules, const std::string& kernels = "",
               Observer observer = {}, Nodes nodes = {});
  Communicator(const Communicator&) = delete;

  const CallTable& calls() const noexcept { return *observer_.table; }

  // Returns the reason if the call falls back to plain MPI without an agreement, else Fallback::none. Every
  // rank must ask once for each call, in the order of the calls. Local: no communication.
  Fallback early_fallback(const CollectiveCall& call) noexcept;

  // Replaces early_fallback() for a call like the last one, if the autotuner left that one to plain MPI.
  // Fallback::none: the call does not fall back for this reason, and early_fallback() must be asked.
  Fallback repeated_fallback() noexcept {
    return backing_off_ != nullptr ? backing_off_->next() : Fallback::none;
  }
  bool backs_off() const noexcept { return backing_off_ != nullptr; }

  // Runs a call without an early fallback. Every rank of the transport must start an equivalent call. Several
  // calls may be in flight: they are told apart by the order in which they are first advanced, the same on
  // every rank. `served` is for calls that may overlap others: it becomes true once the ranks have agreed not
  // to leave the call to plain MPI.
  Task<Verdict> start(CollectiveCall call, bool* served = nullptr);

  // Runs early_fallback() and start(), for one call at a time.
  Task<Verdict> run(CollectiveCall call);

  // Records the time of the last call that was left to plain MPI. Every rank must record the same calls: all
  // those for which needs_time() is true.
  void note_plain(std::size_t bytes, std::uint64_t nanoseconds) noexcept;
  bool needs_time() const noexcept { return last_ != nullptr && last_->needs_time(); }

 private:
  // Resources that a call owns until it completes, independent of other calls: memory, and a codec for each
  // candidate.
  struct CallResources {
    std::array<Buffer, 2> staged;
    bool gathered = false;
    bool packed = false;  // integers are packed into the values
    Reserve place;
    std::array<std::shared_ptr<const Codec>, max_candidates> codecs;
  };
  class Lanes;
  static constexpr std::size_t calls_at_a_time = 128;

  struct TuningSession;
  Autotuner& autotuner(PolicyState& policy_state, const CollectiveCall& call) const noexcept {
    return policy_state.autotuners.of(call, call.bytes_known ? call.bytes : 0);
  }
  TuningSession session(PolicyState& policy_state, const CollectiveCall& call, bool adds) noexcept;
  Task<Verdict> find_rule(CollectiveCall& call, Lane lane, std::optional<TuningSession>& session, bool adds);
  Task<Verdict> serve(CollectiveCall& call, CallRecord& record, std::optional<TuningSession>& session,
                      bool* served);
  void complete(CollectiveCall& call) noexcept;
  std::size_t block_values(const CollectiveCall& call, const Plan& plan) const noexcept;
  std::uint64_t signature(const CollectiveCall& call) const noexcept;
  AgreementRecord local_record(const CollectiveCall& call, const Policy* policy) noexcept;
  void gather(CollectiveCall& call, CallResources& resources, Status& failure) const noexcept;
  AgreementRecord complete_record(CollectiveCall& call, Bound bound, Plan& plan, CallResources& resources,
                                  TuningSession& session, Status& failure);
  void prepare(const CollectiveCall& call, const Plan& plan, CodecCache& codecs, CallResources& resources);
  void look_for_packed(const CollectiveCall& call, const Policy& policy, CallResources& resources,
                       AgreementRecord& mine) const noexcept;
  float estimate_ratio(const CollectiveCall& call, const Codec& coder, Place& place);
  Verdict conclude(const CollectiveCall& call, const AgreementRecord& agreed, const Plan& plan,
                   std::size_t chosen, Status failure) const noexcept;

  Transport& transport_;
  Place& place_;
  PolicyTable policies_;
  Nodes nodes_;
  // Autotuners of the last call's kind. last_ is null if the kind is not known, backing_off_ if the autotuner
  // did not leave that call to plain MPI.
  Autotuner *last_ = nullptr, *backing_off_ = nullptr;
  std::uint64_t calls_ = 0;                             // number of calls that have asked for lanes
  std::array<std::uint64_t, calls_at_a_time> ended_{};  // number of completed calls that had the same lanes
  CallTable own_table_;
  Observer observer_;
};

}  // namespace taut
