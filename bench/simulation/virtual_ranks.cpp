#include "virtual_ranks.hpp"

#include <algorithm>
#include <exception>
#include <stdexcept>
#include <utility>

namespace simulation {
namespace {

VirtualRanks* entering = nullptr;  // argument of enter(), which makecontext() cannot pass as a pointer

}  // namespace

VirtualRanks::VirtualRanks(int n) : ranks_(static_cast<std::size_t>(n)) {}

void VirtualRanks::enter() {
  VirtualRanks& self = *entering;
  const int rank = self.running_;
  try {
    self.body_(rank);
  } catch (...) {
    if (!self.failure_) self.failure_ = std::current_exception();
  }
  self.ranks_[static_cast<std::size_t>(rank)].ended = true;
  self.leave();
}

void VirtualRanks::run(std::function<void(int)> body) {
  body_ = std::move(body);
  for (int rank = 0; rank < size(); ++rank) {
    Rank& one = ranks_[static_cast<std::size_t>(rank)];
    one.stack = std::make_unique_for_overwrite<std::byte[]>(stack_bytes);
    getcontext(&one.context);
    one.context.uc_stack = {one.stack.get(), 0, stack_bytes};
    one.context.uc_link = nullptr;
    makecontext(&one.context, &VirtualRanks::enter, 0);
    at(0, [this, rank] { resume(rank); });
  }
  while (!events_.empty() && !failure_) {
    // The queue gives no access to move an event out; the order is not affected by moving its action.
    const std::function<void()> action = std::move(const_cast<Event&>(events_.top()).action);
    now_ = events_.top().time;
    events_.pop();
    action();
  }
  if (failure_) std::rethrow_exception(failure_);
  if (!std::ranges::all_of(ranks_, &Rank::ended)) throw std::logic_error("simulated ranks wait for ever");
}

void VirtualRanks::resume(int rank) {
  entering = this;
  running_ = rank;
  swapcontext(&scheduler_, &ranks_[static_cast<std::size_t>(rank)].context);
  running_ = -1;
}

void VirtualRanks::leave() { swapcontext(&ranks_[static_cast<std::size_t>(running_)].context, &scheduler_); }

void VirtualRanks::compute(double seconds) {
  if (!(seconds > 0)) return;
  at(now_ + seconds, [this, rank = running_] { resume(rank); });
  leave();
}

void VirtualRanks::block() {
  Rank& self = ranks_[static_cast<std::size_t>(running_)];
  if (!std::exchange(self.woken, false)) {
    self.blocked = true;
    leave();
    self.woken = false;
  }
}

void VirtualRanks::wake(int rank) {
  Rank& one = ranks_[static_cast<std::size_t>(rank)];
  one.woken = true;
  if (!std::exchange(one.blocked, false)) return;
  at(now_, [this, rank] { resume(rank); });
}

void VirtualRanks::at(double time, std::function<void()> action) {
  events_.push({time, created_++, std::move(action)});
}

}  // namespace simulation
