// Parallel work on the chunks of one frame by several threads of this process. The results do not depend on
// the number of threads.
#pragma once

#include <algorithm>

#include "compressor/base/float_environment.hpp"
#include "compressor/base/options.hpp"
#include "compressor/base/status.hpp"
#include "compressor/values/slice.hpp"
#ifndef _OPENMP
#include <system_error>
#include <thread>
#endif

namespace taut {

// Returns the number of threads, at most `threads`, that are worth while for that many chunks. Each thread
// gets one part of the chunks.
constexpr std::size_t useful_threads(int threads, std::size_t chunks) noexcept {
  constexpr std::size_t min_chunks = 8;  // of a thread: with fewer, waking it costs more than it gains
  const auto max = static_cast<std::size_t>(std::clamp(threads, 1, max_threads));
  return std::clamp<std::size_t>(chunks / min_chunks, 1, max);
}

// Calls work(part, range of chunks) for each of `parts` nearly equal ranges, concurrently. A part may wait
// for the parts before it. If there are several parts, each runs in a FloatEnvironment, and `work` must not
// throw.
template <class Work>
void for_each_part(std::size_t parts, std::size_t chunks, const Work& work) {
  if (parts == 1) return work(std::size_t{0}, Range{0, chunks});
  const auto run = [&](std::size_t part) {
    const FloatEnvironment environment;  // each thread has its own floating-point environment
    work(part, part_range(chunks, part, parts));
  };
#ifdef _OPENMP
#pragma omp parallel for schedule(static, 1) num_threads(static_cast <int>(parts))
  for (std::size_t part = 0; part < parts; ++part) run(part);
#else
  std::thread others[max_threads];
  std::size_t started = 1;
  try {
    for (; started < parts; ++started) others[started] = std::thread(run, started);
  } catch (const std::system_error&) {  // no more threads are available: this thread does the rest
  }
  run(0);
  for (std::size_t part = started; part < parts; ++part) run(part);
  for (std::size_t part = 1; part < started; ++part) others[part].join();
#endif
}

// Calls work(range of chunks) -> Status for all ranges and returns the first status that is not ok.
template <class Work>
Status first_failure(std::size_t parts, std::size_t chunks, const Work& work) {
  Status status[max_threads] = {};
  for_each_part(parts, chunks, [&](std::size_t part, Range range) { status[part] = work(range); });
  const auto* failed = std::find_if(status, status + parts, [](Status s) { return s != Status::ok; });
  return failed == status + parts ? Status::ok : *failed;
}

// Calls read(i) -> Status for each chunk, with at most `threads` threads, and returns the first status that
// is not ok.
template <class Read>
Status for_chunks(int threads, std::size_t chunks, const Read& read) {
  return first_failure(useful_threads(threads, chunks), chunks, [&](Range range) {
    for (std::size_t i = range.first; i < range.first + range.count; ++i)
      if (const Status status = read(i); status != Status::ok) return status;
    return Status::ok;
  });
}

}  // namespace taut
