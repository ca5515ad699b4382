// Random configurations: each is drawn from one number, runs, and reports what was wrong.
#pragma once

#include <array>
#include <span>
#include <string>

#include "robustness/random/machine.hpp"
#include "robustness/random/promise.hpp"

namespace taut::test {

struct Tally {
  std::uint64_t calls = 0, plain = 0, values = 0;
  std::uint64_t errors = 0, ended = 0;  // calls of a rank that a fault ended: with a status, with the job
  Errors exactness;
  std::array<std::uint64_t, 16> drawn = {}, struck = {};  // for each fault
};

// Runs a configuration; returns "" if it is correct. `what` receives a description of it, also while it runs.
using Configuration = std::string (*)(Machine& machine, Draw& draw, Tally& tally, std::string& what);

std::string run_teams(Machine&, Draw& draw, Tally& tally, std::string& what);  // algorithms alone
std::string run_communicators(Machine& machine, Draw& draw, Tally& tally,
                              std::string& what);  // with policies and agreement
std::string run_faults(Machine& machine, Draw& draw, Tally& tally, std::string& what);  // and faults
const char* name_of_fault(std::size_t i) noexcept;  // index in Tally::drawn

// A program has its machine, and kinds of configurations: the last one is that with faults.
struct Kind {
  const char* name;
  Configuration run;
};
std::span<const Kind> kinds();
Machine& machine();
std::string
work_of_machine();  // what all configurations together have done on the machine; "" if nothing special

}  // namespace taut::test
