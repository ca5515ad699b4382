// The processor and compiler of a measurement, for its record.
#pragma once

#include <string>

namespace bench {

std::string processor();
std::string compiler();
std::string now();  // 2026-01-31T12:00:00Z

}  // namespace bench
