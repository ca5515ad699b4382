// The facade: what a user's communicator carries. Ties policy, codecs, algorithms and transport together.
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

// How a call ended: served (status), or left to plain MPI, for the same reason on every rank; then nothing
// was touched.
struct Verdict {
  Fallback plain = Fallback::none;
  Status status = Status::ok;
};

class Communicator {
 public:
  // `rules`: a policy, or rules as they are on this communicator, the same on every rank. Throws Error when
  // they cannot be served here. `place` is for scratch memory; `nodes`: of the ranks.
  Communicator(Transport& transport, Place& place, Rules rules, const std::string& kernels = "",
               Observer observer = {}, Nodes nodes = {});
  Communicator(const Communicator&) = delete;

  const CallTable& calls() const noexcept { return *observer_.table; }

  // Why the call is for plain MPI without further ado, if it is; to be asked once for each call, in their
  // order, by every rank. Local.
  Fallback early_fallback(const CollectiveCall& call) noexcept;

  // In its place for a call like the last one, where that was left to plain MPI for what its kind has shown.
  // Fallback::no: it is not again, or that was not the reason; the other one will say.
  Fallback repeated_fallback() noexcept {
    return backing_off_ != nullptr ? backing_off_->next() : Fallback::none;
  }
  bool backs_off() const noexcept { return backing_off_ != nullptr; }

  // Runs a call that is not for plain MPI at once; every rank of the transport must do so with an equivalent
  // call. Several may be under way: they are told apart by the order in which they are advanced for the
  // first time, the same on every rank. `served` is for calls that others may overlap: it becomes true once
  // the ranks have agreed not to leave the call to plain MPI.
  Task<Verdict> start(CollectiveCall call, bool* served = nullptr);

  // Both, for one call at a time.
  Task<Verdict> run(CollectiveCall call);

  // How long the last call took that was left to plain MPI; the same calls on every rank, all of those for
  // which it matters.
  void note_plain(std::size_t bytes, std::uint64_t nanoseconds) noexcept;
  bool needs_time() const noexcept { return last_ != nullptr && last_->needs_time(); }

 private:
  // What a call holds until its end, whatever others do meanwhile: memory, and a codec for each candidate.
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
  Verdict conclude(const AgreementRecord& agreed, const Plan& plan, std::size_t chosen,
                   Status failure) const noexcept;

  Transport& transport_;
  Place& place_;
  PolicyTable policies_;
  Nodes nodes_;
  // Kinds of the last call; null: not known, or not left to itself.
  Autotuner *last_ = nullptr, *backing_off_ = nullptr;
  std::uint64_t calls_ = 0;                             // that have asked for lanes
  std::array<std::uint64_t, calls_at_a_time> ended_{};  // of the calls that had the same lanes
  CallTable own_table_;
  Observer observer_;
};

}  // namespace taut
