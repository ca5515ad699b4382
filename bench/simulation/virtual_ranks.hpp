// Virtual ranks: many ranks of one program in one thread, under one simulated clock. Each rank runs on a
// stack of its own. Only compute() and events advance the clock, so that a simulation gives the same times on
// any machine and under any load.
#pragma once

#include <ucontext.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <queue>
#include <vector>

namespace simulation {

class VirtualRanks {
 public:
  explicit VirtualRanks(int n);
  VirtualRanks(const VirtualRanks&) = delete;

  // Runs body(rank) on every rank from time 0 on, and returns when all have returned. Throws what a rank has
  // thrown first, and std::logic_error if ranks are left that nothing wakes.
  void run(std::function<void(int rank)> body);

  int size() const noexcept { return static_cast<int>(ranks_.size()); }
  double now() const noexcept { return now_; }  // seconds

  // For the running rank. compute(): its processor is busy for that long. block(): waits for wake(), and
  // returns at once if wake() was called since the last block().
  void compute(double seconds);
  void block();

  void wake(int rank);
  void at(double time, std::function<void()> action);  // runs the action at that time, outside all ranks

 private:
  static constexpr std::size_t stack_bytes = std::size_t{256} << 10;
  struct Rank {
    ucontext_t context;
    std::unique_ptr<std::byte[]> stack;
    bool blocked = false, woken = false, ended = false;
  };
  struct Event {
    double time;
    std::uint64_t number;  // events of one time run in the order of their creation
    std::function<void()> action;
    bool operator>(const Event& other) const noexcept {
      return time != other.time ? time > other.time : number > other.number;
    }
  };

  static void enter();
  void resume(int rank);
  void leave();

  std::vector<Rank> ranks_;
  ucontext_t scheduler_;
  std::function<void(int)> body_;
  std::exception_ptr failure_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::uint64_t created_ = 0;
  double now_ = 0;
  int running_ = -1;
};

}  // namespace simulation
