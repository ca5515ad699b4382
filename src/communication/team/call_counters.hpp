// Call counters: the record of one running call on one rank, with its first failure, encodings, bytes and
// times.
#pragma once

#include <algorithm>
#include <cstdint>

#include "communication/team/recorder.hpp"
#include "compressor/base/status.hpp"

namespace taut {

struct CallCounters {
  Status status = Status::ok;  // the first failure
  std::uint64_t encodes = 0, combines = 0, decodes = 0;
  std::uint64_t value_bytes = 0, frame_bytes = 0;  // encoded values, and their frames
  std::uint64_t sent_messages = 0, sent_bytes = 0;
  std::uint64_t carried_bytes = 0;  // bytes of values that the sent frames represent
  PhaseTimes times;
  CallTag tag;

  void note(Status failure) noexcept {
    if (status == Status::ok) status = failure;
  }
  void sent(std::size_t bytes, std::size_t carried) noexcept {
    ++sent_messages;
    sent_bytes += bytes;
    carried_bytes += carried;
  }
  // Adds the time since `begin`. Time in which codec operations overlap counts once, for the operation that
  // completes first.
  void spent(Phase phase, int segment, std::uint64_t begin, std::size_t bytes) noexcept {
    const std::uint64_t end = clock_now();
    const bool coding = phase <= Phase::decode;
    times[phase] += end - (coding ? std::max(begin, coded_until) : begin);
    if (coding) coded_until = end;
    tag.add(phase, segment, begin, end, bytes);
  }

  std::uint64_t coded_until = 0;  // end of the last codec operation
};

}  // namespace taut
