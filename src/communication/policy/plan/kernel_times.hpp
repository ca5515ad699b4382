// Kernel times of GPUs, by card: what the codec `planes` takes on float32 values, measured on a card alone
// (bench/results/gpu_kernels). tools/gpu/kernel_times.py writes the table, kernel_times.inc.
#pragma once

#include <string_view>

namespace taut {

// Time of a kernel call on values: a fixed latency, and a time for each byte of values. Within 30 % of the
// measured times from 64 KiB to 256 MiB.
struct KernelTime {
  double fixed = 0, a_byte = 0;  // seconds

  double operator()(double bytes) const noexcept { return fixed + a_byte * bytes; }
};

// Kernels of a card on values of a ratio.
struct KernelTimes {
  const char* card;
  double ratio;  // bytes of values in a byte of their frame
  KernelTime encode, decode, decode_add;
  KernelTime add, further_frame;  // a sum of two frames; each further frame of a sum
  KernelTime accumulate;          // a sum of a frame and values

  // Returns the seconds of one sum of `frames` frames, of `bytes` bytes of values each.
  double sum(double frames, double bytes) const noexcept {
    return add(bytes) + (frames - 2) * further_frame(bytes);
  }
};

// Returns the kernels of the card whose name, as CUDA has it, contains that of a row. Unknown cards have the
// longest time of any card, for each kernel; their name is empty. Between two measured ratios, times are
// interpolated in the bits of a value; beyond, they are those of the nearest one.
KernelTimes kernel_times(std::string_view card, double ratio) noexcept;

// Launch of an operation's kernels, and the poll of its result by the host, in seconds. An assumption:
// kernels were timed without both.
inline constexpr double seconds_of_launch = 4e-6;

}  // namespace taut
