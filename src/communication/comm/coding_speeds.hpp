// Speeds of a codec, measured on the values of a call.
#pragma once

#include "communication/policy/plan/plan.hpp"
#include "communication/team/place.hpp"
#include "compressor/frame/coding.hpp"

namespace taut {

// Least size of a message whose codings are measured.
inline constexpr std::size_t least_measured_bytes = std::size_t{1} << 20;

struct SpeedTest {
  std::size_t values_a_piece = 16384;
  std::uint64_t pause = 0;  // nanoseconds before each operation, in which the codec's other threads sleep
};

// Returns the test for a planned call. If several threads work on a frame, pieces are as long as the frames
// of the call, up to a length that occupies these threads.
SpeedTest speed_test_of(const Policy& policy, const Call& call, const Plan& plan) noexcept;

// Measures a codec on two pieces of the values. Of three times of each operation the least counts, because
// disturbances only add time. Returns zeros if the codec refuses the values. Throws Error(out_of_memory).
CodingSpeeds measure_speeds(const Codec& codec, ConstSlice values, Place& place, SpeedTest test = {});

}  // namespace taut
