// A rank whose allocations fail while those of its transport succeed: the transport's memory is not the
// library's.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "communication/team/transport.hpp"
#include "support/allocations.hpp"

namespace taut::test {

// Allocations of this thread succeed while this object exists.
class Relief {
 public:
  Relief() = default;
  Relief(const Relief&) = delete;
  ~Relief() { allocations.until_failure = then_; }

 private:
  std::size_t then_ = std::exchange(allocations.until_failure, Allocations::never);
};

class ShieldedTransport final : public Transport {
 public:
  explicit ShieldedTransport(Transport& inner) : inner_(inner) {}
  int rank() const noexcept override { return inner_.rank(); }
  int size() const noexcept override { return inner_.size(); }

 private:
  std::uint64_t start_send(ConstBytes bytes, int to, Lane lane) override {
    const Relief relief;
    return keep(inner_.send(bytes, to, lane));
  }
  std::uint64_t start_recv(Bytes capacity, int from, Lane lane) override {
    const Relief relief;
    return keep(inner_.recv(capacity, from, lane));
  }
  bool poll(std::uint64_t& operation, SizeOrStatus& moved) override {
    const Relief relief;
    std::optional<Pending>& pending = under_way_[operation];
    if (!pending->ready()) return false;
    moved = pending->result();
    pending.reset();
    return true;
  }
  void abandon(std::uint64_t operation) noexcept override { under_way_[operation].reset(); }

  std::uint64_t keep(Pending pending) {
    std::size_t slot = 0;
    while (slot < under_way_.size() && under_way_[slot]) ++slot;
    if (slot == under_way_.size()) under_way_.emplace_back();
    under_way_[slot].emplace(std::move(pending));
    return slot;
  }

  Transport& inner_;
  std::vector<std::optional<Pending>> under_way_;
};

// A task whose allocations fail from some allocation on.
template <class T>
class Starved final : public Waitable {
 public:
  // `make` makes the task, and may fail as well.
  template <class Make>
  Starved(Make make, std::size_t allocations_left) : left_(allocations_left) {
    step([&] { task_.emplace(make()); });
  }
  bool ready() override {
    bool done = true;
    if (task_) step([&] { done = task_->advance(); });
    return done;
  }
  T result() {
    if (!task_) throw std::bad_alloc();
    return task_->result();
  }
  bool starved() const noexcept { return left_ == 0; }

 private:
  template <class Action>
  void step(Action action) {
    allocations.until_failure = left_;
    try {
      action();
    } catch (const std::bad_alloc&) {
    }
    left_ = std::exchange(allocations.until_failure, Allocations::never);
  }

  std::size_t left_;
  std::optional<Task<T>> task_;
};

}  // namespace taut::test
