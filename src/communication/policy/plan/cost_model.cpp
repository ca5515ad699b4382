#include "communication/policy/plan/cost_model.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "communication/team/hierarchical.hpp"

namespace taut {
namespace {

// Cost of an agreement: one exchange of messages of 184 bytes for each doubling of the ranks, and samples.
constexpr double seconds_of_exchange = 10e-6, seconds_of_samples = 20e-6;

constexpr double min_message = 64 << 10;  // least bytes of a message that travels as frames

const AlgorithmInfo* usual_algorithm(Collective collective) noexcept {
  for (const char* name : {"ring", "binomial", "linear", "pairwise", "recursive_doubling", "direct"})
    if (const AlgorithmInfo* found = find_algorithm(collective, name)) return found;
  return nullptr;
}

// Returns true if every rank of a node sends other values over its link.
bool has_own_values(Collective collective) noexcept {
  return collective == Collective::alltoall || collective == Collective::send || of_neighbours(collective);
}

Call call_of(const CallEstimate& call) noexcept {
  return {.collective = call.collective, .ranks = call.ranks, .nodes = call.nodes};
}

double ranks_a_node(const Call& call) noexcept {
  return call.nodes < 2 ? 1 : static_cast<double>(call.ranks) / call.nodes;
}

// Returns the number of ranks that code or copy as much as the busiest one of their node at the same time.
double busy_ranks(const Call& call) noexcept {
  return joins_blocks(call.collective) ? 1 : ranks_a_node(call);
}

// Returns the seconds of the copies on a node, for each byte of the message. The ranks of a node exchange
// what such a call among them would move; in an alltoall only their blocks for each other, and in a gather or
// scatter those of the node.
double copy_pace(const Call& call, const NodeMemory& memory) noexcept {
  const double ranks = ranks_a_node(call);
  if (ranks < 2 || call.collective == Collective::send || of_neighbours(call.collective)) return 0;
  constexpr double accesses = 3;  // of each byte: a read, and a write, which reads the cache line first
  const bool in_blocks = joins_blocks(call.collective) || call.collective == Collective::alltoall;
  const double moved = link_traffic(call.collective, static_cast<int>(ranks)) / (in_blocks ? call.nodes : 1);
  return moved * std::max(1 / memory.copy_speed, busy_ranks(call) * accesses / memory.bandwidth);
}

// Returns the least seconds of coding, for each byte of the message: the ranks of a node share its memory.
double min_coding_pace(const Call& call, const CodingWork& work, const NodeMemory& memory) noexcept {
  constexpr double accesses = 1.5;  // of each byte that is coded, in the mean of encoding and decoding
  const int codings = work.cost.encodes + work.cost.combines + work.cost.decodes;
  return ranks_a_node(call) < 2 ? 0 : busy_ranks(call) * accesses * codings * work.share / memory.bandwidth;
}

// Returns the seconds of plain MPI for each byte of the message. Copies and transfer overlap in segments.
double plain_pace(const Call& call, double link, const NodeMemory& memory) noexcept {
  constexpr double segments = 4;
  const double wire = link_traffic(call) / link, copies = copy_pace(call, memory);
  return std::max(wire, copies) + std::min(wire, copies) / segments;
}

// Returns the seconds of a compressed call for each byte of the message. By nodes, the values of a node are
// copied, and added, before they are coded.
double coded_pace(const Call& call, const CodingWork& work, const CodingSpeeds& speeds, bool by_values,
                  bool by_nodes, const NodeMemory& memory) noexcept {
  const double coded = std::max(coding_seconds(work, speeds, by_values), min_coding_pace(call, work, memory));
  if (!by_nodes) return coded;
  const double added = reduces(call.collective) ? (1 - 1 / ranks_a_node(call)) / memory.add_speed : 0;
  return coded + copy_pace(call, memory) + added;
}

// Returns the seconds of a coded message: the sender encodes, the receiver decodes, and there is no
// agreement.
double coded_message_seconds(const CallEstimate& message, double link) noexcept {
  const double frames = std::max(message.bytes / message.ratio, min_message);
  const double rate = link * duplex_link_share(message.ranks) / ranks_a_node(call_of(message));
  return frames / rate + 2 * message.bytes * message.coding_seconds_per_byte + seconds_of_samples;
}

double agreement_seconds(int ranks) noexcept {
  return seconds_of_samples + seconds_of_exchange * log2_ceil(ranks);
}

// Returns the greatest x from `min` to `max`, to a millionth, for which gains(x) is true. gains() must be
// true below some number and false above it. Infinity: it is true at `max`; 0: it is false at `min`.
double break_even(double min, double max, auto gains) noexcept {
  if (gains(max)) return HUGE_VAL;
  if (!gains(min)) return 0;
  while (max > min * (1 + 1e-6)) (gains(std::sqrt(min * max)) ? min : max) = std::sqrt(min * max);
  return min;
}

// Returns the call with ratios that are `factor` times as high; none falls below 1.
MeasuredCall with_ratios(MeasuredCall measured, double factor) noexcept {
  for (CodingSpeeds& speeds : measured.speeds)
    if (speeds.known())
      speeds.ratio = static_cast<float>(std::max(1.0, static_cast<double>(speeds.ratio) * factor));
  return measured;
}

}  // namespace

double link_traffic(Collective collective, int ranks) noexcept {
  if (collective == Collective::send || of_neighbours(collective)) return 1;
  if (computes_prefixes(collective)) return log2_ceil(ranks);
  const double others = 1 - 1.0 / ranks;
  const bool twice = collective == Collective::allreduce || collective == Collective::bcast ||
                     collective == Collective::reduce;
  return twice ? 2 * others : others;
}

double link_traffic(const Call& call) noexcept {
  if (call.nodes < 2) return link_traffic(call.collective, call.ranks);
  return link_traffic(call.collective, call.nodes) *
         (has_own_values(call.collective) ? ranks_a_node(call) : 1);
}

double predicted_plain_seconds(const Call& call, double wait, double sent_bytes) noexcept {
  return wait * link_traffic(call.collective, call.ranks) * static_cast<double>(call.bytes) /
         std::max(sent_bytes, 1.0);
}

double duplex_link_share(int ranks) noexcept { return ranks == 2 ? 2.0 / 3 : 1; }

double plain_seconds(const CallEstimate& call, double link, const NodeMemory& memory) noexcept {
  return plain_pace(call_of(call), link, memory) * call.bytes;
}

// Returns the seconds of a compressed call. Frames pass a link as often as the messages of plain MPI, because
// large messages are scattered, or forwarded in segments.
double coded_seconds(const CallEstimate& estimate, double link, const NodeMemory& memory) noexcept {
  if (estimate.collective == Collective::send) return coded_message_seconds(estimate, link);
  const Call call = call_of(estimate);
  const AlgorithmInfo* const algorithm = usual_algorithm(call.collective);
  if (algorithm == nullptr) return HUGE_VAL;
  const auto speed = static_cast<float>(1 / estimate.coding_seconds_per_byte);
  const CodingSpeeds speeds{static_cast<float>(estimate.ratio), speed, speed, speed, speed};
  const bool by_nodes =
      call.nodes > 1 && !has_own_values(call.collective) && runs_by_nodes(call.collective, 0, call.ranks);
  const int ranks = by_nodes ? call.nodes : call.ranks;
  const double part = by_nodes && !joins_blocks(call.collective) ? 1 / ranks_a_node(call) : 1;
  const CodingWork work{.cost = algorithm->cost(ranks),
                        .share = part / algorithm->parts(ranks),
                        .plain_seconds_per_byte = link_traffic(call) / link};
  const double pace = coded_pace(call, work, speeds, false, by_nodes, memory);
  return estimate.bytes * pace + agreement_seconds(call.ranks);
}

Forecast forecast(const MeasuredCall& measured, double link) noexcept {
  const Call& call = measured.call;
  const auto bytes = static_cast<double>(call.bytes);
  CodingWork work = measured.work;
  work.plain_seconds_per_byte = link_traffic(call) / link;
  const MeasuredChoice choice = fastest_coding(work, measured.speeds);
  const CodingSpeeds& speeds = measured.speeds[static_cast<std::size_t>(choice.codec)];
  const bool by_values = choice.by_values || !work.adds_frames || speeds.accumulate == 0;
  const double pace = coded_pace(call, work, speeds, by_values, measured.by_nodes, measured.memory);
  return {choice, bytes * plain_pace(call, link, measured.memory),
          bytes * pace + agreement_seconds(call.ranks)};
}

double break_even_link(const MeasuredCall& measured) noexcept {
  return break_even(1e3, 1e15, [&](double link) { return forecast(measured, link).gain() >= 1; });
}

double break_even_ratio(const MeasuredCall& measured, double link) noexcept {
  const double known = measured.speeds[0].ratio;
  const double factor = break_even(1e-6, known, [&](double divisor) {
    return forecast(with_ratios(measured, 1 / divisor), link).gain() >= 1;
  });
  return factor == 0 ? HUGE_VAL : std::max(1.0, known / factor);
}

double link_speed_of(const CallEstimate& call, double seconds) noexcept {
  return link_traffic(call_of(call)) * call.bytes / seconds;
}

double chain_pieces(double bytes, int ranks, double ratio) noexcept {
  return std::sqrt((ranks - 2) * bytes * assumed_ratio / (ratio * pipelined_latency_bytes));
}

// In a ring of P ranks, a packet of p bytes of the largest frame takes the time of P p bytes to reach all
// ranks, and each of P frames of F bytes costs F/p latencies of c bytes. The sum is least at p = sqrt(F c).
std::size_t packet_bytes(const AlgorithmInfo& algorithm, const Call& call, int segments,
                         const FrameEstimate& frames) noexcept {
  constexpr double unequal = 2, message_latency = latency_bytes / assumed_ratio;  // in bytes of frames
  constexpr double max_packet = 64 << 10;  // MPIs send larger messages once the receive is posted
  if (call.ranks < 3) return 0;
  const std::string_view name = algorithm.name;
  const double ratio = frames.min_ratio > 0 ? frames.min_ratio : assumed_ratio;
  double frame = 0, packet = 0;
  if (call.collective == Collective::bcast && name == "chain") {
    const auto bytes = static_cast<double>(call.bytes);
    frame = bytes / ratio / segments;
    packet = bytes / ratio / chain_pieces(bytes, call.ranks, ratio);
  } else if (call.collective == Collective::allgather && name == "ring" &&
             frames.max_bytes > unequal * frames.min_bytes) {
    frame = frames.max_bytes / segments;
    packet = std::sqrt(frame * message_latency);
  }
  packet = std::min(packet, max_packet);
  return frame < 2 * packet ? 0 : static_cast<std::size_t>(packet);
}

double interpolated_ratio(std::span<const double> bounds, std::span<const double> ratios,
                          double bound) noexcept {
  if (bounds.empty() || bound < bounds.back() * 0.999) return 0;
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    if (bound < bounds[i]) continue;
    if (i == 0) return ratios[0];
    const double t = std::log(bound / bounds[i]) / std::log(bounds[i - 1] / bounds[i]);
    return ratios[i] + t * (ratios[i - 1] - ratios[i]);
  }
  return ratios.back();
}

double share_of_range(Bound bound, double min, double max) noexcept {
  switch (bound.kind) {
    case Bound::Kind::range: return bound.value;
    case Bound::Kind::psnr: return std::pow(10, -bound.value / 20);
    case Bound::Kind::absolute:
    case Bound::Kind::snap: break;
    default: return 0;
  }
  if (min > max) return 0;
  const double range = max - min;
  return range > 0 ? bound.value / range : 1;
}

}  // namespace taut
