// Operation: work of a codec that has been started. The work is complete, or a task completes it, for example
// when kernels on a GPU do the work and leave the host free meanwhile.
#pragma once

#include <optional>

#include "communication/team/task.hpp"
#include "compressor/base/status.hpp"

namespace taut {

// Returns the outcome of action(), or the status of the exception that the action throws.
template <class Action>
SizeOrStatus outcome_of(const Action& action) noexcept {
  try {
    return action();
  } catch (const Error& error) {
    return {error.status()};
  } catch (...) {
    return {Status::out_of_memory};
  }
}

class [[nodiscard]] Operation final : public Waitable {
 public:
  Operation(SizeOrStatus outcome = {}) noexcept : outcome_(outcome) {}

  // Returns the operation that the task of make_task() completes.
  template <class MakeTask>
  static Operation by_task(const MakeTask& make_task) noexcept {
    Operation operation;
    operation.outcome_ = outcome_of([&] {
      operation.task_.emplace(make_task());
      return SizeOrStatus{};
    });
    return operation;
  }

  bool ready() override { return !task_ || task_->advance(); }
  SizeOrStatus result() noexcept {
    return task_ ? outcome_of([&] { return task_->result(); }) : outcome_;
  }
  SizeOrStatus wait() noexcept {
    for (Backoff backoff; !ready();) backoff.pause();
    return result();
  }

 private:
  std::optional<Task<SizeOrStatus>> task_;  // empty: the work is complete
  SizeOrStatus outcome_;
};

}  // namespace taut
