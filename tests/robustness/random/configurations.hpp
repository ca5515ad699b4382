// Random configurations: each is drawn from one number, runs, and says what was wrong.
#pragma once

#include <array>
#include <string>

#include "robustness/random/promise.hpp"

namespace taut::test {

struct Tally {
  std::uint64_t calls = 0, plain = 0, values = 0;
  std::uint64_t errors = 0, ended = 0;  // calls of a rank that a fault ended: by a status, with the job
  Errors exactness;
  std::array<std::uint64_t, 16> drawn = {}, struck = {};  // of each fault
};

// "" if all went well. `what` says what was drawn, also while it runs.
using Configuration = std::string (*)(Draw& draw, Tally& tally, std::string& what);

std::string run_teams(Draw& draw, Tally& tally, std::string& what);          // algorithms alone
std::string run_communicators(Draw& draw, Tally& tally, std::string& what);  // with policies and agreement
std::string run_faults(Draw& draw, Tally& tally, std::string& what);         // and faults
const char* name_of_fault(std::size_t i) noexcept;                           // of Tally::drawn

}  // namespace taut::test
