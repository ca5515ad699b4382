// All figures that were asked for, in an order in which neighbours share their data.
#pragma once

#include "options.hpp"

namespace bench {

// False if a bound of ours is violated. Throws std::exception on names that are unknown and files that cannot
// be read.
bool run_suite(const Options& options, int argc, char** argv);

}  // namespace bench
