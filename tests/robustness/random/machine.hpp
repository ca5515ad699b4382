// A machine is what the ranks of a configuration run on: the host alone, or also GPUs (gpus.hpp).
#pragma once

#include "robustness/random/policies.hpp"
#include "support/loopback.hpp"

namespace taut::test {

struct Scenario;

// The choice of configurations. Here: for ranks on the host.
class Choices {
 public:
  virtual ~Choices() = default;
  virtual int draw_ranks(Draw& draw) const { return test::draw_ranks(draw, 64); }
  virtual int draw_ranks_with_faults(Draw& draw) const { return 2 + draw.pick(draw.one_in(6) ? 16 : 6); }
  virtual int draw_calls(Draw& draw) const { return 1 + draw.pick(4); }
  virtual std::string draw_policy(Draw& draw, double scale) const { return test::draw_policy(draw, scale); }
  virtual Call draw_call(Draw& draw, int P, const std::vector<int>& node_of, double scale) const {
    return test::draw_call(draw, P, node_of, scale);
  }
  virtual int faults() const;  // number of kinds
  // Draws whether calls under this policy are repeated on the host, with the same bits.
  virtual bool repeats_on_host(Draw&, const std::string& /*policy*/) const { return false; }
};

// Here: the host alone.
class Machine : public Choices {
 public:
  explicit Machine(LoopbackHub::Copy copy = nullptr) : copies_messages_(copy) {}

  // Returns the function that copies messages from and to the memory of ranks.
  LoopbackHub::Copy copies_messages() const { return copies_messages_; }

  // Begins a configuration: draws where each rank has its memory. Returns a description.
  virtual std::string enter(Draw&, int /*P*/) { return ""; }
  virtual void join(Communicator&, int /*rank*/) {}
  // Moves the memory of a rank to the place that was drawn; the request then has the addresses there.
  virtual void move(Memory&, int /*rank*/, CollectiveCall&) {}
  // Moves the memory of all ranks back, after a call.
  virtual void fetch(Memory&) {}

  // Learns of the scenario of a configuration before any memory is moved.
  virtual void expect(const Scenario&) {}
  // Begins a fault of the machine itself, if the scenario has one; disarm() ends it, if it can end, and
  // returns true if it has struck.
  virtual void arm(const Scenario&) {}
  virtual bool disarm() { return false; }

  // Ends a configuration: its communicators are gone. Returns what they have left behind; "" if nothing.
  virtual std::string leave() { return ""; }

 private:
  LoopbackHub::Copy copies_messages_;
};

}  // namespace taut::test
