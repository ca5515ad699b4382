#include "comm/communicator.hpp"

#include <cstring>
#include <new>

#include "core/by_nodes.hpp"
#include "core/mean.hpp"

namespace taut {
namespace {

// One a segment, then one for the agreement.
constexpr Lane lanes_of_a_call = 128;
constexpr Lane agreement_lane = max_segments;
static_assert(max_segments < lanes_of_a_call);

}  // namespace

Communicator::Communicator(Transport& transport, Place& place, Rules rules, const std::string& kernels,
                           Observer observer, Nodes nodes)
    : transport_(transport),
      place_(place),
      terms_(std::move(rules), kernels),
      nodes_(std::move(nodes)),
      observer_(observer) {
  if (observer_.table == nullptr) observer_.table = &own_table_;
}

// Lanes of a call's own, until its end. They come round: the call that is calls_at_a_time later waits for
// them. Once a rank has ended a call it has sent all of it, and lanes keep their order: so a peer that is
// still at it cannot mistake the next one's messages for it.
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

// ---- Experience with the kind of call

// What a call takes from the experience with its kind, and adds to it. Only calls that no other overlaps add:
// so all ranks learn the same in the same order.
struct Communicator::Lesson {
  Terms& terms;
  Experience& kind;
  bool adds, has_to_pay;
  std::optional<std::size_t> favourite;  // of the candidates: the only one that is sampled
  Way way;                               // to be taken; then the one that was

