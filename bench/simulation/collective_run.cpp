#include "collective_run.hpp"

#include <sys/mman.h>

#include <memory>

#include "communication/comm/agree.hpp"
#include "communication/policy/plan/cost_model.hpp"
#include "packets.hpp"

namespace simulation {
namespace {

constexpr double seconds_of_samples = 20e-6;  // before the agreement
constexpr taut::Lane agreement_lane = taut::max_segments;

// Address range that stands for the values of all ranks. Nobody writes to it but headers, so that it takes no
// memory.
class Values {
 public:
  explicit Values(std::size_t bytes)
      : bytes_(bytes),
        data_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                   0)) {
    if (data_ == MAP_FAILED) throw std::bad_alloc();
  }
  Values(const Values&) = delete;
  ~Values() { munmap(data_, bytes_); }
  taut::Slice all() const noexcept { return {{data_, bytes_ / sizeof(float), taut::DType::f32}}; }

 private:
  std::size_t bytes_;
  void* data_;
};

taut::Operands operands(const CollectiveCall& call, const Values& in, const Values& out, int rank) {
  using enum taut::Collective;
  const auto ranks = static_cast<std::size_t>(call.ranks), me = static_cast<std::size_t>(rank);
  const taut::Slice sent = in.all(), received = out.all();
  const taut::Slice own_sent = block(sent, me, ranks), own_received = block(received, me, ranks);
  switch (call.collective) {
    case allgather:
    case gather: return {.in = taut::ConstSlice(own_sent), .out = received};
    case reduce_scatter:
    case scatter: return {.in = taut::ConstSlice(sent), .out = own_received};
    default: return {.in = taut::ConstSlice(sent), .out = received};
  }
}

taut::Task<> served(const PlannedCall& planned, taut::Team team, taut::Transport& transport,
                    taut::Operands data) {
  if (planned.agrees) co_await taut::agree(transport, agreement_lane, {});
  co_await taut::pipelined(*planned.algorithm, team, data, planned.segments);
}

taut::CodingSpeeds speeds_of(const CodecCosts& costs) {
  const auto number = [](double value) { return static_cast<float>(value); };
  return {.ratio = number(32 / costs.bits),
          .encode = number(costs.encode),
          .decode = number(costs.decode),
          .reduce = number(1 / (1 / costs.decode_add + 1 / costs.copy)),
          .accumulate = costs.adds_frames ? number(costs.accumulate) : 0};
}

// Returns the costs of the uncompressed baseline: whole values travel, and copies take no time.
CodecCosts uncompressed(double sum) {
  return {.bits = 32,
          .encode = 1e18,
          .decode = 1e18,
          .decode_add = sum,
          .add = sum,
          .accumulate = sum,
          .copy = 1e18,
          .call = 0};
}

}  // namespace

std::vector<PlannedCall> plans(const CollectiveCall& call, double link_bytes_a_second) {
  if (call.policy.empty()) {
    const taut::AlgorithmInfo* const found = taut::find_algorithm(call.collective, call.algorithm.c_str());
    if (found == nullptr)
      throw taut::Error(taut::Status::invalid_argument, "no algorithm '" + call.algorithm + "'");
    return {{found, taut::Arithmetic::frames, call.segments, false}};
  }
  const taut::Policy policy = taut::parse_policy(call.policy);
  taut::CandidateTable table;
  const taut::Call described{
      .collective = call.collective, .type = taut::DType::f32, .bytes = call.bytes, .ranks = call.ranks};
  taut::Plan made = taut::make_plan(policy, described, policy.coding.bound, table);
  if (made.fallback != taut::Fallback::none)
    throw taut::Error(taut::Status::invalid_policy, "the engine would leave the call to plain MPI");
  const double link = taut::carried(call.collective, call.ranks) / link_bytes_a_second;
  const taut::CodingSpeeds speeds[] = {
      speeds_of(call.costs), {}, call.fast ? speeds_of(*call.fast) : taut::CodingSpeeds{}};
  const taut::CodingChoice choice =
      taut::fastest_coding(taut::coding_work(policy, described, made, link), speeds);
  std::vector<taut::Route> routes{{.coding = choice}};
  std::array<taut::Route, taut::most_alternatives> others;
  made = taut::make_plan(policy, described, policy.coding.bound, table, routes[0]);
  for (const taut::Route& route : taut::alternatives(policy, described, made, others))
    routes.push_back(route);
  std::vector<PlannedCall> planned;
  for (const taut::Route& route : routes) {
    made = taut::make_plan(policy, described, policy.coding.bound, table, route);
    planned.push_back({made.algorithm, made.arithmetic, made.segments, true,
                       choice.codec == taut::CodingChoice::Codec::fast});
  }
  return planned;
}

Spent run_on_rank(const CollectiveCall& call, const PlannedCall& planned, taut::Transport& transport,
                  const Processor& processor) {
  const CodecCosts costs = call.policy.empty() ? uncompressed(call.plain_sum)
                           : planned.fast      ? *call.fast
                                               : call.costs;
  Spent spent;
  ModelledPlace place(costs.copy, processor.compute, spent);
  const std::size_t whole = sizeof(float) * static_cast<std::size_t>(call.ranks);  // equal blocks
  const Values in(call.bytes / whole * whole), out(call.bytes / whole * whole);
  const ModelledCodec codec(costs, processor.compute, spent, {in.all(), out.all()});
  taut::CallCounters counters;
  const taut::Team team(transport, codec, place, counters, planned.how, 0);
  if (planned.agrees) processor.compute(seconds_of_samples);
  if (call.packet_bytes > 0) {
    forward_in_packets({transport, codec, processor, call.packet_bytes, planned.segments},
                       operands(call, in, out, transport.rank()), call.collective);
    return spent;
  }
  taut::Task<> task = served(planned, team, transport, operands(call, in, out, transport.rank()));
  while (!task.advance()) processor.wait();
  task.result();
  if (counters.status != taut::Status::ok) throw taut::Error(counters.status, "a simulated call failed");
  return spent;
}

}  // namespace simulation
