// The reports of a process: those of freed communicators are kept until the process writes its files.
#pragma once

#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <vector>

#include "communication/comm/report.hpp"
#include "communication/team/recorder.hpp"

namespace taut {

// Returns the seconds since this library was loaded: with the program, or in MPI_Init.
double run_time() noexcept;

// Returns the seconds in which the main thread could run and had no processor, as Linux counts them;
// ProcessRank::unknown_wait elsewhere.
double processor_wait() noexcept;

// Keeps the report of a communicator that is freed, if reports are requested. Bounded: beyond most_kept, or
// if memory is short, communicators share an entry.
inline constexpr std::size_t most_kept = 64;
void keep(std::unique_ptr<CommReport> gone) noexcept;

// Adds the reports that are kept to `all`. They do not change while the caller holds the lock.
std::unique_lock<std::mutex> add_kept(std::vector<const CommReport*>& all);

// Prints on stderr that a file, or another output, cannot be written.
void complain(const std::string& name, const char* why) noexcept;

// Writes a file of the process, unless `pattern`, its name for file_name(), is empty. `write(name)` returns 0
// or the error, which is printed.
template <class Write>
void write_output(const std::string& pattern, const ProcessRank& process, const Write& write) {
  if (pattern.empty()) return;
  const std::string name = file_name(pattern, process);
  if (const int code = write(name); code != 0) complain(name, std::strerror(code));
}

// Writes a file, which appears under its name once it is complete. Returns 0 or the error.
int write_text(const std::string& name, const std::string& text) noexcept;

// Writes the events in Chrome's trace format: process `rank`, with a thread for each segment of the calls in
// flight at a time (docs/observe.md). Returns false if writing fails.
bool write_trace(std::FILE* file, const Recorder& recorder, int rank);

}  // namespace taut
