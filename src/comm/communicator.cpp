#include "comm/communicator.hpp"

#include <cstring>
#include <new>

#include "core/hierarchical.hpp"
#include "core/mean.hpp"

namespace taut {
namespace {

// Lanes of a call: one for each segment, then one for the agreement.
constexpr Lane lanes_of_a_call = 128;
constexpr Lane agreement_lane = max_segments;
static_assert(max_segments < lanes_of_a_call);

}  // namespace

Communicator::Communicator(Transport& transport, Place& place, Rules rules, const std::string& kernels,
                           Observer observer, Nodes nodes)
    : transport_(transport),
      place_(place),
      policies_(std::move(rules), kernels),
      nodes_(std::move(nodes)),
      observer_(observer) {
  if (observer_.table == nullptr) observer_.table = &own_table_;
}

// Ownership of a call's lanes until the call completes. Lanes are reused: the call that comes calls_at_a_time
// calls later waits for them. A rank that has completed a call has sent all its messages, and lanes keep
// their order. A peer that still runs the call thus cannot mistake the messages of a later call for messages
// of this one.
class Communicator::Lanes final : public Waitable {
 public:
  explicit Lanes(Communicator& comm) noexcept
      : number_(comm.calls_++), ended_(comm.ended_[number_ % calls_at_a_time]) {}
  Lanes(const Lanes&) = delete;
  ~Lanes() { ++ended_; }

  bool ready() override { return ended_ == number_ / calls_at_a_time; }
  Lane result() const noexcept { return static_cast<Lane>(number_ % calls_at_a_time) * lanes_of_a_call; }

 private:
  static_assert(calls_at_a_time * lanes_of_a_call <= lanes);
  std::uint64_t number_;
  std::uint64_t& ended_;
};

// ---- Autotuning

// Tuning session: the part of one call that reads and updates the autotuner of its kind. Only calls that do
// not overlap others update the autotuner: all ranks thus make the same updates in the same order.
struct Communicator::TuningSession {
  PolicyState& policy_state;
  Autotuner& kind;
  bool adds, has_to_pay;
  std::optional<std::size_t> cached_candidate;  // index of the only candidate that is sampled; none: all are
  Route route;                                  // requested route; later the route taken

