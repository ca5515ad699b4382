// The machine and the kinds of taut_random: the host.
#include "robustness/random/configurations.hpp"

namespace taut::test {

std::span<const Kind> kinds() {
  static constexpr Kind all[] = {
      {"teams", run_teams}, {"communicators", run_communicators}, {"faults", run_faults}};
  return all;
}

Machine& machine() {
  static Machine host;
  return host;
}

std::string work_of_machine() { return ""; }

}  // namespace taut::test
