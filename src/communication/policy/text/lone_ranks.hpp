// Detection of a launcher of another MPI: it starts a job of N ranks as N programs of one rank.
#pragma once

#include <span>
#include <string>

namespace taut {

// Returns a sentence that names fault and remedy if the launcher says in the environment ("NAME=value" texts)
// that it started several ranks and that this process is the first of them, but MPI_COMM_WORLD has one rank.
// Returns "" otherwise.
std::string lone_ranks(std::span<const char* const> environment, int ranks_of_world);

}  // namespace taut