  void begin(AgreementRecord& mine, bool rooted) const noexcept {
    if (adds) mine.set_timing(kind.own(), rooted);
  }
  // Updates the autotuner with a verdict that the ranks agreed on, and may change the verdict to a fallback.
  void on_verdict(std::size_t chosen, float ratio, const Timing& timing, Verdict& verdict) const noexcept {
    if (!adds || verdict.status != Status::ok) return;
    if (verdict.plain == Fallback::no_gain || verdict.plain == Fallback::packed)
      kind.record_no_gain(cached_candidate.has_value(), timing);
    if (verdict.plain != Fallback::none) return;
    kind.choose(chosen, ratio);
    if (has_to_pay) verdict.plain = kind.update(timing);
  }
  void on_route(const Route& taken, const Timing& timing, std::span<const Route> others) noexcept {
    route = taken;
    if (adds) kind.update_route(taken, timing, others);
  }
  // Called after an agreement that found no gain.
  void end_without_gain(const CallCounters& counters, std::size_t bytes) const noexcept {
    if (adds) kind.record_declined(seconds(counters.times[Phase::agree]), bytes);
  }
  // Called after a compressed call.
  void end(const CallCounters& counters, std::size_t bytes) const noexcept {
    if (!adds) return;
    const double gain =
        static_cast<double>(counters.carried_bytes) / static_cast<double>(counters.sent_bytes);
    const double predicted = seconds(counters.times[Phase::wait]) * gain;
    kind.record_coded(route, seconds(counters.times[Phase::call]), predicted, bytes);
  }
};

Communicator::TuningSession Communicator::session(PolicyState& policy_state, const CollectiveCall& call,
                                                  bool adds) noexcept {
  backing_off_ = nullptr;  // its place in the table may be taken by the kind of this call
  Autotuner& kind = autotuner(policy_state, call);
  return {policy_state, kind, adds, adds && policy_state.policy.has_to_pay(), kind.cached_candidate(),
          kind.route()};
}

Fallback Communicator::early_fallback(const CollectiveCall& call) noexcept {
  last_ = backing_off_ = nullptr;
  const Rules& rules = policies_.rules();
  if (rules.off()) return Fallback::off;
  if (transport_.size() < 2) return Fallback::communicator;
  if (call.bytes_known && call.bytes < rules.least_bytes()) return Fallback::small;
  const Match match = policies_.match(call);
  if (match.off) return Fallback::off;
  if (match.open) return Fallback::none;
  PolicyState& policy_state = policies_.of(*match.rule);
  if (call.bytes_known) {
    const Fallback why = taut::early_fallback(policy_state.policy, call.bytes, transport_.size());
    if (why != Fallback::none) return why;
  }
  if (!policy_state.policy.has_to_pay()) return Fallback::none;
  last_ = &autotuner(policy_state, call);
  const Fallback rest = last_->next();
  if (rest != Fallback::none) backing_off_ = last_;
  return rest;
}

void Communicator::note_plain(std::size_t bytes, std::uint64_t nanoseconds) noexcept {
  if (last_ != nullptr) last_->note_plain(seconds(nanoseconds), bytes);
}

// ---- Before the agreement (local_record.cpp has the parts)

AgreementRecord Communicator::complete_record(CollectiveCall& call, Bound bound, Plan& plan,
                                              CallResources& resources, TuningSession& session,
                                              Status& failure) {
  PolicyState& policy_state = session.policy_state;
  AgreementRecord mine = local_record(call, &policy_state.policy);
  if (!call.coded()) return mine;
  try {
    plan = make_plan(policy_state.policy, call, bound, policy_state.candidates, session.route);
    if (call.on_device || plan.plain != Fallback::none) return mine;
    gather(call, resources, failure);
    if (failure == Status::ok) prepare(call, plan, policy_state.codecs, resources);
    if (failure == Status::ok) look_for_packed(call, policy_state.policy, resources, mine);
    const bool matters = failure == Status::ok && (plan.least_ratio > 0 || plan.candidates.size() > 1);
    if (session.cached_candidate >= plan.candidates.size()) session.cached_candidate.reset();
    for (std::size_t i = 0; matters && i < plan.candidates.size(); ++i)
      mine.ratio_low[i] = i == session.cached_candidate.value_or(i)
                              ? estimate_ratio(call, *resources.codecs[i], resources.place)
                              : 0;
  } catch (const Error& error) {
    failure = error.status();
  } catch (const std::bad_alloc&) {
    failure = Status::out_of_memory;
  }
  if (failure != Status::ok)
    mine.obstacles |=
        failure == Status::out_of_memory ? AgreementRecord::short_of_memory : AgreementRecord::failed;
  return mine;
}

// ---- After the agreement: the same decision on every rank

namespace {

// Returns true if ranks may use different types: blocks between them may be empty.
bool types_may_differ(const Call& call) noexcept { return !call.bytes_known && !has_root(call.collective); }

// Returns the verdict on the types that the ranks use.
Verdict verdict_on_types(const AgreementRecord& agreed, const Call& call) noexcept {
  if (agreed.type_low == 0 || agreed.type_low == AgreementRecord::any_type) return {Fallback::type};
  if (agreed.type_low == agreed.type_high) return {};
  return types_may_differ(call) ? Verdict{Fallback::type} : Verdict{Fallback::none, Status::rank_mismatch};
}

// Gives a call without values the type of the other ranks.
void adopt_type(CollectiveCall& call, const AgreementRecord& agreed) noexcept {
  if (call.any_type) call.type = call.data.in.type = call.data.out.type = DType(agreed.type_low);
}

}  // namespace

Verdict Communicator::conclude(const CollectiveCall& call, const AgreementRecord& agreed, const Plan& plan,
                               std::size_t chosen, Status failure) const noexcept {
  if (!agreed.same_signature()) return {Fallback::none, Status::rank_mismatch};
  const Verdict types = verdict_on_types(agreed, call);
  if (types.plain != Fallback::none || types.status != Status::ok) return types;
  if ((agreed.obstacles & AgreementRecord::on_device) != 0) return {Fallback::device};
  if ((agreed.obstacles & AgreementRecord::short_of_memory) != 0)
    return {Fallback::memory};                            // a rank may have had no memory to make a plan
  if (plan.plain != Fallback::none) return {plan.plain};  // the same on all ranks, as the type is the same
  if (agreed.obstacles == AgreementRecord::packed) return {Fallback::packed};
  if (agreed.obstacles != 0) return {Fallback::none, failure != Status::ok ? failure : Status::peer_failed};
  if (agreed.ratio_low[chosen] < plan.least_ratio) return {Fallback::no_gain};
  return {};
}

Task<Verdict> Communicator::run(CollectiveCall call) {
  const Fallback why = early_fallback(call);
  if (why == Fallback::none) co_return co_await start(call);
  CallRecord(observer_, call).end({why});
  co_return Verdict{why};
}

Task<Verdict> Communicator::start(CollectiveCall call, bool* served) {
  CallRecord record(observer_, call);
  record.begin();
  complete(call);
  const Match match = policies_.match(call);
  std::optional<TuningSession> session;
  if (!match.open && match.rule != nullptr)
    session.emplace(this->session(policies_.of(*match.rule), call, served == nullptr));
  const std::size_t bytes = call.bytes;  // as in note_plain()
  const Verdict verdict = co_await serve(call, record, session, served);
  record.end(verdict);
  if (record.compressed()) session->end(record.counters(), bytes);  // also on failure, which may be local
  if (verdict.plain == Fallback::no_gain && record.has_agreed())
    session->end_without_gain(record.counters(), bytes);
  co_return verdict;
}

// Finds the rule of a call whose parameters may be known to some ranks only: the ranks first agree on these
// parameters. A call that overlaps others (`adds` is false) then ignores the cached candidate and the route,
// because the calls that set them may have completed on some ranks only.
Task<Verdict> Communicator::find_rule(CollectiveCall& call, Lane lane, std::optional<TuningSession>& session,
                                      bool adds) {
  const AgreementRecord known = co_await agree(transport_, lane, local_record(call, nullptr));
  if (!known.same_signature()) co_return Verdict{Fallback::none, Status::rank_mismatch};
  const Verdict types = verdict_on_types(known, call);
  if (types.plain != Fallback::none || types.status != Status::ok) co_return types;
  adopt_type(call, known);
  call.bytes = static_cast<std::size_t>(known.bytes_high);
  Call agreed = call;
  agreed.sites = known.sites;
  agreed.bytes_known = agreed.type_agreed = agreed.sites_agreed = true;
  const Match match = policies_.rules().match(agreed);
  if (match.off) co_return Verdict{Fallback::off};
  session.emplace(this->session(policies_.of(*match.rule), call, adds));
  if (!adds) {
    session->cached_candidate.reset();
    session->route = {};
    co_return Verdict{};
  }
  last_ = &session->kind;
  co_return Verdict{session->has_to_pay ? session->kind.next() : Fallback::none};
}

Task<Verdict> Communicator::serve(CollectiveCall& call, CallRecord& record,
                                  std::optional<TuningSession>& lesson_or_open, bool* served) {
  Lanes own(*this);
  const Lane lane = co_await own;
  int rounds = 1;
  bool bytes_agreed = call.bytes_known;
  if (!lesson_or_open) {
    const Verdict found = co_await find_rule(call, lane + agreement_lane, lesson_or_open, served == nullptr);
    if (found.plain != Fallback::none || found.status != Status::ok) co_return found;
    ++rounds;
    bytes_agreed = true;
  }
  TuningSession& session = *lesson_or_open;
  const Policy& policy = session.policy_state.policy;
  Bound bound = policy.coding.bound;
  CallResources resources{{}, false, false, Reserve(place_), {}};
  Status failure = Status::ok;
  if (is_relative(bound)) gather(call, resources, failure);
  if (is_relative(bound) || !bytes_agreed) {
    const AgreementRecord known =
        co_await agree(transport_, lane + agreement_lane, local_record(call, &policy));
    if (!known.same_signature()) co_return Verdict{Fallback::none, Status::rank_mismatch};
    if ((known.obstacles & AgreementRecord::on_device) != 0) co_return Verdict{Fallback::device};
    if (known.type_low == AgreementRecord::any_type) co_return Verdict{Fallback::type};
    adopt_type(call, known);
    bound = resolved(bound, known.range);
    call.bytes = static_cast<std::size_t>(known.bytes_high);
    ++rounds;
  }
  const Fallback plain =
      rounds == 1 ? Fallback::none : taut::early_fallback(policy, call.bytes, transport_.size());
  if (plain != Fallback::none) co_return Verdict{plain};
  Plan made;
  AgreementRecord mine = complete_record(call, bound, made, resources, session, failure);
  const bool rooted = has_root(call.collective);
  session.begin(mine, rooted);
  const AgreementRecord agreed = co_await agree(transport_, lane + agreement_lane, mine);
  const std::size_t chosen = best_candidate(made.candidates, agreed.ratio_low);
  record.agreed(rounds, transport_.size(), agreed.ratio_low[chosen]);
  if (resources.packed) record.saw_packed();
  Verdict verdict = conclude(call, agreed, made, chosen, failure);
  session.on_verdict(chosen, agreed.ratio_low[chosen], agreed.timing(rooted), verdict);
  if (verdict.plain != Fallback::none || verdict.status != Status::ok) co_return verdict;

  std::array<Route, most_alternatives> found;
  session.on_route(made.route(), agreed.timing(rooted),
                   call.bytes_known ? alternatives(policy, call, made, found) : std::span<const Route>());
  if (served != nullptr) *served = true;
  record.decided(made, made.candidates[chosen]);
  const Team team(transport_, *resources.codecs[chosen], resources.place, record.counters(), made.how, lane);
  co_await pipelined(*made.algorithm, team, call.data, made.segments, made.by_nodes ? &nodes_ : nullptr);
  if (call.mean && call.data.out.data != nullptr) divide(call.data.out, transport_.size());
  if (call.move_to != nullptr && call.data.out.count != 0)
    std::memmove(call.move_to, call.data.out.data, call.data.out.bytes());
  if (call.staging != nullptr && record.counters().status == Status::ok) call.staging->spread(call.data);
  co_return Verdict{Fallback::none, record.counters().status};
}

}  // namespace taut
