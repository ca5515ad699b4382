#include "communication/policy/plan/cost_model.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "communication/team/algorithm.hpp"
#include "communication/team/codec_operations.hpp"

namespace taut {
namespace {

constexpr double seconds_an_operation = 12e-6, seconds_a_piece = 3e-6;
constexpr double seconds_a_message = 3e-6;
constexpr double values_a_second = 50e9;  // bytes of values: a link of 12.5 GB/s and a ratio of 4

}  // namespace

double device_seconds(double operations, double bytes) noexcept {
  const double rounds = std::max(1.0, bytes / static_cast<double>(device_round_bytes));
  return operations * (seconds_an_operation + rounds * seconds_a_piece);
}

const char* device_allreduce(std::size_t bytes, std::size_t ranks) noexcept {
  const auto B = static_cast<double>(bytes), P = static_cast<double>(ranks);
  const double doublings = log2_ceil(static_cast<int>(ranks));
  const double together = std::min<double>(P, CodecOperations::max_batch), batches = std::ceil(P / together);
  const double shared = 2 * (P - 1) * (B / P / values_a_second + seconds_a_message);
  const struct {
    const char* name;
    double seconds;
  } all[] = {
      {"two_shot", device_seconds(3 * batches, B / P * together) + shared},
      {"recursive_doubling",
       device_seconds(2 + doublings, B) + doublings * (B / values_a_second + seconds_a_message)},
      {"ring", device_seconds(2 * P, B / P) + shared},
  };
  return std::ranges::min_element(all, {}, [](const auto& one) { return one.seconds; })->name;
}

}  // namespace taut
