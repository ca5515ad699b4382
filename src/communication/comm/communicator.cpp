#include "communication/comm/communicator.hpp"

#include "communication/comm/active_call.hpp"
#include "communication/gpu/stream_order.hpp"

namespace taut {
namespace {

constexpr Lane lanes_of_a_call = 128;  // one for each segment, and one for the agreement
static_assert(max_segments < lanes_of_a_call);

}  // namespace

Communicator::Communicator(Transport& transport, Place& place, Rules rules, const std::string& kernels,
                           Observer observer, Nodes nodes)
    : transport_(transport),
      place_(place),
      tuner_(std::move(rules), transport.size(), kernels),
      nodes_(std::move(nodes)),
      observer_(observer) {
  if (observer_.table == nullptr) observer_.table = &own_table_;
}

void Communicator::complete(Call& call) const noexcept {
  call.ranks = transport_.size();
  call.card = card_;
  call.over_nccl = over_nccl_;
  call.nodes = nodes_.several() ? nodes_.count() : on_one_node_ ? 1 : 0;
  call.leaders = nodes_.several() ? nodes_.leaders() : 0;
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

  // Returns the number of the call among those of the communicator that have lanes: the same on all ranks.
  std::uint64_t number() const noexcept { return number_; }

 private:
  static_assert(calls_at_a_time * lanes_of_a_call <= lanes);
  std::uint64_t number_;
  std::uint64_t& ended_;
};

Task<Verdict> Communicator::run(CollectiveCall call, std::optional<EarlyDecision> early, bool* compressed) {
  if (!early) early = decide(call, compressed != nullptr);
  Verdict verdict{early->fallback, Status::ok, early->plain_times()};
  std::optional<Lanes> own;
  if (verdict.good()) own.emplace(*this);
  Status earlier = Status::ok;
  if (call.begins != nullptr) earlier = co_await *call.begins;
  ActiveCall active(*this, std::move(call), *early, compressed);
  if (verdict.good()) {
    verdict = co_await active.resolve_rule(own->number(), co_await *own, earlier);
    if (verdict.good()) verdict = co_await active.resolve_period();
    if (verdict.good()) verdict = co_await active.resolve_trial();
    if (verdict.good()) verdict = co_await active.resolve_bound();
    if (verdict.good()) verdict = co_await active.resolve_coding();
    if (verdict.good()) verdict = co_await active.agree(active.plan());
    if (verdict.good()) verdict = co_await active.execute();
  }
  active.end(verdict);
  co_return verdict;
}

}  // namespace taut
