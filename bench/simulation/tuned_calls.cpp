#include "tuned_calls.hpp"

#include <algorithm>
#include <map>

#include "communication/policy/plan/cost_model.hpp"
#include "communication/policy/tuning/autotuner.hpp"

namespace simulation {
namespace {

constexpr int calls = 100, settled_from = 10;

// The world of one kind of call: the time of each route.
class Kind {
 public:
  Kind(const CollectiveCall& call, const Link& link, Times times)
      : call_(call),
        link_(link),
        times_(times),
        policy_(taut::parse_policy(call.policy)),
        described_(described(call, link.hosts)) {
    plain_ =
        times == Times::simulated ? simulate_plain(call, link).seconds : modelled(plan({})).plain_seconds;
  }

  double plain() const noexcept { return plain_; }
  // Returns the seconds of a call that the ranks agreed to leave to plain MPI.
  double declined() const noexcept {
    return plain_ + seconds_of_samples + taut::log2_ceil(call_.ranks) * (link_.latency + 2 * link_.overhead);
  }
  taut::Plan plan(const taut::Route& route) {
    return taut::make_plan(policy_, described_, policy_.coding.bound, table_, route);
  }
  const Outcome& outcome(const taut::Plan& plan) {
    const auto key = std::tuple(plan.algorithm, plan.by_nodes, plan.coding.codec, plan.coding.by_values);
    const auto found = simulated_.find(key);
    if (found != simulated_.end()) return found->second;
    const bool modelled = times_ == Times::modelled;
    return simulated_.emplace(key, modelled ? forecast(plan) : simulate(call_, planned(plan), link_))
        .first->second;
  }
  // Returns the plan not by nodes, or by nodes; without an algorithm if there is none.
  taut::Plan plan_by(bool by_nodes) {
    const taut::Plan made = plan({.by_nodes = by_nodes});
    return made.by_nodes == by_nodes ? made : taut::Plan{};
  }
  std::span<const taut::Route> others(const taut::Plan& plan, std::span<taut::Route> found) const noexcept {
    return taut::alternatives(policy_, described_, plan, found);
  }
  taut::MeasuredChoice coding(double link) {
    return fastest_coding(call_, taut::coding_work(policy_, described_, plan({}), link));
  }
  // Returns the seconds of plain MPI that a rank predicts from a compressed call.
  double predicted(const Outcome& outcome) const noexcept {
    const double wait = std::max(0.0, outcome.seconds - outcome.spent.total());
    return taut::predicted_plain_seconds(described_, wait, outcome.sent_bytes);
  }
  double ratio() const noexcept { return 32 / call_.costs.bits; }

 private:
  double rate() const noexcept { return link_.bytes_a_second * link_.links; }
  taut::Forecast modelled(const taut::Plan& plan) const noexcept {
    const taut::CodingWork work = taut::coding_work(policy_, described_, plan, 0);
    taut::MeasuredCall measured{described_, work, speeds_of(call_), plan.by_nodes};
    measured.memory = {link_.hosts.memory, link_.hosts.copy, call_.costs.add_values};
    return taut::forecast(measured, rate());
  }
  // Returns the call as the model has it: what it takes beyond its transfer, the ranks compute.
  Outcome forecast(const taut::Plan& plan) const noexcept {
    const double sent = taut::link_traffic(described_) * static_cast<double>(described_.bytes) / ratio();
    Outcome outcome{.seconds = modelled(plan).coded_seconds, .sent_bytes = sent, .planned = planned(plan)};
    outcome.spent.encode = std::max(0.0, outcome.seconds - sent / rate());
    return outcome;
  }

  using Key = std::tuple<const taut::AlgorithmInfo*, bool, taut::MeasuredChoice::Codec, bool>;
  const CollectiveCall& call_;
  const Link& link_;
  Times times_;
  taut::Policy policy_;
  taut::Call described_;
  taut::CandidateTable table_;
  double plain_ = 0;
  std::map<Key, Outcome> simulated_;
};

// Serves one call, as Communicator does. Returns its seconds.
double serve(Kind& kind, taut::Autotuner& tuner, TunedCalls& result, int number) {
  const auto left_to_plain = [&](double seconds) {
    if (tuner.needs_time()) tuner.record(taut::Outcome::plain, kind.plain(), 1);
    if (result.first_plain == 0) result.first_plain = number;
    if (number == 1) result.first = "plain";
    return seconds;
  };
  if (tuner.next() != taut::Fallback::none) return left_to_plain(kind.plain());
  if (tuner.is_trying_plain() && tuner.continue_trial(tuner.own()) != taut::Fallback::none)
    return left_to_plain(kind.declined());
  if (const taut::CodingTrials* due = tuner.due_codings(); due != nullptr)
    tuner.choose(kind.coding(due->plain_seconds_per_byte()));
  const taut::Plan plan = kind.plan(tuner.route());
  std::array<taut::Route, taut::max_alternatives> found;
  const taut::Agreed agreed{.ratio = static_cast<float>(kind.ratio()),
                            .timing = tuner.own(),
                            .route = plan.route(),
                            .others = kind.others(plan, found)};
  if (tuner.update(agreed) != taut::Fallback::none) return left_to_plain(kind.declined());
  const Outcome& outcome = kind.outcome(plan);
  if (number == 1) result.first = plan.algorithm->name + std::string(plan.by_nodes ? " by nodes" : "");
  tuner.record(taut::Outcome::compressed, outcome.seconds, 1, plan.route(), kind.predicted(outcome));
  return outcome.seconds;
}

}  // namespace

double TunedCalls::best() const noexcept {
  double least = plain;
  for (const double route : {flat, nodes})
    if (route > 0) least = std::min(least, route);
  return least;
}

TunedCalls tuned_calls(const CollectiveCall& call, const Link& link, Times times) {
  Kind kind(call, link, times);
  taut::Autotuner tuner;
  TunedCalls result;
  result.plain = kind.plain();
  for (int i = 0; i < calls; ++i) {
    const double seconds = serve(kind, tuner, result, i + 1);
    result.first_100 += seconds;
    if (i >= settled_from) result.after_10 += seconds / (calls - settled_from);
  }
  taut::Route route;
  for (const bool by_nodes : {false, true}) {
    const taut::Plan plan = kind.plan_by(by_nodes);
    if (plan.algorithm == nullptr) continue;
    (by_nodes ? result.nodes : result.flat) = kind.outcome(plan).seconds;
  }
  return result;
}

}  // namespace simulation
