#include "robustness/random/policies.hpp"

#include <algorithm>
#include <array>

#include "compressor/frame/common_unit.hpp"

namespace taut::test {
namespace {

// Returns the range of the contributed values where the bound depends on it.
ValueRange range_for(const Policy& policy, const Memory& memory) {
  return is_relative(policy.coding.bound) ? range_of_all(memory, policy.coding.fill) : ValueRange{};
}

std::string text(double x) {
  char buffer[40];
  std::snprintf(buffer, sizeof buffer, "%.17g", x);
  return buffer;
}

std::string draw_bound(Draw& draw, double scale) {
  const double fine = std::pow(10.0, -8 * draw.uniform());
  switch (draw.pick(12)) {
    case 0: return draw.one_in(3) ? "lossless,codec=mpc,predictor=grid" : "lossless";
    case 1: return "rel:" + text(fine);
    case 2: return "rel:" + text(fine) + ",fill=1e20";
    case 3: return "psnr:" + std::to_string(20 + draw.pick(120));
    case 4: return "pwrel:" + text(fine / 2);
    case 5: return "rate:" + std::to_string(1 + draw.pick(32)) + (draw.one_in(2) ? ",codec=zfp" : "");
    case 6: return "snap:" + text(scale * fine);
    case 7: return "abs:" + text(std::pow(10.0, draw.pick(80) - 40));
    default: return "abs:" + text(scale * fine);
  }
}

std::string draw_text(Draw& draw, double scale) {
  std::string policy = draw_bound(draw, scale);
  if (policy.find("codec") == policy.npos && draw.one_in(3))
    policy += std::string(",codec=") + draw.one_of(registered_codecs())->name;
  if (draw.one_in(2)) policy += std::string(",algorithm=") + draw.one_of(registered_algorithms())->name;
  if (draw.one_in(3)) policy += draw.choose({",reduction=values", ",reduction=frames"});
  if (draw.one_in(3)) policy += ",segments=" + std::to_string(1 + draw.pick(5));
  if (draw.one_in(4)) policy += draw.choose({",on=input", ",on=likely"});
  if (draw.one_in(3)) policy += ",checksum=on";
  if (draw.one_in(3)) policy += ",threads=" + std::to_string(1 + draw.pick(8));
  if (draw.one_in(8)) policy += draw.choose({",nodes=off", ",nodes=on", ",nodes=frames"});
  if (draw.one_in(4)) policy += ",same_bits=on";
  if (draw.one_in(5) && policy.starts_with("lossless")) policy += ",sum=wide";
  if (draw.one_in(5)) policy += ",predictor=none";
  if (draw.one_in(8)) policy += ",dims=5x13";
  if (draw.one_in(4)) policy += draw.choose({",when=profitable", ",when=always"});
  if (draw.one_in(3)) policy += draw.choose({",history=auto", ",history=1", ",history=2,history_bytes=1KiB"});
  return policy + ",min_bytes=" + std::to_string(draw.one_in(4) ? draw.pick(2000) : 0);
}

// Returns the bytes of the whole message, as the agreement would compute them.
std::size_t message_bytes(const Call& call) {
  if (!call.any_blocks()) return call.message_bytes();
  std::size_t most = 0;
  for (int r = 0; r < call.P; ++r)
    for (const auto& blocks : {call.blocks_in(r), call.blocks_out(r)}) {
      std::size_t values = 0;
      for (const std::size_t count : blocks) values += count;
      most = std::max(most, values);
    }
  return most * size_of(call.type);
}

// Returns the policy's bound as an absolute number for values of this range; 0 for exact bounds.
long double resolved_bound(DType type, Bound asked, const ValueRange& range) {
  const Bound bound = bound_for(type, asked);
  if (!is_relative(bound)) return bound.value;
  const long double width = static_cast<long double>(range.greatest) - range.least;
  const long double factor =
      bound.kind == Bound::Kind::range ? bound.value : std::pow(10.0L, -bound.value / 20.0L);
  return width > 0 ? width * factor : 0;
}

// Returns the units of the values of all ranks.
ValueRange units_of_all(const Memory& memory) {
  const Call& call = memory.call();
  ValueRange units;
  for (int r = 0; r < call.P; ++r)
    for (std::size_t block = 0; block < call.blocks_in(r).size(); ++block) {
      const ConstBytes bytes = memory.contributed(r, block);
      units.merge(common_unit_of({{bytes.data(), bytes.size() / size_of(call.type), call.type}}));
    }
  return units;
}

// Returns the call as plans see it.
taut::Call planned_call(const Memory& memory) {
  const Call& call = memory.call();
  const Nodes nodes(call.node_of);
  return {.collective = call.collective,
          .type = call.type,
          .op = call.op,
          .bytes = message_bytes(call),
          .ranks = call.P,
          .nodes = nodes.several() ? nodes.count() : 0,
          .leaders = nodes.several() ? nodes.leaders() : 0,
          .any_blocks = call.any_blocks(),
          .mean = call.mean};
}

// Returns the promise of one plan.
Promise promise_of_plan(const Policy& policy, const Memory& memory, const Plan& plan) {
  const Call& call = memory.call();
  const ValueRange range = range_for(policy, memory);
  const Arithmetic how =
      plan.by_nodes ? Arithmetic::values : plan.arithmetic;  // nodes add values without coding
  Promise promise = promise_of(resolved(bound_for(call.type, policy.coding.bound), range), call, how);
  promise.bound = resolved_bound(call.type, policy.coding.bound, range);
  promise.exact_sums = may_sum_exactly(policy, planned_call(memory));
  const bool idempotent =
      std::ranges::all_of(plan.candidates, [](const Coding& c) { return c.codec->idempotent; });
  promise.same_bits = !plan.algorithm->recodes || idempotent;
  const bool sums = reduces(call.collective) && call.op == Reduction::sum;
  const int growth =
      plan.algorithm->growth(plan.by_nodes ? Nodes(call.node_of).count() : call.P, plan.arithmetic);
  if (policy.on == Policy::On::input && reduces(call.collective) && (sums || !idempotent))
    promise.bound *= call.mean ? static_cast<long double>(growth) / call.P : growth;
  if (policy.on == Policy::On::likely && sums && growth > 1) promise.bound *= std::sqrt(0.75L * growth);
  return promise;
}

}  // namespace

bool can_be_served(const std::string& policy) {
  try {
    parse_policy(policy);
    return true;
  } catch (const Error&) {
    return false;
  }
}

std::string draw_policy(Draw& draw, double scale) {
  for (;;)
    if (std::string policy = draw_text(draw, scale); can_be_served(policy)) return policy;
}

Call draw_call(Draw& draw, int P, const std::vector<int>& node_of, double scale) {
  Call call;
  call.P = P;
  call.node_of = node_of;
  call.collective = draw.one_of(all_collectives);
  call.type = draw.one_in(3) ? DType(1 + draw.pick(dtypes)) : draw.choose({DType::f32, DType::f64});
  call.op = draw_operator(draw, call.collective, call.type);
  call.mean = draw_mean(draw, call.collective, call.type, call.op);
  call.apart = !reduces(call.collective) && draw.one_in(3);
  const bool may_differ = std::ranges::any_of(registered_algorithms(), [&](const AlgorithmInfo* info) {
    return info->collective == call.collective && info->any_blocks;
  });
  draw_data(draw, call, may_differ && draw.one_in(4));
  if (!draw.one_in(8)) call.scale = scale;
  return call;
}

CollectiveCall request_of(Memory& memory, int rank) {
  const Call& call = memory.call();
  CollectiveCall request{call.collective, memory.operands(rank), call.message_bytes()};
  request.mean = call.mean;
  request.staging = memory.staging(rank);
  if (!call.any_blocks()) return request;
  request.bytes_known =
      call.collective == Collective::allgather || call.collective == Collective::reduce_scatter;
  request.bytes = std::max(request.data.in.values(), request.data.out.values()) * size_of(call.type);
  return request;
}

void record_plain(const CollectiveCall& request, const Verdict& verdict, std::uint64_t nanoseconds) {
  if (verdict.fallback == Fallback::trial || verdict.fallback == Fallback::slower)
    verdict.plain_times->note(seconds(nanoseconds), request.bytes);
}

Plan plan_of(const Policy& policy, const Memory& memory, CandidateTable& table, Route route) {
  const taut::Call call = planned_call(memory);
  Bound bound = resolved(policy.coding.bound, range_for(policy, memory));
  if (may_sum_exactly(policy, call)) bound = bound_of_exact_sums(call.type, units_of_all(memory), call.ranks);
  return make_plan(policy, call, bound, table, route);
}

Promise promise_of(const Policy& policy, const Memory& memory) {
  CandidateTable table;
  const Plan plan = plan_of(policy, memory, table);
  if (plan.fallback != Fallback::none) throw Error(Status::internal, "this call was to be left to plain MPI");
  Promise weakest = promise_of_plan(policy, memory, plan);
  std::array<Route, max_alternatives> routes;
  for (const Route& route : alternatives(policy, planned_call(memory), plan, routes)) {
    const Promise other = promise_of_plan(policy, memory, plan_of(policy, memory, table, route));
    weakest.bound = std::max(weakest.bound, other.bound);
    weakest.same_bits = weakest.same_bits && other.same_bits;
    if (other.how == Arithmetic::values) weakest.how = other.how;  // rounds each sum of two
  }
  return weakest;
}

bool may_go_by_nodes_or_not(const Policy& policy, const Memory& memory) {
  CandidateTable table;
  const Plan plan = plan_of(policy, memory, table);
  std::array<Route, max_alternatives> routes;
  return plan.fallback == Fallback::none &&
         std::ranges::any_of(alternatives(policy, planned_call(memory), plan, routes),
                             [&](const Route& route) { return route.by_nodes != plan.by_nodes; });
}

Promise promise_of_message(const Policy& policy, const Memory& memory, bool coded) {
  const Bound asked = bound_for(memory.call().type, policy.coding.bound);
  const Bound bound = resolved(asked, range_for(policy, memory));
  return promise_of(coded ? bound : Bound(), memory.call(), Arithmetic::values);
}

}  // namespace taut::test
