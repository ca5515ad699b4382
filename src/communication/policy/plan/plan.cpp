#include "communication/policy/plan/plan.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>

#include "communication/policy/plan/cost_model.hpp"
#include "communication/team/hierarchical.hpp"
#include "compressor/base/float_environment.hpp"

namespace taut {
namespace {

constexpr std::size_t MiB = std::size_t{1} << 20;

bool serves(const AlgorithmInfo& algorithm, const Call& call) noexcept {
  return algorithm.collective == call.collective && (algorithm.any_blocks || !call.any_blocks);
}

bool may_go_by_nodes(const Policy& policy, const Call& call) noexcept {
  return !sums_widely(policy, call) && policy.by_nodes != Policy::ByNodes::off && call.nodes > 1 &&
         runs_by_nodes(call.collective, call.count(), call.ranks, call.equal_nodes(), call.any_blocks);
}

// Returns true if measured times may choose between the routes by nodes and not by nodes.
bool tries_both(const Policy& policy, const Call& call) noexcept {
  return policy.by_nodes == Policy::ByNodes::automatic && policy.only_if_profitable() &&
         may_go_by_nodes(policy, call);
}

// Returns true if the cost model of GPUs covers the call.
bool is_modelled(const Call& call) noexcept {
  return call.over_nccl && call.collective == Collective::allreduce && call.equal_nodes();
}

// Returns true if the call goes by nodes. Where the choice is free, that is the first route: messages between
// nodes are then as few as those of plain MPI, and each value is coded once a node. Values on a GPU would
// cross the host's memory under MPI, and on unequal nodes few leaders would code for many ranks. Over NCCL a
// model of the links decides.
bool goes_by_nodes(const Policy& policy, const Call& call, Route route) noexcept {
  if (!may_go_by_nodes(policy, call)) return false;
  if (policy.always_by_nodes()) return true;
  const bool most_lead = call.leaders == 0 || 2 * call.nodes * call.leaders >= call.ranks;
  const bool all_code = most_lead || moves_between_ranks(call);
  const auto first = [&] {
    if (is_modelled(call)) return forecast_over_nccl(device_call(call)).by_nodes;
    return all_code && !route.on_devices;
  };
  return tries_both(policy, call) && (route.by_nodes ? *route.by_nodes : first());
}

// Returns the number of segments that a policy asks for; otherwise one for each MiB of values, but at least
// the square root of the values in units of 64 KiB, and at most 16. With k segments, coding hides all but 1/k
// of the transfer, or the other way round, and each segment costs messages and operations: the best k grows
// as the square root of the size (docs/adr/0038). `min`: the least number for 64 KiB of values or more. A
// segment of up to 1 MiB fits caches. Segments on GPUs are larger (cost_model.hpp).
std::size_t wanted_segments(const Policy& policy, std::size_t frame_bytes, bool on_devices,
                            std::size_t min) noexcept {
  if (policy.segments != 0) return static_cast<std::size_t>(policy.segments);
  constexpr std::size_t max = 16, min_divided = 64 << 10;
  if (on_devices) return std::min(frame_bytes / device_wave_bytes, max);
  if (frame_bytes < min_divided) return 1;
  const double units = static_cast<double>(frame_bytes) / min_divided;
  return std::clamp(std::max(frame_bytes / MiB, static_cast<std::size_t>(std::sqrt(units))), min, max);
}

// Chooses the algorithm of Allreduce. `ring` sends 2(P-1) messages of N/P values in sequence,
// `halving_doubling` 2 log2(P) messages with as many values in all, `two_shot` 2(P-1) messages of N/P values
// at once, `recursive_doubling` log2(P) messages of N values. By frames the ring is taken from blocks of 256
// KiB on, where its overlap outweighs its latency (docs/adr/0038). By values it is taken from 32 KiB on, as
// it leaves the largest share of the bound to each coding. Every rank sends all of the message in each step
// of `recursive_doubling`. Where ranks share the link of a node, it is taken for messages that are small for
// the number of nodes.
const char* for_allreduce(std::size_t bytes, std::size_t ranks, std::size_t nodes, bool by_frames) noexcept {
  constexpr std::size_t KiB = 1024;
  if (!by_frames) return bytes < 32 * KiB * nodes ? "recursive_doubling" : "ring";
  if (bytes < 8 * KiB * nodes) return "recursive_doubling";
  if (bytes >= 256 * KiB * ranks || ranks == 2) return "ring";
  return std::has_single_bit(ranks) ? "halving_doubling" : "two_shot";
}

// Least number of segments of a message with 64 KiB of values or more (docs/adr/0038). Messages that all go
// to or from the root (`linear`) may have one segment: coding and transfer of several messages overlap.
constexpr std::size_t min_segments = 2;

// Returns the number of segments of a scan along a chain: the square root of the values in units of 4 KiB.
// The best number grows with the ranks; this one costs little on few ranks, where 16 to 64 segments take the
// same time.
std::size_t scan_segments(std::size_t bytes) noexcept {
  constexpr std::size_t min_segment = 32 << 10;
  const auto best = static_cast<std::size_t>(std::sqrt(static_cast<double>(bytes) / 4096));
  return std::clamp<std::size_t>(std::min(best, bytes / min_segment), 1, max_segments);
}

// Returns the number of segments in which a message of a call best passes along a chain of all ranks. That of
// scans depends on the message alone: a prefix has the same bits in communicators with more ranks.
std::size_t chain_segments(const Policy& policy, const Call& call, std::size_t bytes,
                           bool on_devices) noexcept {
  const std::size_t wanted = wanted_segments(policy, bytes, on_devices, min_segments);
  if (policy.segments != 0 || on_devices) return wanted;
  if (computes_prefixes(call.collective)) return scan_segments(bytes);
  if (call.ranks < 3) return wanted;
  const auto best = static_cast<std::size_t>(chain_pieces(static_cast<double>(bytes), call.ranks));
  return std::clamp<std::size_t>(best, wanted, max_segments);
}

// Return the time in which S bytes of values pass all P ranks, in bytes of values over one link: along a
// chain, where k segments take the time of 1 + (P-2)/k messages, and along a tree.
double chain_time(double S, double P, std::size_t segments) noexcept {
  const auto k = static_cast<double>(std::max<std::size_t>(segments, 1));
  return (1 + (P - 2) / k) * S + (P - 1) * latency_bytes + k * pipelined_latency_bytes;
}
double tree_time(double S, std::size_t ranks) noexcept {
  return log2_ceil(static_cast<int>(ranks)) * (S + latency_bytes);
}

// Chooses the algorithm of Bcast: the fastest of tree, chain, and scatter and allgather, by which a message
// passes a link 2(P-1)/P times. Thakur, Rabenseifner and Gropp, IJHPCA 19 (2005).
const char* for_bcast(std::size_t bytes, std::size_t ranks, std::size_t segments) noexcept {
  const auto S = static_cast<double>(bytes), P = static_cast<double>(ranks);
  const double tree = tree_time(S, ranks), chain = chain_time(S, P, segments);
  const double steps = log2_ceil(static_cast<int>(ranks)) + P - 1;
  const double scattered = 2 * (P - 1) / P * S + steps * latency_bytes;
  if (tree <= chain && tree <= scattered) return "binomial";
  return chain <= scattered ? "chain" : "scatter_allgather";
}

// Chooses the algorithm of a scan. Recursive doubling takes the time of a tree.
const char* for_scan(std::size_t bytes, std::size_t ranks, std::size_t segments) noexcept {
  const auto S = static_cast<double>(bytes), P = static_cast<double>(ranks);
  return chain_time(S, P, segments) <= tree_time(S, ranks) ? "chain" : "recursive_doubling";
}

// Least block for which measured speeds may choose sums by values. Latency dominates smaller blocks. Sums by
// frames let the engine try other algorithms there, because these give the same bits.
constexpr std::size_t min_block_by_values = std::size_t{32} << 10;

// Returns true if measured speeds may choose sums by values: not for prefixes, whose bits must not depend on
// the number of ranks, nor where the errors of the codings by values would add to those of the inputs.
bool may_choose_values(const Policy& policy, const Call& call, std::size_t block_bytes) noexcept {
  return policy.reducing == Policy::Reducing::automatic && policy.on != Policy::On::input &&
         !computes_prefixes(call.collective) && block_bytes >= min_block_by_values;
}

bool sums(const Call& call) noexcept { return reduces(call.collective) && call.op == Reduction::sum; }

bool may_sum_frames(const Policy& policy, const Call& call, MeasuredChoice choice) noexcept {
  const bool by_values = choice.by_values && policy.reducing == Policy::Reducing::automatic;
  return sums(call) && policy.reducing != Policy::Reducing::values && !by_values;
}

// Returns true if sums go by frames, unless no codec that adds frames serves the call.
bool sums_frames(const Policy& policy, const Call& call, MeasuredChoice choice) noexcept {
  const CodecInfo* const named = policy.coding.codec;
  return may_sum_frames(policy, call, choice) && (named == nullptr || named->adds_frames);
}

// Returns the name of the algorithm that the size of the call asks for; empty: none.
const char* algorithm_by_size(const Policy& policy, const Call& call, Route route) noexcept {
  const auto ranks = static_cast<std::size_t>(call.ranks);
  const std::size_t nodes = call.nodes > 1 ? static_cast<std::size_t>(call.nodes) : ranks;
  const std::size_t segments = chain_segments(policy, call, call.bytes, route.on_devices);
  if (computes_prefixes(call.collective)) return for_scan(call.bytes, ranks, segments);
  switch (call.collective) {
    case Collective::allreduce:
      return route.on_devices
                 ? device_allreduce(device_call(call))
                 : for_allreduce(call.bytes, ranks, nodes, sums_frames(policy, call, route.coding));
    case Collective::bcast: return for_bcast(call.bytes, ranks, segments);
    default: return "";
  }
}

const AlgorithmInfo* choose_algorithm(const Policy& policy, const Call& call, Route route) {
  const auto usable = [&](const char* name) -> const AlgorithmInfo* {
    const AlgorithmInfo* const found = find_algorithm(call.collective, name);
    return found != nullptr && serves(*found, call) ? found : nullptr;
  };
  if (sums_widely(policy, call)) return usable(rank_order);
  if (const AlgorithmInfo* named = usable(policy.algorithm.c_str())) return named;
  if (route.algorithm != nullptr && serves(*route.algorithm, call)) return route.algorithm;
  for (const char* name :
       {algorithm_by_size(policy, call, route), "ring", "binomial", "linear", "pairwise", "chain", "direct"})
    if (const AlgorithmInfo* chosen = usable(name)) return chosen;
  return nullptr;
}

bool may_add(const Policy& policy, const Call& call, const AlgorithmInfo& algorithm,
             MeasuredChoice choice) noexcept {
  return may_sum_frames(policy, call, choice) && algorithm.may_add_frames();
}

// Returns true if the bound of a plan is that of an exact sum: it differs from the policy's.
bool sums_exactly(const Policy& policy, const Call& call, Bound bound) noexcept {
  return may_sum_exactly(policy, call) && !bound.exact();
}

// Returns the kind of codec that makes the best use of a bound: its frames can be added, or it keeps what it
// has coded before.
Preference preference(const Policy& policy, const Call& call, const AlgorithmInfo& algorithm,
                      MeasuredChoice choice) noexcept {
  if (may_add(policy, call, algorithm, choice)) return Preference::adding;
  return algorithm.recodes || (reduces(call.collective) && !sums(call)) ? Preference::idempotent
                                                                        : Preference::none;
}

Arithmetic choose_arithmetic(const Policy& policy, const Call& call, const Plan& plan) noexcept {
  const bool add =
      may_add(policy, call, *plan.algorithm, plan.coding) && plan.candidates[0].codec->adds_frames;
  return add ? Arithmetic::frames : Arithmetic::values;
}

// Returns true if the policy asks for the compression of such a call. Two kinds of reductions need a named
// codec: those at a rate, whose results have no bound, and sums without loss that depend on the order of the
// additions, as only plain MPI adds in MPI's own order. A bound relative to each value promises nothing for a
// sum.
bool asks_for(const Policy& policy, const Call& call, Bound bound) noexcept {
  if (!reduces(call.collective)) return true;
  const bool named = policy.coding.codec != nullptr;
  if (bound.kind == Bound::Kind::rate) return named;
  if (!sums(call)) return true;
  return bound.exact() ? named || policy.wide_sums : bound.kind != Bound::Kind::pointwise;
}

// Returns the greatest bound of one coding for which `growth` codings err by at most E. Rounded down if the
// quotient was rounded up.
double share(double E, int growth) noexcept {
  const double part = E / growth;
  return std::fma(part, growth, -E) > 0 ? std::nextafter(part, 0.0) : part;
}

// Returns the bound of one coding for a mean: the sum of P values may be off by P E.
double share_of_mean(double E, int growth, int P) noexcept {
  if (growth == P) return E;
  return std::nextafter(share(E, growth) * P, 0.0);
}

// Returns the bound of one coding for on=likely. Errors of g codings, independent and spread evenly over [-e,
// e], have a standard deviation of e sqrt(g / 3); their sum is within two standard deviations with a
// probability of 95 %. After Huang et al., "C-Coll", IPDPS 2024, who assume normal errors with 3 sigma = e.
double likely_share(double E, int growth) noexcept {
  const double half = E / 2;  // E * sqrt(3 / growth) may overflow
  return half * std::sqrt(3.0 / growth);
}

// Returns the bound of one coding, given the bound of the result. An idempotent codec codes minima, maxima
// and moved values with the error of one coding, however often they are coded. Otherwise each coding adds its
// error, as in a sum. A pointwise relative error of g codings, each within R/(1+R)/g, grows to (1 +
// R/(1+R)/g)^g - 1 <= R.
Bound choose_bound(const Policy& policy, const Call& call, Bound bound, const Plan& plan) noexcept {
  const int growth = plan.algorithm->growth(call_of_algorithm(call, plan.by_nodes).ranks, plan.arithmetic);
  const bool coded_once = !sums(call) && plan.candidates[0].codec->idempotent;
  const bool each_input = policy.on == Policy::On::input && reduces(call.collective);
  const bool shared = growth > 1 && !coded_once && !each_input && bound.kind != Bound::Kind::rate;
  if (!shared || bound.exact() || sums_exactly(policy, call, bound)) return bound;
  const FloatEnvironment environment;  // the bound must be the same on every rank
  const double E = bound.kind == Bound::Kind::pointwise ? bound.value / (1 + bound.value) : bound.value;
  if (policy.on == Policy::On::likely && sums(call)) {
    const double of_sum = call.mean ? std::min(E * call.ranks, std::numeric_limits<double>::max()) : E;
    return {bound.kind, likely_share(of_sum, growth)};
  }
  if (call.mean) return {bound.kind, share_of_mean(E, growth, call.ranks)};
  return {bound.kind, share(E, growth)};
}

// Returns what the policy promises of each value of the result. Sums may differ by roundings in addition.
// Under on=input the errors of the codings add up.
Promise promise_of(const Policy& policy, const Call& call, Bound bound, const Plan& plan) noexcept {
  if (sums_exactly(policy, call, bound)) return {};
  const bool likely = policy.on == Policy::On::likely && sums(call);
  const bool each_input = policy.on == Policy::On::input && reduces(call.collective);
  if (!each_input || bound.exact() || bound.kind == Bound::Kind::rate) return {bound, !likely};
  const bool coded_once = !sums(call) && plan.candidates[0].codec->idempotent;
  const int ranks = call_of_algorithm(call, plan.by_nodes).ranks;
  const double growth = coded_once ? 1 : plan.algorithm->growth(ranks, plan.arithmetic);
  return {{bound.kind, bound.value * growth / (call.mean ? call.ranks : 1)}, true};
}

// Returns true if values of this type may be coded. Integers that a call moves are coded without loss under
// every bound. Reductions of integers are left to plain MPI, except minima and maxima under an exact bound.
bool may_be_coded(const Policy& policy, const Call& call) noexcept {
  if (!reduces(call.collective)) return true;
  if (!is_defined(call.op, call.type)) return false;
  return info_of(call.type).family != Family::integer || (policy.coding.bound.exact() && !sums(call));
}

// Returns the number of segments. There are more than wanted if messages would otherwise be larger than MPI 3
// can count. Returns 0 if the call is too large.
int choose_segments(const Policy& policy, const Call& call, const AlgorithmInfo& algorithm, bool by_nodes,
                    bool on_devices) noexcept {
  const std::size_t frame = call.bytes / static_cast<std::size_t>(algorithm.parts(call.ranks));
  const bool may_be_all = algorithm.unit == AlgorithmInfo::Unit::blocks || call.any_blocks || by_nodes;
  const std::size_t message = may_be_all ? call.bytes : frame;
  const std::size_t min = 1 + message / (512 * MiB);
  if (min > max_segments) return 0;
  const std::string_view name = algorithm.name;
  const std::size_t wanted =
      name == "chain" ? chain_segments(policy, call, frame, on_devices)
                      : wanted_segments(policy, frame, on_devices, name == "linear" ? 1 : min_segments);
  return static_cast<int>(std::max(min, wanted));
}

}  // namespace

bool sums_widely(const Policy& policy, const Call& call) noexcept { return policy.wide_sums && sums(call); }

bool may_sum_exactly(const Policy& policy, const Call& call) noexcept {
  const bool asked =
      policy.coding.bound.exact() && policy.coding.codec == nullptr && policy.coding.predictor.automatic();
  if (!asked || policy.wide_sums || !sums(call) || !call.coded()) return false;
  const DType part = component_of(call.type);
  return part == DType::f32 || part == DType::f64;
}

Fallback early_fallback(const Policy& policy, std::size_t bytes, int ranks) noexcept {
  if (policy.off) return Fallback::off;
  if (ranks < 2) return Fallback::communicator;
  return bytes < policy.min_bytes ? Fallback::small : Fallback::none;
}

Bound resolved_bound(const Policy& policy, Bound bound, const ValueRange& range) noexcept {
  const Bound absolute = resolved(bound, range);
  return policy.history > 0 && is_relative(bound) ? rounded_for_equal_steps(absolute) : absolute;
}

// Returns the call of one leader of each node. They share the message; the largest part counts. In an
// alltoall each rank has a message of its own; in a gather or scatter one rank of each node has all blocks.
Call call_of_algorithm(const Call& call, bool by_nodes) noexcept {
  if (!by_nodes || moves_between_ranks(call)) return call;
  Call part = call;
  const auto leaders = static_cast<std::size_t>(call.leaders > 0 ? call.leaders : call.ranks / call.nodes);
  part.ranks = call.nodes;
  if (joins_blocks(call.collective)) return part;
  if (call.collective != Collective::alltoall)
    part.bytes = part_range(call.count(), 0, leaders).count * size_of(call.type);
  part.rails = static_cast<int>(leaders);
  return part;
}

bool gives_same_bits(const Call& call, const Plan& plan) noexcept {
  if (!reduces(call.collective) || plan.arithmetic == Arithmetic::frames) return true;
  return !sums(call) && plan.candidates[0].codec->idempotent;
}

namespace {

// Returns the time of an algorithm without overlap, in bytes of values: those that a rank moves and codes,
// and `latency` for each of its messages.
double time_of(const AlgorithmInfo& algorithm, const Call& call, double latency) noexcept {
  const Cost cost = algorithm.cost(call.ranks);
  const double moved = static_cast<double>(cost.frames) / call.ranks + cost.combines;
  return moved * static_cast<double>(call.bytes) / algorithm.parts(call.ranks) + cost.steps * latency;
}

// Returns true if an algorithm may take no longer than the plan's on some link: a trial of the others would
// only cost time.
bool may_be_faster(const AlgorithmInfo& other, const AlgorithmInfo& of_plan, const Call& call) noexcept {
  constexpr double min_latency = 24 << 10, max_latency = 512 << 10;  // of a message, in bytes of values
  const auto gains = [&](double latency) {
    return time_of(other, call, latency) < time_of(of_plan, call, latency);
  };
  return gains(min_latency) || gains(max_latency);
}

}  // namespace

std::span<const Route> alternatives(const Policy& policy, const Call& call, const Plan& plan,
                                    std::span<Route> found) noexcept {
  const bool free = policy.algorithm.empty() && gives_same_bits(call, plan);
  std::size_t n = 0;
  const auto add = [&](const AlgorithmInfo* info, const Call& part, bool by_nodes) {
    const Route route{info, by_nodes, plan.on_devices, plan.coding};
    const bool known = std::ranges::find(found.first(n), route) != found.first(n).end();
    if (n < found.size() && !known && choose_segments(policy, part, *info, by_nodes, plan.on_devices) > 0)
      found[n++] = route;
  };
  for (const bool by_nodes : {!plan.by_nodes, plan.by_nodes}) {
    if (by_nodes != plan.by_nodes && !tries_both(policy, call)) continue;
    const Call part = call_of_algorithm(call, by_nodes);
    const Route any_route{nullptr, by_nodes, plan.on_devices, plan.coding};
    const AlgorithmInfo* const first = free ? choose_algorithm(policy, part, any_route) : plan.algorithm;
    if (first == nullptr) continue;
    add(first, part, by_nodes);
    for (const AlgorithmInfo* info : registered_algorithms())
      if (free && serves(*info, part) && info->may_add_frames() && may_be_faster(*info, *first, part))
        add(info, part, by_nodes);
  }
  return found.first(n);
}

CodingWork coding_work(const Policy& policy, const Call& call, const Plan& plan,
                       double plain_seconds_per_byte) noexcept {
  const Call part = call_of_algorithm(call, plan.by_nodes);
  const auto blocks = static_cast<std::size_t>(plan.algorithm->parts(part.ranks));
  const double share =
      static_cast<double>(part.bytes) / static_cast<double>(std::max<std::size_t>(call.bytes, 1));
  const Coding& coding = policy.coding;
  Cost cost = plan.algorithm->cost(part.ranks);
  if (plan.by_nodes && moves_between_ranks(call)) {  // blocks on a node are not coded
    cost.encodes -= std::min(cost.encodes, call.ranks / call.nodes - 1);
    cost.decodes -= std::min(cost.decodes, call.ranks / call.nodes - 1);
  }
  return {.cost = cost,
          .share = share / static_cast<double>(blocks),
          .segments = plan.segments,
          .adds_frames = may_add(policy, call, *plan.algorithm, {}),
          .may_use_values = may_choose_values(policy, call, part.bytes / blocks),
          .may_use_fast = coding.codec == nullptr && coding.predictor.automatic() &&
                          coding.bits == PackedBits::rounded && !plan.promise.bound.exact() &&
                          policy.reducing != Policy::Reducing::frames,
          .plain_seconds_per_byte = plain_seconds_per_byte};
}

std::span<const Coding> candidates_of(const Policy& policy, const Call& call, const AlgorithmInfo& algorithm,
                                      Bound bound, MeasuredChoice choice, CandidateTable& table) {
  if (choice.codec == MeasuredChoice::Codec::fast) {
    Coding fast = policy.coding;
    fast.codec = find_codec(fast_codec);
    return table.find(fast, call.type, bound, Preference::fast);
  }
  const bool exactly = sums_exactly(policy, call, bound);
  Coding coding = policy.coding;
  if (exactly) coding.bits = PackedBits::rounded;  // all values are multiples of the step
  const Preference preferred = exactly ? Preference::adding : preference(policy, call, algorithm, choice);
  const std::span<const Coding> all = table.find(coding, call.type, bound, preferred);
  return choice.codec == MeasuredChoice::Codec::usual_predictor
             ? all.first(std::min<std::size_t>(all.size(), 1))
             : all;
}

Plan make_plan(const Policy& policy, const Call& call, Bound bound, CandidateTable& table, Route route) {
  Plan plan;
  plan.fallback = early_fallback(policy, call.bytes, call.ranks);
  if (plan.fallback != Fallback::none) return plan;
  bound = bound_for(call.type, bound);
  plan.by_nodes = goes_by_nodes(policy, call, route);
  plan.on_devices = route.on_devices;
  plan.coding = route.coding;
  const Call part = call_of_algorithm(call, plan.by_nodes);
  plan.algorithm = choose_algorithm(policy, part, route);
  plan.segments = plan.algorithm == nullptr
                      ? 0
                      : choose_segments(policy, part, *plan.algorithm, plan.by_nodes, plan.on_devices);
  if (plan.segments == 0) {
    plan.fallback = Fallback::unsupported;
    return plan;
  }
  plan.frames_on_node = plan.by_nodes && shares_frames(policy, call, *plan.algorithm, plan.segments);
  if (!may_be_coded(policy, call)) plan.fallback = Fallback::type;
  if (plan.fallback != Fallback::none) return plan;
  plan.candidates = candidates_of(policy, call, *plan.algorithm, bound, plan.coding, table);
  if (plan.candidates.empty() || !asks_for(policy, call, bound)) plan.fallback = Fallback::unsupported;
  if (plan.fallback != Fallback::none) return plan;
  const bool copies = plan.candidates[0].codec->priority(bound.kind) == CodecInfo::last_resort;
  if (copies && policy.coding.codec == nullptr) plan.fallback = Fallback::no_gain;
  plan.arithmetic = choose_arithmetic(policy, call, plan);
  plan.bound = choose_bound(policy, call, bound, plan);
  plan.promise = promise_of(policy, call, bound, plan);
  if (!plan.bound.exact() && !(plan.bound.value > 0))
    plan.fallback = Fallback::unsupported;  // the share of one coding is 0
  const bool must_gain = policy.only_if_profitable() || sums_exactly(policy, call, bound);
  plan.min_ratio = must_gain ? worthwhile_ratio : 0;
  if (policy.only_if_profitable() && is_modelled(call))
    plan.min_ratio = std::max(plan.min_ratio, min_ratio_over_nccl(device_call(call)));
  if (std::isinf(plan.min_ratio)) plan.fallback = Fallback::no_gain;
  return plan;
}

// ---- Messages

namespace {

constexpr std::size_t max_value_bytes_in_frame = std::size_t{512} << 20;

}  // namespace

MessagePlan plan_message(const Policy& policy, std::size_t count, DType type, Bound bound,
                         CandidateTable& table) {
  MessagePlan plan;
  const std::size_t bytes = count * size_of(type);
  plan.fallback = early_fallback(policy, bytes, 2);
  if (plan.fallback != Fallback::none) return plan;
  plan.bound = bound_for(type, bound);
  plan.candidates = table.find(policy.coding, type, plan.bound, Preference::none);
  if (plan.candidates.empty()) {
    plan.fallback = Fallback::unsupported;
    return plan;
  }
  const bool named = policy.coding.codec != nullptr;
  const bool copies = plan.candidates[0].codec->priority(plan.bound.kind) == CodecInfo::last_resort;
  if (copies && !named) plan.fallback = Fallback::no_gain;
  plan.min_ratio = policy.only_if_profitable() ? worthwhile_ratio : 0;
  plan.frames = 1 + bytes / max_value_bytes_in_frame;
  return plan;
}

}  // namespace taut
