// Tuned calls: many calls of one kind, as the library's own tuner serves them from the first call on. Each
// route, and plain MPI, is simulated once, or forecast by the cost model where there are too many ranks to
// simulate. The tuner is then given these times call by call.
#pragma once

#include "simulate.hpp"

namespace simulation {

struct TunedCalls {
  double plain = 0;            // seconds of a call by plain MPI
  double flat = 0, nodes = 0;  // by the plan on all ranks and by nodes; 0: there is none
  std::string first;           // how the first call is served
  int first_plain = 0;         // number of the first call by plain MPI, from 1 on; 0: there is none
  double first_100 = 0;        // seconds of the first 100 calls
  double after_10 = 0;         // mean seconds of the 11th to the 100th call

  // Returns the seconds of the fastest of plain MPI and both routes.
  double best() const noexcept;
};

enum class Times : std::uint8_t { simulated, modelled };

// `call.policy`: one under which the tuner may choose plain MPI.
TunedCalls tuned_calls(const CollectiveCall& call, const Link& link, Times times = Times::simulated);

}  // namespace simulation
