// Events as a file.
#pragma once

#include <cstdio>

#include "core/recorder.hpp"

namespace taut {

// In Chrome's trace format: process `rank`, a thread for each segment of the calls under way at a time
// (docs/observe.md). False when writing fails.
bool write_trace(std::FILE* file, const Recorder& recorder, int rank);

}  // namespace taut
