// The machine and the kinds of taut_random_gpus: ranks with values on simulated GPUs.
#include "robustness/random/configurations.hpp"
#include "robustness/random/gpus.hpp"
#include "support/gpu_driver.h"

namespace taut::test {

std::span<const Kind> kinds() {
  static constexpr Kind all[] = {{"communicators", run_communicators}, {"faults", run_faults}};
  return all;
}

Machine& machine() {
  static Gpus gpus;
  return gpus;
}

std::string work_of_machine() { return "  " + std::to_string(stand_in_launches()) + " kernels launched\n"; }

}  // namespace taut::test
