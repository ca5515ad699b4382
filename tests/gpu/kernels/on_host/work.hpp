// Work that simulated GPUs still have to do. A piece of work runs after its predecessors, and only when a
// thread waits or asks: chance draws it among the pieces that are ready.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <vector>

namespace taut::on_host {

struct Work;
using WorkRef = std::shared_ptr<Work>;
using Body = std::function<void()>;

struct Work {
  int device;
  Body run;                    // empty: a point in a stream
  std::vector<WorkRef> after;  // predecessors
  bool frees = false;          // memory; such work is done after a fault too
  bool done = false;
  std::chrono::steady_clock::time_point ended = {};
  std::function<bool()> condition = {};  // of memory that the host writes; empty: none

  bool ready() const;
};

class Schedule {
 public:
  WorkRef add(int device, std::vector<WorkRef> after, Body run, bool frees = false);

  // Runs work until `last`, which may be null, has run. Chance decides whether other work runs too.
  void finish(const WorkRef& last);
  void finish_device(int device);

  // Returns true if a stream of a device waits for the host.
  bool waits_for_host() const;

  // Runs a few pieces of work, possibly none.
  void advance();

 private:
  void run_one_of(const std::vector<WorkRef>& ready);
  std::vector<WorkRef> ready() const;

  std::vector<WorkRef> pending_;
};

// Gives other threads time to call the runtime, whose lock the caller holds: work waits for what they write.
void let_others_call();

}  // namespace taut::on_host
