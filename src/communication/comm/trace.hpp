// Traces: recorded events as a file.
#pragma once

#include <cstdio>

#include "communication/team/recorder.hpp"

namespace taut {

// Writes the events in Chrome's trace format: process `rank`, with a thread for each segment of the calls in
// flight at a time (docs/observe.md). Returns false if writing fails.
bool write_trace(std::FILE* file, const Recorder& recorder, int rank);

}  // namespace taut
