// Kernel times of GPUs, by card: what the codec `planes` takes on float32 values, measured on a card alone
// (bench/results/gpu_kernels). tools/gpu/kernel_times.py writes the table, kernel_times.inc.
#pragma once

#include <string_view>

namespace taut {

// Time of a kernel call on values: a fixed latency, and a time for each byte of values. Both are in seconds.
// The time is within 30 % of the measured times from 64 KiB to 256 MiB.
struct KernelTime {
  double fixed = 0, per_byte = 0;

  double operator()(double bytes) const noexcept { return fixed + per_byte * bytes; }
};

// Times of the kernels of a card on values that compress by `ratio`.
struct KernelTimes {
  const char* card;
  double ratio;  // bytes of values over bytes of frames
  KernelTime encode, decode, decode_add;
  KernelTime add, further_frame;  // a sum of two frames; each further frame of a sum
  KernelTime accumulate;          // a sum of a frame and values

  // Returns the seconds of one sum of `frames` frames, of `bytes` bytes of values each.
  double sum(double frames, double bytes) const noexcept {
    return add(bytes) + (frames - 2) * further_frame(bytes);
  }
};

// Returns the times of a card, by its name in CUDA, which contains the name of its row in the table. Each
// kernel of an unknown card has the longest time of any card; its name is empty. Between two measured ratios,
// times are interpolated linearly in 1 / ratio; beyond, they are those of the nearest ratio.
KernelTimes kernel_times(std::string_view card, double ratio) noexcept;

// Seconds of the launch of an operation's kernels, and of the poll of its result by the host. An assumption:
// kernels were timed without both.
inline constexpr double seconds_of_launch = 4e-6;

}  // namespace taut
