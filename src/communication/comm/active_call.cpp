// The phases of a call but for `plan` (active_call_plan.cpp).
#include "communication/comm/active_call.hpp"

#include <algorithm>

#include "communication/comm/coding_speeds.hpp"
#include "communication/policy/plan/cost_model.hpp"
#include "communication/team/hierarchical.hpp"
#include "compressor/base/device_memory.hpp"
#include "compressor/base/guarded.hpp"
#include "compressor/frame/common_unit.hpp"
#include "compressor/gpu/device_kernels.hpp"

namespace taut {
namespace {

// Returns the verdict on calls that differ between the ranks: an error under a policy that the program has
// set. Rules leave them to plain MPI, which tolerates many differences. Two differences are an error in any
// case: a record that came damaged, as not all ranks know of it, and blocks of other sizes than the ranks
// without a root expect, as plain MPI would hang or give undefined data.
Verdict differing(const AgreementMessage& agreed, const Call& call, const Rules& rules) noexcept {
  const bool served_by_mpi = agreed.same_signature() || has_root(call.collective) || reduces(call.collective);
  const bool error = rules.single_policy() != nullptr || agreed.has_unreadable() || !served_by_mpi;
  return error ? Verdict{Fallback::none, Status::rank_mismatch} : Verdict{Fallback::mismatch};
}

// Compares the calls of all ranks. The verdict is good if they are equivalent and compressed types.
Verdict compared(const AgreementMessage& agreed, const Call& call, const Rules& rules) noexcept {
  if (!agreed.same_signature()) return differing(agreed, call, rules);
  if (agreed.type_low == 0 || agreed.type_low == AgreementMessage::any_type) return {Fallback::type};
  if (agreed.type_low == agreed.type_high) return {};
  const bool may_differ =
      !call.bytes_known && !has_root(call.collective);  // blocks between ranks may be empty
  return may_differ ? Verdict{Fallback::type} : differing(agreed, call, rules);
}

// Gives a call without values the type of the other ranks.
void adopt_type(CollectiveCall& call, const AgreementMessage& agreed) noexcept {
  if (call.any_type) call.type = call.data.in.type = call.data.out.type = DType(agreed.type_low);
}

// Returns true if the time of plain MPI is compared with that of compressed calls after such a fallback.
bool is_timed(Fallback why) noexcept {
  return why == Fallback::slower || why == Fallback::trial || why == Fallback::no_gain;
}

// Wait for the decision on a tuning period.
class PeriodDecision final : public Waitable {
 public:
  explicit PeriodDecision(const TuningPeriod& period) noexcept : period_(period) {}
  bool ready() override { return period_.decided; }
  void result() const noexcept {}

