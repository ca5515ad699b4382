#include "gpu/kernels/on_host/work.hpp"

#include <algorithm>
#include <unordered_set>

#include "support/gpu_faults.h"

namespace taut::on_host {
namespace {

// Returns a piece of work and all pieces that run before it.
std::unordered_set<const Work*> all_before(const WorkRef& last) {
  std::unordered_set<const Work*> all{last.get()};
  std::vector<const Work*> open{last.get()};
  while (!open.empty()) {
    const Work* const work = open.back();
    open.pop_back();
    for (const WorkRef& before : work->after)
      if (!before->done && all.insert(before.get()).second) open.push_back(before.get());
  }
  return all;
}

}  // namespace

bool Work::ready() const {
  if (condition && !condition()) return false;
  return std::ranges::all_of(after, [](const WorkRef& before) { return before->done; });
}

WorkRef Schedule::add(int device, std::vector<WorkRef> after, Body run, bool frees) {
  std::erase_if(after, [](const WorkRef& before) { return before == nullptr || before->done; });
  pending_.push_back(std::make_shared<Work>(Work{device, std::move(run), std::move(after), frees}));
  return pending_.back();
}

std::vector<WorkRef> Schedule::ready() const {
  std::vector<WorkRef> ready;
  std::ranges::copy_if(pending_, std::back_inserter(ready),
                       [](const WorkRef& work) { return work->ready(); });
  return ready;
}

void Schedule::run_one_of(const std::vector<WorkRef>& ready) {
  const WorkRef work = ready[stand_in_random(static_cast<unsigned>(ready.size()))];
  if (work->run && (stand_in_faulted() == 0 || work->frees)) work->run();
  work->done = true;
  work->ended = std::chrono::steady_clock::now();
  work->run = nullptr;
  work->after.clear();
  std::erase(pending_, work);
}

void Schedule::finish(const WorkRef& last) {
  if (last == nullptr || last->done) return;
  const bool nothing_else = stand_in_random(2) == 0;
  auto needed = all_before(last);
  while (!last->done) {
    std::vector<WorkRef> candidates = ready();
    const auto is_needed = [&](const WorkRef& work) { return needed.contains(work.get()); };
    if (nothing_else && std::ranges::any_of(candidates, is_needed))  // else it may wait for other work
      std::erase_if(candidates, std::not_fn(is_needed));
    if (!candidates.empty()) {
      run_one_of(candidates);
    } else {
      let_others_call();
      needed = all_before(last);
    }
  }
}

void Schedule::finish_device(int device) {
  for (;;) {
    const auto found = std::ranges::find(pending_, device, &Work::device);
    if (found == pending_.end()) return;
    finish(WorkRef(*found));
  }
}

bool Schedule::waits_for_host() const {
  // Work with a body is a kernel of NCCL, which waits for other ranks.
  return std::ranges::any_of(
      pending_, [](const WorkRef& work) { return work->condition && !work->run && !work->condition(); });
}

void Schedule::advance() {
  for (unsigned steps = stand_in_random(3); steps > 0; --steps) {
    const std::vector<WorkRef> candidates = ready();
    if (!candidates.empty()) run_one_of(candidates);
  }
}

}  // namespace taut::on_host
