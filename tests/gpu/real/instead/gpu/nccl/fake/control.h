// Reports of the real NCCL, in place of the controls of the simulated one.
#pragma once

#include <string>

namespace taut::fake_nccl {

// Returns the errors that communicators of this process have, "" if none.
std::string take_report();

}  // namespace taut::fake_nccl
