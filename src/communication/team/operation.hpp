// Operation: work of a codec that has been started. The work is complete, or a task completes it, for example
// when kernels on a GPU do the work and leave the host free meanwhile.
#pragma once

#include <optional>

#include "communication/team/task.hpp"
#include "compressor/base/status.hpp"

namespace taut {

// Returns the outcome of action(), or the status of the exception that the action throws.
template <class Action>
Sized sized_outcome(const Action& action) noexcept {
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
  Operation(Sized outcome = {}) noexcept : outcome_(outcome) {}

  // Returns the operation that the task of make_task() completes.
  template <class MakeTask>
  static Operation by_task(const MakeTask& make_task) noexcept {
    Operation operation;
    operation.outcome_ = sized_outcome([&] {
      operation.task_.emplace(make_task());
      return Sized{};
    });
    return operation;
  }

  bool ready() override { return !task_ || task_->advance(); }
  Sized result() noexcept {
    return task_ ? sized_outcome([&] { return task_->result(); }) : outcome_;
  }
  Sized wait() noexcept {
    for (Backoff backoff; !ready();) backoff.pause();
    return result();
  }

 private:
  std::optional<Task<Sized>> task_;  // empty: the work is complete
  Sized outcome_;
};

}  // namespace taut
