#include "policy/plan/cost_model.hpp"

#include <algorithm>
#include <cmath>

namespace taut {
namespace {

// Cost of an agreement: one round of messages of 152 bytes for each doubling of the ranks, and samples.
constexpr double seconds_a_round = 10e-6, seconds_of_samples = 20e-6;

constexpr double least_message = 64 << 10;  // least bytes of a message that travels as frames

const AlgorithmInfo* usual(Collective collective) noexcept {
  for (const char* name : {"ring", "binomial", "linear", "pairwise", "direct"})
    if (const AlgorithmInfo* found = find_algorithm(collective, name)) return found;
  return nullptr;
}

// Returns the seconds of a coded message: the sender encodes, the receiver decodes, and there is no
// agreement.
double coded_message_seconds(const CallEstimate& message, double link) noexcept {
  const double frames = std::max(message.bytes / message.ratio, least_message);
  return frames / link + 2 * message.bytes * message.seconds_a_byte + seconds_of_samples;
}

// Returns the share of the message that one frame holds.
double frame(const AlgorithmInfo& algorithm, int ranks) noexcept { return 1.0 / algorithm.parts(ranks); }

}  // namespace

double carried(Collective collective, int ranks) noexcept {
  if (collective == Collective::send || of_neighbours(collective)) return 1;
  const double others = 1 - 1.0 / ranks;
  const bool twice = collective == Collective::allreduce || collective == Collective::bcast ||
                     collective == Collective::reduce;
  return twice ? 2 * others : others;
}

double plain_seconds(const CallEstimate& call, double link) noexcept {
  return carried(call.collective, call.ranks) * call.bytes / link;
}

// Returns the seconds of a compressed call. Frames pass a link as often as the messages of plain MPI, because
// large messages are scattered, or forwarded in segments.
double coded_seconds(const CallEstimate& call, double link) noexcept {
  if (call.collective == Collective::send) return coded_message_seconds(call, link);
  const AlgorithmInfo* const algorithm = usual(call.collective);
  if (algorithm == nullptr) return HUGE_VAL;
  const Cost cost = algorithm->cost(call.ranks);
  const double wire = carried(call.collective, call.ranks);
  const double frames = (cost.encodes + cost.combines + cost.decodes) * frame(*algorithm, call.ranks);
  const double agreement = seconds_of_samples + seconds_a_round * log2_ceil(call.ranks);
  return wire * call.bytes / (link * call.ratio) + frames * call.bytes * call.seconds_a_byte + agreement;
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