  void begin(Facts& mine, bool rooted) const noexcept {
    if (adds) mine.set_pace(kind.own(), rooted);
  }
  // What the ranks make of the verdict that they agreed on.
  void go_on(std::size_t chosen, float ratio, const Pace& pace, Verdict& verdict) const noexcept {
    if (!adds || verdict.status != Status::ok) return;
    if (verdict.plain == Plain::no_gain || verdict.plain == Plain::packed)
      kind.note_no_gain(favourite.has_value(), pace);
    if (verdict.plain != Plain::no) return;
    kind.choose(chosen, ratio);
    if (has_to_pay) verdict.plain = kind.learn(pace);
  }
  void go_by(const Way& taken, const Pace& pace, std::span<const Way> others) noexcept {
    way = taken;
    if (adds) kind.learn_way(taken, pace, others);
  }
  // After an agreement that found nothing to gain.
  void end_asking(const Ledger& ledger, std::size_t bytes) const noexcept {
    if (adds) kind.note_asked(seconds(ledger.times[Verb::agree]), bytes);
  }
  // After a call by frames.
  void end(const Ledger& ledger, std::size_t bytes) const noexcept {
    if (!adds) return;
    const double gain = static_cast<double>(ledger.carried_bytes) / static_cast<double>(ledger.sent_bytes);
    const double foretold = seconds(ledger.times[Verb::wait]) * gain;
    kind.note_coded(way, seconds(ledger.times[Verb::call]), foretold, bytes);
  }
};

Communicator::Lesson Communicator::lesson(Terms& terms, const CollectiveCall& call, bool adds) noexcept {
  resting_ = nullptr;  // its place may be taken by this kind
  Experience& kind = experience(terms, call);
  return {terms, kind, adds, adds && terms.policy.has_to_pay(), kind.favourite(), kind.way()};
}

Plain Communicator::plain_at_once(const CollectiveCall& call) noexcept {
  last_ = resting_ = nullptr;
  const Rules& rules = terms_.rules();
  if (rules.off()) return Plain::off;
  if (transport_.size() < 2) return Plain::communicator;
  if (call.bytes_known && call.bytes < rules.least_bytes()) return Plain::small;
  const Match match = terms_.match(call);
  if (match.off) return Plain::off;
  if (match.open) return Plain::no;
  Terms& terms = terms_.of(*match.rule);
  if (call.bytes_known) {
    const Plain why = taut::plain_at_once(terms.policy, call.bytes, transport_.size());
    if (why != Plain::no) return why;
  }
  if (!terms.policy.has_to_pay()) return Plain::no;
  last_ = &experience(terms, call);
  const Plain rest = last_->next();
  if (rest != Plain::no) resting_ = last_;
  return rest;
}

void Communicator::note_plain(std::size_t bytes, std::uint64_t nanoseconds) noexcept {
  if (last_ != nullptr) last_->note_plain(seconds(nanoseconds), bytes);
}

// ---- Before the agreement: before_agreement.cpp has the parts

Facts Communicator::facts(CollectiveCall& call, Bound bound, Plan& plan, Means& means, Lesson& lesson,
                          Status& failure) {
  Terms& terms = lesson.terms;
  Facts mine = identify(call, &terms.policy);
  if (!call.coded()) return mine;
  try {
    plan = make_plan(terms.policy, call, bound, terms.candidates, lesson.way);
    if (call.on_device || plan.plain != Plain::no) return mine;
    gather(call, means, failure);
    if (failure == Status::ok) prepare(call, plan, terms.codecs, means);
    if (failure == Status::ok) look_for_packed(call, terms.policy, means, mine);
    const bool matters = failure == Status::ok && (plan.least_ratio > 0 || plan.candidates.size() > 1);
    if (lesson.favourite >= plan.candidates.size()) lesson.favourite.reset();
    for (std::size_t i = 0; matters && i < plan.candidates.size(); ++i)
      mine.ratio_low[i] =
          i == lesson.favourite.value_or(i) ? estimate_ratio(call, *means.codecs[i], means.place) : 0;
  } catch (const Error& error) {
    failure = error.status();
  } catch (const std::bad_alloc&) {
    failure = Status::out_of_memory;
  }
  if (failure != Status::ok)
    mine.obstacles |= failure == Status::out_of_memory ? Facts::short_of_memory : Facts::failed;
  return mine;
}

// ---- After it: the same decision on every rank

Verdict Communicator::judge(const Facts& agreed, const Plan& plan, std::size_t chosen,
                            Status failure) const noexcept {
  if (!agreed.same_signature()) return {Plain::no, Status::rank_mismatch};
  if (agreed.type_low == 0) return {Plain::type};
  if (agreed.type_low != agreed.type_high) return {Plain::no, Status::rank_mismatch};
  if ((agreed.obstacles & Facts::on_device) != 0) return {Plain::device};
  if ((agreed.obstacles & Facts::short_of_memory) != 0)
    return {Plain::memory};                          // a rank may have had none to make a plan
  if (plan.plain != Plain::no) return {plan.plain};  // on all ranks, as the type is the same
  if (agreed.obstacles == Facts::packed) return {Plain::packed};
  if (agreed.obstacles != 0) return {Plain::no, failure != Status::ok ? failure : Status::peer_failed};
  if (agreed.ratio_low[chosen] < plan.least_ratio) return {Plain::no_gain};
  return {};
}

Task<Verdict> Communicator::run(CollectiveCall call) {
  const Plain why = plain_at_once(call);
  if (why == Plain::no) co_return co_await start(call);
  CallRecord(observer_, call).end({why});
  co_return Verdict{why};
}

Task<Verdict> Communicator::start(CollectiveCall call, bool* served) {
  CallRecord record(observer_, call);
  record.begin();
  complete(call);
  const Match match = terms_.match(call);
  std::optional<Lesson> lesson;
  if (!match.open && match.rule != nullptr)
    lesson.emplace(this->lesson(terms_.of(*match.rule), call, served == nullptr));
  const std::size_t bytes = call.bytes;  // as note_plain() knows them
  const Verdict verdict = co_await serve(call, record, lesson, served);
  record.end(verdict);
  if (record.compressed()) lesson->end(record.ledger(), bytes);  // failed or not: ranks may differ in that
  if (verdict.plain == Plain::no_gain && record.has_agreed()) lesson->end_asking(record.ledger(), bytes);
  co_return verdict;
}

// Where ranks may know different things of the call, they agree on these first, and by that on the rule.
// Calls that others overlap learn nothing from others then: these may have ended on some ranks alone.
Task<Verdict> Communicator::find_rule(CollectiveCall& call, Lane lane, std::optional<Lesson>& lesson,
                                      bool adds) {
  const Facts known = co_await agree(transport_, lane, identify(call, nullptr));
  if (!known.same_signature()) co_return Verdict{Plain::no, Status::rank_mismatch};
  if (known.type_low == 0) co_return Verdict{Plain::type};
  if (known.type_low != known.type_high) co_return Verdict{Plain::no, Status::rank_mismatch};
  call.bytes = static_cast<std::size_t>(known.bytes_high);
  Call agreed = call;
  agreed.sites = known.sites;
  agreed.bytes_known = agreed.type_agreed = agreed.sites_agreed = true;
  const Match match = terms_.rules().match(agreed);
  if (match.off) co_return Verdict{Plain::off};
  lesson.emplace(this->lesson(terms_.of(*match.rule), call, adds));
  if (!adds) {
    lesson->favourite.reset();
    lesson->way = {};
    co_return Verdict{};
  }
  last_ = &lesson->kind;
  co_return Verdict{lesson->has_to_pay ? lesson->kind.next() : Plain::no};
}

Task<Verdict> Communicator::serve(CollectiveCall& call, CallRecord& record,
                                  std::optional<Lesson>& lesson_or_open, bool* served) {
  Lanes own(*this);
  const Lane lane = co_await own;
  int rounds = 1;
  bool bytes_agreed = call.bytes_known;
  if (!lesson_or_open) {
    const Verdict found = co_await find_rule(call, lane + agreement_lane, lesson_or_open, served == nullptr);
    if (found.plain != Plain::no || found.status != Status::ok) co_return found;
    ++rounds;
    bytes_agreed = true;
  }
  Lesson& lesson = *lesson_or_open;
  const Policy& policy = lesson.terms.policy;
  Bound bound = policy.coding.bound;
  Means means{{}, false, false, Reserve(place_), {}};
  Status failure = Status::ok;
  if (is_relative(bound)) gather(call, means, failure);
  if (is_relative(bound) || !bytes_agreed) {
    const Facts known = co_await agree(transport_, lane + agreement_lane, identify(call, &policy));
    if (!known.same_signature()) co_return Verdict{Plain::no, Status::rank_mismatch};
    if ((known.obstacles & Facts::on_device) != 0) co_return Verdict{Plain::device};
    bound = resolved(bound, known.range);
    call.bytes = static_cast<std::size_t>(known.bytes_high);
    ++rounds;
  }
  const Plain plain = rounds == 1 ? Plain::no : taut::plain_at_once(policy, call.bytes, transport_.size());
  if (plain != Plain::no) co_return Verdict{plain};
  Plan made;
  Facts mine = facts(call, bound, made, means, lesson, failure);
  const bool rooted = has_root(call.collective);
  lesson.begin(mine, rooted);
  const Facts agreed = co_await agree(transport_, lane + agreement_lane, mine);
  const std::size_t chosen = best_candidate(made.candidates, agreed.ratio_low);
  record.agreed(rounds, transport_.size(), agreed.ratio_low[chosen]);
  if (means.packed) record.saw_packed();
  Verdict verdict = judge(agreed, made, chosen, failure);
  lesson.go_on(chosen, agreed.ratio_low[chosen], agreed.pace(rooted), verdict);
  if (verdict.plain != Plain::no || verdict.status != Status::ok) co_return verdict;

  std::array<Way, most_alternatives> found;
  lesson.go_by(made.way(), agreed.pace(rooted),
               call.bytes_known ? alternatives(policy, call, made, found) : std::span<const Way>());
  if (served != nullptr) *served = true;
  record.decided(made, made.candidates[chosen]);
  const Team team(transport_, *means.codecs[chosen], means.place, record.ledger(), made.how, lane);
  co_await pipelined(*made.algorithm, team, call.data, made.segments, made.by_nodes ? &nodes_ : nullptr);
  if (call.mean && call.data.out.data != nullptr) divide(call.data.out, transport_.size());
  if (call.move_to != nullptr && call.data.out.count != 0)
    std::memmove(call.move_to, call.data.out.data, call.data.out.bytes());
  if (call.staging != nullptr && record.ledger().status == Status::ok) call.staging->spread(call.data);
  co_return Verdict{Plain::no, record.ledger().status};
}

}  // namespace taut
