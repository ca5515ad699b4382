// Model of the time that coding on a GPU takes, which no measurement has confirmed. An operation takes the
// time of its launches, its copy and its poll, and one round of the multiprocessors for each 4 MiB: half of
// the values that 132 multiprocessors hold with 4 thread blocks each, 16 KiB for a thread block. A small
// frame leaves most multiprocessors idle, so few large operations are faster than many small ones.
#pragma once

#include <cstddef>

namespace taut {

// Bytes of values that a GPU codes in one round. No segment of a call on GPUs is smaller.
inline constexpr std::size_t device_round_bytes = std::size_t{4} << 20;

// Returns the seconds of `operations` operations, one after the other, each on `bytes` bytes of values.
double device_seconds(double operations, double bytes) noexcept;

// Returns the name of the allreduce algorithm that is fastest in this model: recursive doubling has the
// fewest steps, ring and two-shot move the fewest bytes, ring codes the fewest bytes, and two-shot codes up
// to 8 blocks of the values in one operation.
const char* device_allreduce(std::size_t bytes, std::size_t ranks) noexcept;

}  // namespace taut
