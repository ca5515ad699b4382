// Detects the launcher of another MPI, which starts a job of N ranks as N programs of one rank.
#pragma once

#include <span>
#include <string>

namespace taut {

// Returns a sentence that names fault and remedy if, by the variables in `environment` ("NAME=value" texts),
// the launcher has started several ranks, of which this process is the first, though MPI_COMM_WORLD has one
// rank. Returns "" otherwise.
std::string wrong_launcher_text(std::span<const char* const> environment, int ranks_of_world);

}  // namespace taut
