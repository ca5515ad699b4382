#include "communication/policy/plan/cost_model.hpp"

#include <algorithm>
#include <cmath>

namespace taut {
namespace {

// Cost of an agreement: one round of messages of 152 bytes for each doubling of the ranks, and samples.
constexpr double seconds_a_round = 10e-6, seconds_of_samples = 20e-6;

constexpr double least_message = 64 << 10;  // least bytes of a message that travels as frames

const AlgorithmInfo* usual(Collective collective) noexcept {
  for (const char* name : {"ring", "binomial", "linear", "pairwise", "recursive_doubling", "direct"})
    if (const AlgorithmInfo* found = find_algorithm(collective, name)) return found;
  return nullptr;
}

// Returns the seconds of a coded message: the sender encodes, the receiver decodes, and there is no
// agreement.
double coded_message_seconds(const CallEstimate& message, double link) noexcept {
  const double frames = std::max(message.bytes / message.ratio, least_message);
  const double rate = link * exchange_share(message.ranks);
  return frames / rate + 2 * message.bytes * message.seconds_a_byte + seconds_of_samples;
}

double agreement_seconds(int ranks) noexcept {
  return seconds_of_samples + seconds_a_round * log2_ceil(ranks);
}

// Returns the greatest x, to a millionth, for which gains(x) is true. It must be true below some number, and
// false above. Infinity: it is true at the greatest number; 0: it is false at the least one.
double greatest(double least, double most, auto gains) noexcept {
  if (gains(most)) return HUGE_VAL;
  if (!gains(least)) return 0;
  while (most > least * (1 + 1e-6)) (gains(std::sqrt(least * most)) ? least : most) = std::sqrt(least * most);
  return least;
}

// Returns the call with ratios that are `factor` times as high; none falls below 1.
MeasuredCall with_ratios(MeasuredCall measured, double factor) noexcept {
  for (CodingSpeeds& speeds : measured.speeds)
    if (speeds.known())
      speeds.ratio = static_cast<float>(std::max(1.0, static_cast<double>(speeds.ratio) * factor));
  return measured;
}

}  // namespace

double carried(Collective collective, int ranks) noexcept {
  if (collective == Collective::send || of_neighbours(collective)) return 1;
  if (computes_prefixes(collective)) return log2_ceil(ranks);
  const double others = 1 - 1.0 / ranks;
  const bool twice = collective == Collective::allreduce || collective == Collective::bcast ||
                     collective == Collective::reduce;
  return twice ? 2 * others : others;
}

double carried(const Call& call) noexcept {
  if (call.nodes < 2) return carried(call.collective, call.ranks);
  const double ranks_a_node = static_cast<double>(call.ranks) / call.nodes;
  return carried(call.collective, call.nodes) * (call.collective == Collective::alltoall ? ranks_a_node : 1);
}

double predicted_plain_seconds(const Call& call, double wait, double sent_bytes) noexcept {
  return wait * carried(call.collective, call.ranks) * static_cast<double>(call.bytes) /
         std::max(sent_bytes, 1.0);
}

double exchange_share(int ranks) noexcept { return ranks == 2 ? 2.0 / 3 : 1; }

double plain_seconds(const CallEstimate& call, double link) noexcept {
  return carried(call.collective, call.ranks) * call.bytes / link;
}

// Returns the seconds of a compressed call. Frames pass a link as often as the messages of plain MPI, because
// large messages are scattered, or forwarded in segments.
double coded_seconds(const CallEstimate& call, double link) noexcept {
  if (call.collective == Collective::send) return coded_message_seconds(call, link);
  const AlgorithmInfo* const algorithm = usual(call.collective);
  if (algorithm == nullptr) return HUGE_VAL;
  const auto speed = static_cast<float>(1 / call.seconds_a_byte);
  const CodingSpeeds speeds{static_cast<float>(call.ratio), speed, speed, speed, speed};
  const CodingWork work{.cost = algorithm->cost(call.ranks),
                        .share = 1.0 / algorithm->parts(call.ranks),
                        .link = carried(call.collective, call.ranks) / link};
  return call.bytes * coding_seconds(work, speeds, false) + agreement_seconds(call.ranks);
}

Forecast forecast(const MeasuredCall& measured, double link) noexcept {
  const Call& call = measured.call;
  const auto bytes = static_cast<double>(call.bytes);
  CodingWork work = measured.work;
  work.link = carried(call.collective, call.ranks) / link;
  const MeasuredChoice choice = fastest_coding(work, measured.speeds);
  const CodingSpeeds& speeds = measured.speeds[static_cast<std::size_t>(choice.codec)];
  const bool by_values = choice.by_values || !work.adds_frames || speeds.accumulate == 0;
  return {choice, bytes * work.link,
          bytes * coding_seconds(work, speeds, by_values) + agreement_seconds(call.ranks)};
}

double fastest_link(const MeasuredCall& measured) noexcept {
  return greatest(1e3, 1e15, [&](double link) { return forecast(measured, link).gain() >= 1; });
}

double least_ratio(const MeasuredCall& measured, double link) noexcept {
  const double known = measured.speeds[0].ratio;
  const double factor = greatest(1e-6, known, [&](double divisor) {
    return forecast(with_ratios(measured, 1 / divisor), link).gain() >= 1;
  });
  return factor == 0 ? HUGE_VAL : std::max(1.0, known / factor);
}

double link_of(const CallEstimate& call, double seconds) noexcept {
  return carried(call.collective, call.ranks) * call.bytes / seconds;
}

double ratio_between(std::span<const double> bounds, std::span<const double> ratios, double bound) noexcept {
  if (bounds.empty() || bound < bounds.back() * 0.999) return 0;
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    if (bound < bounds[i]) continue;
    if (i == 0) return ratios[0];
    const double t = std::log(bound / bounds[i]) / std::log(bounds[i - 1] / bounds[i]);
    return ratios[i] + t * (ratios[i - 1] - ratios[i]);
  }
  return ratios.back();
}

}  // namespace taut
