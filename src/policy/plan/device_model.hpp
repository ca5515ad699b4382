// Model of the time that coding on a GPU takes. It is a model: no part of it has been measured on a GPU. The
// time of an operation is that of its launches, its copy and its poll, and then one round of the
// multiprocessors for every 4 MiB: a GPU of 132 multiprocessors with 2 blocks of 16 KiB each works on so much
// at a time. A small frame leaves it idle, so that few large operations beat many small ones.
#pragma once

#include <cstddef>

namespace taut {

// Values that a GPU works on at a time, in bytes. A segment of a message on GPUs has no fewer.
inline constexpr std::size_t device_round_bytes = std::size_t{4} << 20;

// Returns the seconds of `operations` operations, one after the other, each on `bytes` bytes of values.
double device_seconds(double operations, double bytes) noexcept;

// Returns the name of the algorithm of an allreduce with the least time: recursive doubling has the fewest
// steps, ring and two-shot move the fewest bytes, ring codes the fewest bytes, and two-shot codes up to 8
// blocks in one operation.
const char* device_allreduce(std::size_t bytes, std::size_t ranks) noexcept;

}  // namespace taut
