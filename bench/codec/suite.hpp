// The figures that were asked for, ordered so that consecutive ones share their data.
#pragma once

#include "options.hpp"

namespace bench {

// Runs the suite. Returns false if a bound of Taut's is violated. Throws std::exception for unknown names and
// unreadable files.
bool run_suite(const Options& options, int argc, char** argv);

}  // namespace bench