 private:
  const TuningPeriod& period_;
};

bool values_on_device(const CollectiveCall& call) noexcept {
  if (call.staging != nullptr) return call.staging->on_device();
  return on_device(call.data.in.data) || on_device(call.data.out.data);
}

constexpr float CodingSpeeds::*all_numbers[] = {&CodingSpeeds::ratio, &CodingSpeeds::encode,
                                                &CodingSpeeds::decode, &CodingSpeeds::reduce,
                                                &CodingSpeeds::accumulate};
static_assert(std::size(all_numbers) == CodingSpeeds::members);
static_assert(MeasuredChoice::codecs * CodingSpeeds::members <= max_candidates);

}  // namespace

// Fills in the members of the call that the caller of the library need not know.
Communicator::ActiveCall::ActiveCall(Communicator& comm, CollectiveCall call, const EarlyDecision& early,
                                     bool* compressed) noexcept
    : comm_(comm),
      call_(std::move(call)),
      early_(early),
      compressed_(compressed),
      record_(comm.observer_, call_),
      device_(device_of(comm, call_)),
      place_(device_ ? device_->device().frame_place() : comm.place_) {
  call_.data.op = call_.op;
  comm.complete(call_);
  call_.any_blocks =
      call_.data.in.layout != nullptr || call_.data.out.layout != nullptr || !call_.bytes_known;
  call_.sites = comm.tuner_.sites(call_.site);
}

// Marks a call whose values are on a GPU, and returns the place of the values. Returns nothing if this rank
// cannot serve them there.
std::optional<gpu::DeviceValues> Communicator::ActiveCall::device_of(Communicator& comm,
                                                                     CollectiveCall& call) noexcept {
  call.on_device = values_on_device(call);
  if (!call.on_device || call.staging != nullptr) return {};
  std::shared_ptr<gpu::Device> device =
      comm.devices_.holding(call.data.in.data, call.data.out.data, call.begins != nullptr);
  return device != nullptr ? std::optional<gpu::DeviceValues>(std::move(device)) : std::nullopt;
}

// Decides on the tuning period that the call opened, if the call ended before its agreement: the other calls
// of the period are not compared with plain MPI.
Communicator::ActiveCall::~ActiveCall() {
  if (series_ != nullptr) series_->end();
  if (!opens_period()) return;
  early_.position->period->decided = true;
  early_.position->period->previous = nullptr;
}

// Finds the rule of a call whose parameters may be known to some ranks only: the ranks first agree on these
// parameters. A call that overlaps others then uses nothing that was learned, because the calls from which it
// was learned may have completed on some ranks only.
Task<Verdict> Communicator::ActiveCall::resolve_rule(std::uint64_t number, Lane lane, Status earlier) {
  number_ = number;
  lane_ = lane;
  failure_ = earlier;
  if (early_.policy_state != nullptr) co_return Verdict{};
  const AgreementMessage known = co_await exchange(local_message(nullptr));
  if (const Verdict verdict = compared(known, call_, comm_.tuner_.rules()); !verdict.good())
    co_return verdict;
  adopt_type(call_, known);
  call_.bytes = static_cast<std::size_t>(known.bytes_high);
  Call agreed = call_;
  agreed.sites = known.sites;
  agreed.bytes_known = agreed.type_agreed = agreed.sites_agreed = true;
  const Match match = comm_.tuner_.rules().match(agreed);
  if (match.off) co_return Verdict{Fallback::off};
  early_ = early_.overlaps ? EarlyDecision{.policy_state = &comm_.tuner_.of(*match.rule), .overlaps = true}
                           : comm_.tuner_.decide(*match.rule, call_, false);
  co_return Verdict{early_.fallback, Status::ok, early_.plain_times()};
}

// Waits for the decision on the tuning period of the call; if the call opens it, on the previous period.
Task<Verdict> Communicator::ActiveCall::resolve_period() {
  if (!early_.position) co_return Verdict{};
  const PeriodPosition& position = *early_.position;
  if (const TuningPeriod* const awaited = position.awaited(); awaited != nullptr) {
    PeriodDecision decision(*awaited);
    co_await decision;
  }
  if (position.opens()) co_return Verdict{};
  co_return Verdict{position.fallback(), Status::ok, &position.tuner->plain_times()};
}

// Continues or ends a trial of plain MPI. The ranks agree on times alone: calls of a trial gather no values
// and take no samples.
Task<Verdict> Communicator::ActiveCall::resolve_trial() {
  Autotuner* const tuner = early_.autotuner;
  if (tuner == nullptr || !tuner->is_trying_plain()) co_return Verdict{};
  AgreementMessage mine = local_message(nullptr);
  mine.set_timing(tuner->own(), may_complete_early(call_.collective));
  const AgreementMessage known = co_await exchange(mine);
  if (const Verdict verdict = compared(known, call_, comm_.tuner_.rules()); !verdict.good())
    co_return verdict;
  adopt_type(call_, known);
  call_.bytes = static_cast<std::size_t>(known.bytes_high);
  co_return Verdict{tuner->continue_trial(known.timing(may_complete_early(call_.collective))), Status::ok,
                    early_.plain_times()};
}

// Resolves a bound that is relative to the range of all ranks' values, the bound of an exact sum, which their
// units give, and the size of a message of which each rank knows its part.
Task<Verdict> Communicator::ActiveCall::resolve_bound() {
  bound_ = policy().coding.bound;
  const bool seeks = seeks_units();
  if (is_relative(bound_)) pack_staged();
  if (is_relative(bound_) || seeks || (!call_.bytes_known && rounds_ == 0)) {
    const AgreementMessage known = co_await exchange(local_message(&policy()));
    if (!known.same_signature()) co_return differing(known, call_, comm_.tuner_.rules());
    if ((known.obstacles & AgreementMessage::out_of_reach) != 0) {  // a range is missing
      const Verdict verdict = compared(known, call_, comm_.tuner_.rules());
      co_return verdict.good() ? Verdict{Fallback::device} : verdict;
    }
    if (known.type_low == AgreementMessage::any_type) co_return Verdict{Fallback::type};
    adopt_type(call_, known);
    if (seeks) {
      if (const Verdict verdict = compared(known, call_, comm_.tuner_.rules()); !verdict.good())
        co_return verdict;
      bound_ = bound_of_exact_sums(call_.type, known.range, ranks());
      if (bound_.exact()) co_return Verdict{Fallback::unsupported};
    }
    bound_ = resolved_bound(policy(), bound_, known.range);
    call_.bytes = static_cast<std::size_t>(known.bytes_high);
  }
  co_return Verdict{early_fallback(policy(), call_.bytes, ranks())};
}

// Chooses the coding of calls of this kind anew, if that is due and the message is large enough: the ranks
// measure codecs on their values, and agree on the speeds.
Task<Verdict> Communicator::ActiveCall::resolve_coding() {
  const bool due = early_.autotuner != nullptr && early_.autotuner->due_codings() != nullptr;
  if (!due || !call_.bytes_known || call_.bytes < least_measured_bytes) co_return Verdict{};
  Plan usual = usual_plan();
  AgreementMessage mine = local_message(nullptr);
  add_speeds(usual, mine);
  const AgreementMessage known = co_await exchange(mine);
  if (const Verdict verdict = compared(known, call_, comm_.tuner_.rules()); !verdict.good())
    co_return verdict;
  adopt_type(call_, known);
  if (call_.any_type) usual = usual_plan();
  choose_coding(usual, known);
  co_return Verdict{};
}

AgreementMessage Communicator::ActiveCall::plan() {
  AgreementMessage mine = local_message(&policy());
  if (early_.autotuner != nullptr || opens_period()) {
    const Timing own = early_.autotuner != nullptr ? early_.autotuner->own() : early_.position->tuner->own();
    mine.set_timing(own, may_complete_early(call_.collective));
  }
  const Status status = guarded([&] {
    if (call_.coded()) plan(mine);
  });
  if (status != Status::ok) failure_ = status;
  if (failure_ == Status::out_of_memory)
    mine.obstacles |= AgreementMessage::short_of_memory;
  else if (failure_ != Status::ok)
    mine.obstacles |= AgreementMessage::failed;
  if (problem_ != nullptr || failure_ == Status::transport_failed)  // MPI could not pack the values
    mine.obstacles |= AgreementMessage::bad_arguments;
  return mine;
}

// Agrees on the call. From here on every rank decides alike.
Task<Verdict> Communicator::ActiveCall::agree(AgreementMessage mine) {
  const AgreementMessage agreed = co_await exchange(mine);
  chosen_ = best_candidate(plan_.candidates, agreed.measured_low);
  const float ratio = agreed.measured_low[chosen_];
  record_.agreed(rounds_, ranks(), ratio);
  if ((agreed.obstacles & AgreementMessage::on_device) == 0)
    frames_ = {agreed.frame_low, agreed.frame_high, ratio < AgreementMessage::unknown_size ? ratio : 0};
  if (packed_) record_.saw_packed();
  agree_on_history(agreed);
  Verdict verdict = conclude(agreed);
  if (verdict.fallback == Fallback::no_gain && series_ != nullptr)
    series_->trials().record_no_gain(leaves_state_);
  if (verdict.status == Status::ok) learn(agreed, verdict);
  co_return verdict;
}

// Teaches the tuner of the call what the ranks agreed on. Sends the call to plain MPI if that is faster, or
// is tried.
void Communicator::ActiveCall::learn(const AgreementMessage& agreed, Verdict& verdict) noexcept {
  const Timing timing = agreed.timing(may_complete_early(call_.collective));
  if (opens_period()) {
    verdict.fallback = early_.position->period->decide(verdict.fallback, timing);
    verdict.plain_times = &early_.position->tuner->plain_times();
  }
  if (early_.autotuner == nullptr) return;
  std::array<Route, max_alternatives> found;
  std::span<const Route> others;
  if (verdict.good() && call_.bytes_known) others = alternatives(policy(), call_, plan_, found);
  const bool on_devices = (agreed.obstacles & AgreementMessage::on_device) != 0 && verdict.good() &&
                          gives_same_bits(call_, plan_);
  verdict.fallback = early_.autotuner->update({.fallback = verdict.fallback,
                                               .candidate = chosen_,
                                               .ratio = agreed.measured_low[chosen_],
                                               .by_cached_candidate = early_.cached_candidate.has_value(),
                                               .only_if_profitable = policy().only_if_profitable(),
                                               .timing = timing,
                                               .route = plan_.route(),
                                               .others = others,
                                               .on_devices = on_devices});
  if (policy().only_if_profitable() && is_timed(verdict.fallback)) verdict.plain_times = early_.plain_times();
}

Task<Verdict> Communicator::ActiveCall::execute() {
  if (compressed_ != nullptr) *compressed_ = true;
  record_.decided(plan_, plan_.candidates[chosen_]);
  const Codec& usual = *codecs_[chosen_];
  const std::uint64_t began = clock_now();
  if (leaves_state_)
    co_await run_in_series(usual);
  else
    co_await run_algorithm(usual);
  record_history(began);
  const Status status = finish();
  if (status == Status::out_of_memory) comm_.histories_.drop_idle();  // for the next call
  if (call_.staging != nullptr && status == Status::ok) call_.staging->unpack(call_.data);
  co_return Verdict{.status = status, .promise = plan_.promise};
}

Task<> Communicator::ActiveCall::run_algorithm(const Codec& codec) {
  Team team(comm_.transport_, codec, place_, record_.counters(), plan_.arithmetic, lane_,
            device_ ? &*device_ : nullptr);
  if (leaves_state_) team = team.in_series(&*places_);
  if (frames_) {
    const Call part = call_of_algorithm(call_, plan_.by_nodes);
    team = team.in_packets(packet_bytes(*plan_.algorithm, part, plan_.segments, *frames_));
  }
  const Nodes& nodes = comm_.nodes_;
  if (plan_.by_nodes) {
    Operands data = call_.data;
    if (moves_between_ranks(call_)) data.between = &nodes;
    data.frames_on_node = plan_.frames_on_node;
    return pipelined(*plan_.algorithm, team, data, plan_.segments, &nodes);
  }
  if (!follows_nodes()) return pipelined(*plan_.algorithm, team, call_.data, plan_.segments);
  const OrderedCall ordered = in_order_of_nodes(*plan_.algorithm, nodes, team, call_.data);
  return pipelined(*plan_.algorithm, ordered.team, ordered.data, plan_.segments);
}

// Completes the result in the user's memory. Returns the first failure of the call.
Status Communicator::ActiveCall::finish() noexcept {
  const Slice out = call_.data.out;
  Place& values = device_ ? static_cast<Place&>(*device_) : place_;
  CallCounters& counters = record_.counters();
  if (call_.mean && !call_.data.mean && out.data != nullptr) counters.note(values.divide(out, ranks()));
  if (call_.move_to != nullptr && out.count != 0)
    counters.note(values.copy(static_cast<std::byte*>(call_.move_to), out.as_bytes().data(), out.bytes()));
  if (device_) counters.note(device_->device().wait());
  return counters.status;
}

void Communicator::ActiveCall::end(const Verdict& verdict) noexcept {
  record_.end(verdict);
  const CallCounters& counters = record_.counters();
  const PhaseTimes& times = counters.times;
  if (record_.compressed() && early_.position)
    early_.position->tuner->coded_times().note(seconds(times[Phase::call]), record_.bytes());
  if (early_.autotuner == nullptr) return;
  if (record_.compressed()) {  // also on failure, which may be local
    if (early_.autotuner->skips_record(tries_history_)) return;
    // A call in flight also waits while the program computes, which says nothing about the link.
    const double wait = compressed_ == nullptr ? seconds(times[Phase::wait]) : 0;
    const double predicted = predicted_plain_seconds(call_, wait, static_cast<double>(counters.sent_bytes));
    early_.autotuner->record(Outcome::compressed, seconds(times[Phase::call]), record_.bytes(), plan_.route(),
                             predicted);
  } else if (verdict.fallback == Fallback::no_gain && record_.has_agreed()) {
    early_.autotuner->record(Outcome::declined, seconds(times[Phase::agree]), record_.bytes());
  }
}

// ---- The coding

// Returns the plan by the coding that compresses best; its algorithm is null if there is none.
Plan Communicator::ActiveCall::usual_plan() noexcept {
  if (!call_.coded()) return {};
  Route route = early_.route;
  if (route.coding != MeasuredChoice{}) route.algorithm = nullptr;
  route.coding = {};
  Plan plan;
  guarded([&] { plan = make_plan(policy(), call_, bound_, early_.policy_state->candidates, route); });
  return plan.fallback == Fallback::none ? plan : Plan{};
}

// Adds the speeds on this rank's values to the record. A rank without values leaves the choice to the others.
void Communicator::ActiveCall::add_speeds(const Plan& usual, AgreementMessage& mine) noexcept {
  pack_staged();
  const ConstSlice values = own_values(call_, rank()).most();
  if (values.count == 0 && failure_ == Status::ok && (usual.algorithm != nullptr || call_.any_type)) return;
  std::ranges::fill(mine.measured_low, 0.0F);
  const bool able = failure_ == Status::ok && usual.algorithm != nullptr && !call_.on_device;
  if (!able || values.data == nullptr) return;
  guarded([&] {  // the speeds that are missing after a failure are unknown to all ranks
    for (std::size_t i = 0; i < MeasuredChoice::codecs; ++i) {
      const CodingSpeeds speeds = speeds_of(usual, static_cast<MeasuredChoice::Codec>(i), values);
      for (std::size_t k = 0; k < CodingSpeeds::members; ++k)
        mine.measured_low[i * CodingSpeeds::members + k] = speeds.*all_numbers[k];
    }
  });
}

// Returns the speeds of the codec of a choice; zeros if it cannot serve the call, or is that with the best
// ratio.
CodingSpeeds Communicator::ActiveCall::speeds_of(const Plan& usual, MeasuredChoice::Codec codec,
                                                 ConstSlice values) {
  using enum MeasuredChoice::Codec;
  if (codec == fast && !coding_work(policy(), call_, usual, 0).may_use_fast) return {};
  const std::span<const Coding> able =
      candidates_of(policy(), call_, *usual.algorithm, usual.bound, {codec}, early_.policy_state->candidates);
  if (able.empty()) return {};
  const bool by_ratio = early_.route.coding.codec == best_ratio;
  const std::size_t best = by_ratio ? std::min(early_.cached_candidate.value_or(0), able.size() - 1) : 0;
  if (codec == usual_predictor && best == 0 && by_ratio) return {};
  const Coding& candidate = able[codec == best_ratio ? best : 0];
  return measure_speeds(*early_.policy_state->codecs.find_or_make(candidate, usual.bound), values,
                        comm_.place_, speed_test_of(policy(), call_, usual));
}

// Chooses the coding by the speeds of the slowest rank, which all ranks know.
void Communicator::ActiveCall::choose_coding(const Plan& usual, const AgreementMessage& agreed) noexcept {
  CodingSpeeds speeds[MeasuredChoice::codecs];
  for (std::size_t i = 0; i < MeasuredChoice::codecs; ++i)
    for (std::size_t k = 0; k < CodingSpeeds::members; ++k)
      speeds[i].*all_numbers[k] = agreed.measured_low[i * CodingSpeeds::members + k];
  Autotuner& tuner = *early_.autotuner;
  MeasuredChoice chosen;
  if (usual.algorithm != nullptr)
    chosen = fastest_coding(
        coding_work(policy(), call_, usual, tuner.due_codings()->plain_seconds_per_byte()), speeds);
  tuner.choose(chosen);
  early_.route = tuner.route();
  early_.cached_candidate = tuner.cached_candidate();
}

// ---- The agreement

// Runs one round of the agreement.
Task<AgreementMessage> Communicator::ActiveCall::exchange(const AgreementMessage& mine) {
  ++rounds_;
  return taut::agree(comm_.transport_, lane_ + max_segments, mine);  // the lane behind those of segments
}

// Returns true if kernels serve the chosen candidate. The same on all ranks.
bool Communicator::ActiveCall::has_kernels() const {
  return gpu::has_kernels(plan_.candidates[chosen_].with_bound(plan_.bound));
}

Verdict Communicator::ActiveCall::conclude(const AgreementMessage& agreed) const noexcept {
  if (const Verdict verdict = compared(agreed, call_, comm_.tuner_.rules()); !verdict.good()) return verdict;
  const auto has = [&](AgreementMessage::Obstacles some) { return (agreed.obstacles & some) != 0; };
  if (has(AgreementMessage::out_of_reach)) return {Fallback::device};
  if (has(AgreementMessage::short_of_memory))
    return {Fallback::memory};  // a rank may have had no memory to make a plan
  if (plan_.fallback != Fallback::none)
    return {plan_.fallback};  // the same on all ranks, as the type is the same
  if (has(AgreementMessage::failed) && under_rules())
    return {has(AgreementMessage::bad_arguments) ? Fallback::arguments : Fallback::failed};
  if (has(AgreementMessage::failed))
    return {Fallback::none, failure_ != Status::ok ? failure_ : Status::peer_failed, nullptr, problem_};
  if (has(AgreementMessage::packed)) return {Fallback::packed};
  if (has(AgreementMessage::on_device) && !has_kernels()) return {Fallback::device};
  if (agreed.measured_low[chosen_] < plan_.min_ratio) return {Fallback::no_gain};
  return {};
}

}  // namespace taut
