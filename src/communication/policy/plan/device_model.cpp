#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>

#include "communication/policy/plan/cost_model.hpp"
#include "communication/policy/plan/kernel_times.hpp"
#include "communication/team/algorithm.hpp"
#include "communication/team/codec_operations.hpp"

namespace taut {
namespace {

constexpr double together = CodecOperations::max_batch;

// Allreduce of B bytes on P ranks, L on a node, whose links carry `link` bytes of values a second together,
// and each rank's bus within the node `bus`.
struct DeviceAllreduce {
  KernelTimes kernels;
  double B, P, L, link, bus, message;

  double block() const noexcept { return B / P; }
  // Returns the seconds of `operations` operations of a kernel, of `bytes` bytes each.
  static double work(double operations, double of_one) noexcept {
    return operations * (seconds_of_launch + of_one);
  }
  // Returns the seconds in which `across` bytes of values leave a node, and `inside` a rank for its node.
  double moved(double across, double inside) const noexcept { return std::max(across / link, inside / bus); }

  double two_shot() const noexcept {
    const double batches = std::ceil(P / together), of_batch = B / batches;
    const double sums = std::ceil((P - 1) / (together - 1)), summed = 1 + (P - 1) / sums;
    return work(batches, kernels.encode(of_batch)) + work(sums, kernels.sum(std::max(2.0, summed), block())) +
           work(batches, kernels.decode(of_batch)) + 2 * (P - 1) * message +
           2 * moved(L * (P - L) * block(), (L - 1) * block());
  }
  double recursive_doubling() const noexcept {
    const double doublings = log2_ceil(static_cast<int>(P)), inside = log2_ceil(static_cast<int>(L));
    return work(1, kernels.encode(B)) + work(doublings, kernels.add(B)) + work(1, kernels.decode(B)) +
           doublings * message + L * (doublings - inside) * B / link + inside * B / bus;
  }
  double ring() const noexcept {
    return work(1, kernels.encode(block())) + work(P - 1, kernels.accumulate(block())) +
           work(P, kernels.decode(block())) +
           2 * (P - 1) * (message + moved(L < P ? block() : 0, L > 1 ? block() : 0));
  }
  // For a power of two of ranks; others send whole messages first. The steps on a node move the largest
  // parts, so that a node sends what a single rank would.
  double halving_doubling() const noexcept {
    if (!std::has_single_bit(static_cast<std::size_t>(P))) return HUGE_VAL;
    const double first = std::ceil(P / 2), batches = std::ceil(first / together);
    return work(batches, kernels.encode(B / 2 / batches)) + work(first, kernels.accumulate(block())) +
           work(first - 1, kernels.add(block())) +
           work(std::ceil(P / together), kernels.decode(block() * std::min(P, together))) +
           2 * log2_ceil(static_cast<int>(P)) * message + 2 * (1 - L / P) * B / link +
           2 * (1 - 1 / L) * B / bus;
  }
};

}  // namespace

namespace {

struct Choice {
  const char* algorithm;
  double seconds;
};

Choice fastest(const DeviceCall& call) noexcept {
  const auto P = static_cast<double>(call.ranks);
  const DeviceAllreduce model{.kernels = kernel_times(call.card, call.ratio),
                              .B = static_cast<double>(call.bytes),
                              .P = P,
                              .L = call.nodes > 0 ? P / static_cast<double>(call.nodes) : 1,
                              .link = call.link * call.ratio,
                              .bus = call.bus * call.ratio,
                              .message = 3e-6};
  const Choice all[] = {{"two_shot", model.two_shot()},
                        {"recursive_doubling", model.recursive_doubling()},
                        {"halving_doubling", model.halving_doubling()},
                        {"ring", model.ring()}};
  return *std::ranges::min_element(all, {}, &Choice::seconds);
}

// Returns the seconds of NCCL's ring: each rank sends almost twice the values, over the slowest of the links.
double nccl_allreduce(const DeviceCall& call) noexcept {
  constexpr double latency = 20e-6;
  const auto P = static_cast<double>(call.ranks);
  const double slowest = call.nodes == 1 ? call.bus : std::min(call.bus, call.link);
  return latency + 2 * (P - 1) / P * static_cast<double>(call.bytes) / slowest;
}

}  // namespace

const char* device_allreduce(const DeviceCall& call) noexcept { return fastest(call).algorithm; }

std::size_t least_bytes_over_nccl(DeviceCall call) noexcept {
  constexpr double waits = 6, seconds_of_wait = 12e-6;
  call.ratio = 32;
  call.bytes = std::size_t{64} << 10;
  constexpr std::size_t most = std::size_t{1} << 30;
  while (call.bytes < most && fastest(call).seconds + waits * seconds_of_wait > nccl_allreduce(call))
    call.bytes *= 2;
  return call.bytes;
}

}  // namespace taut
