#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>

#include "communication/policy/plan/cost_model.hpp"
#include "communication/policy/plan/kernel_times.hpp"
#include "communication/policy/plan/policy.hpp"
#include "communication/team/algorithm.hpp"
#include "communication/team/codec_operations.hpp"

namespace taut {
namespace {

constexpr double batch = CodecOperations::max_batch;  // blocks that one operation codes

// Allreduce of B bytes on P ranks, L ranks a node. `link` and `bus`: as in DeviceCall, but in bytes of
// values. The functions below return seconds.
struct DeviceAllreduce {
  KernelTimes kernels;
  double B, P, L, link, bus;
  double latency;  // seconds of a message besides its bytes

  double block() const noexcept { return B / P; }
  // Returns the time of `operations` operations, the kernels of which take `seconds` each.
  static double work(double operations, double seconds) noexcept {
    return operations * (seconds_of_launch + seconds);
  }
  // Returns the time in which `across` bytes leave a node, and `inside` bytes leave a rank for its node.
  double transfer(double across, double inside) const noexcept {
    return std::max(across / link, inside / bus);
  }

  double two_shot() const noexcept {
    const double batches = std::ceil(P / batch), of_batch = B / batches;
    const double sums = std::ceil((P - 1) / (batch - 1)), summed = 1 + (P - 1) / sums;
    return work(batches, kernels.encode(of_batch)) + work(sums, kernels.sum(std::max(2.0, summed), block())) +
           work(batches, kernels.decode(of_batch)) + 2 * (P - 1) * latency +
           2 * transfer(L * (P - L) * block(), (L - 1) * block());
  }
  double recursive_doubling() const noexcept {
    const double doublings = log2_ceil(static_cast<int>(P)), inside = log2_ceil(static_cast<int>(L));
    return work(1, kernels.encode(B)) + work(doublings, kernels.add(B)) + work(1, kernels.decode(B)) +
           doublings * latency + L * (doublings - inside) * B / link + inside * B / bus;
  }
  double ring() const noexcept {
    return work(1, kernels.encode(block())) + work(P - 1, kernels.accumulate(block())) +
           work(P, kernels.decode(block())) +
           2 * (P - 1) * (latency + transfer(L < P ? block() : 0, L > 1 ? block() : 0));
  }
  // For a power of two of ranks; others send whole messages first. The steps on a node move the largest
  // parts, so that a node sends what a single rank would.
  double halving_doubling() const noexcept {
    if (!std::has_single_bit(static_cast<std::size_t>(P))) return HUGE_VAL;
    const double first = std::ceil(P / 2), batches = std::ceil(first / batch);
    return work(batches, kernels.encode(B / 2 / batches)) + work(first, kernels.accumulate(block())) +
           work(first - 1, kernels.add(block())) +
           work(std::ceil(P / batch), kernels.decode(block() * std::min(P, batch))) +
           2 * log2_ceil(static_cast<int>(P)) * latency + 2 * (1 - L / P) * B / link +
           2 * (1 - 1 / L) * B / bus;
  }
};

struct Choice {
  const char* algorithm;
  double seconds;
};

double ranks_a_node(const DeviceCall& call) noexcept {
  return call.nodes > 0 ? static_cast<double>(call.ranks) / static_cast<double>(call.nodes) : 1;
}

// Returns the fastest algorithm, and its seconds.
Choice fastest(const DeviceCall& call) noexcept {
  const DeviceAllreduce model{.kernels = kernel_times(call.card, call.ratio),
                              .B = static_cast<double>(call.bytes),
                              .P = static_cast<double>(call.ranks),
                              .L = ranks_a_node(call),
                              .link = call.link * call.ratio,
                              .bus = call.bus * call.ratio,
                              .latency = 3e-6};
  const Choice all[] = {{"two_shot", model.two_shot()},
                        {"recursive_doubling", model.recursive_doubling()},
                        {"halving_doubling", model.halving_doubling()},
                        {"ring", model.ring()}};
  return *std::ranges::min_element(all, {}, &Choice::seconds);
}

constexpr double nccl_latency_on_node = 18e-6;  // seconds of a collective of NCCL, besides its bytes

// Returns the seconds of a call by nodes: values on the node, then frames along rails that share the node's
// links, then values on the node. Segments, as many as plans have on GPUs, overlap these three.
double seconds_by_nodes(const DeviceCall& call) noexcept {
  constexpr double max_segments_on_gpus = 16;
  const double L = ranks_a_node(call);
  const auto bytes = static_cast<double>(call.bytes);
  DeviceCall rail = call;
  rail.bytes = static_cast<std::size_t>(bytes / L);
  rail.ranks = call.nodes;
  rail.link = call.link / L;
  const double of_frame = bytes / static_cast<double>(call.ranks);
  const double segments = std::clamp(std::floor(of_frame / device_wave_bytes), 1.0, max_segments_on_gpus);
  const double across = fastest(rail).seconds, on_node = (1 - 1 / L) * bytes / call.bus;
  const double longest = std::max(across, on_node);
  return longest + (across + 2 * on_node - longest) / segments + 2 * segments * nccl_latency_on_node;
}

// Returns the seconds of NCCL's own allreduce. `around`, `across`: bytes of a rank in a ring of all ranks,
// and of a node to other nodes.
double nccl_allreduce(const DeviceCall& call) noexcept {
  constexpr double latency = 20e-6;
  const auto bytes = static_cast<double>(call.bytes);
  const double P = static_cast<double>(call.ranks), L = ranks_a_node(call), N = P / L;
  const double around = 2 * (1 - 1 / P) * bytes, across = 2 * (1 - 1 / N) * bytes;
  if (N == 1) return latency + around / call.bus;
  const double ring = around / (L > 1 ? std::min(call.bus, call.link) : call.link);
  const double rails = std::max(across / call.link, 2 * (1 - 1 / L) * bytes / call.bus);
  return latency + std::min(ring, rails);  // a tree sends as many bytes between nodes
}

bool may_have_nvlink(std::string_view card) noexcept {
  const auto has = [&](std::string_view part) { return card.find(part) != card.npos; };
  const bool pairs = has("PCI") || has("NVL");  // bridges join two cards, not a node
  return !pairs && (has("SXM") || has("HBM3") || has("H200") || has("B200") || has("B300"));
}

}  // namespace

DeviceCall device_call(const Call& call) noexcept {
  const bool over_pcie = call.over_nccl && !may_have_nvlink(call.card);
  const double shared = DeviceCall().link / call.rails;
  return {.bytes = call.bytes,
          .ranks = static_cast<std::size_t>(call.ranks),
          .nodes = static_cast<std::size_t>(call.nodes),
          .card = call.card,
          .link = shared,
          .bus = over_pcie ? pcie_speed : nvlink_speed};
}

const char* device_allreduce(const DeviceCall& call) noexcept { return fastest(call).algorithm; }

NcclForecast forecast_over_nccl(const DeviceCall& call) noexcept {
  constexpr double waits = 6, seconds_of_wait = 12e-6;
  const bool has_nodes = call.nodes > 1 && call.nodes < call.ranks;
  const double flat = fastest(call).seconds, on_nodes = has_nodes ? seconds_by_nodes(call) : HUGE_VAL;
  return {.by_nodes = on_nodes < flat,
          .seconds = std::min(flat, on_nodes) + waits * seconds_of_wait,
          .nccl_seconds = nccl_allreduce(call)};
}

namespace {

// Returns true if frames on a node, of halving_doubling, take less time than values. A control message over
// NCCL has room for the headers of two frames. Of more frames in a message, each rank would fetch the headers
// from the GPU one by one.
bool frames_save_time(const DeviceCall& call, int segments) noexcept {
  const int frames = power_of_two_within(static_cast<int>(call.nodes));
  if (frames > 2) return false;
  const double L = ranks_a_node(call), others = (1 - 1 / L) * static_cast<double>(call.bytes);
  const KernelTime decode = kernel_times(call.card, call.ratio).decode;
  const double operations = segments * std::ceil(L * frames / batch);
  return others * (1 - 1 / call.ratio) / call.bus >
         operations * (seconds_of_launch + decode.fixed) + others * decode.per_byte;
}

}  // namespace

bool shares_frames(const Policy& policy, const Call& call, const AlgorithmInfo& algorithm,
                   int segments) noexcept {
  if (!algorithm.hands_over_frames || !call.equal_nodes() || policy.history > 0) return false;
  if (policy.by_nodes == Policy::ByNodes::frames) return true;
  DeviceCall device = device_call(call);
  device.ratio = 2;  // low, as that of the call is unknown: at 1.4, decoding takes as long as the bus
  return call.over_nccl && !policy.coding.bound.exact() && frames_save_time(device, segments);
}

namespace {

constexpr double max_ratio = 32;  // which few values exceed

bool gains(DeviceCall call, double ratio) noexcept {
  call.ratio = ratio;
  return forecast_over_nccl(call).gain() >= 1;
}

}  // namespace

double min_ratio_over_nccl(DeviceCall call) noexcept {
  if (!gains(call, max_ratio)) return HUGE_VAL;
  double low = 1, high = max_ratio;
  while (high > 1.05 * low) {
    const double middle = std::sqrt(low * high);
    (gains(call, middle) ? high : low) = middle;
  }
  return high;
}

std::size_t min_bytes_over_nccl(DeviceCall call) noexcept {
  constexpr std::size_t max = std::size_t{1} << 30;
  call.bytes = std::size_t{64} << 10;
  while (call.bytes < max && !gains(call, max_ratio)) call.bytes *= 2;
  return call.bytes;
}

}  // namespace taut
