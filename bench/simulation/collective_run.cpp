#include "collective_run.hpp"

#include <sys/mman.h>

#include <cmath>
#include <memory>

#include "communication/comm/agree.hpp"
#include "communication/policy/plan/cost_model.hpp"
#include "communication/team/hierarchical.hpp"
#include "halos.hpp"

namespace simulation {
namespace {

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

// Views of the hosts that the levels of a plan need.
struct Places {
  taut::Nodes nodes;
  Leaders leaders;
};

// Runs the algorithm once for each segment, by leaders.
taut::Task<> pipelined_by_leaders(const PlannedCall& planned, const Leaders& leaders, taut::Team team,
                                  taut::Operands data) {
  std::vector<taut::Task<>> tasks;
  for (int k = 0; k < planned.segments; ++k)
    tasks.push_back(by_leaders(*planned.algorithm, leaders, team.segment(k, planned.segments), data));
  co_await taut::all(tasks);
}

taut::Task<> served(const PlannedCall& planned, const Places& places, taut::Team team,
                    taut::Transport& transport, taut::Operands data) {
  if (planned.agrees) co_await taut::agree(transport, agreement_lane, {});
  const bool ordered = planned.agrees && planned.levels == Levels::flat &&
                       taut::follows_nodes(*planned.algorithm, places.nodes, planned.how);
  if (ordered) {
    const taut::OrderedCall call = in_order_of_nodes(*planned.algorithm, places.nodes, team, data);
    co_await taut::pipelined(*planned.algorithm, call.team, call.data, planned.segments);
  } else if (planned.levels == Levels::by_leaders)
    co_await pipelined_by_leaders(planned, places.leaders, team, data);
  else
    co_await taut::pipelined(*planned.algorithm, team, data, planned.segments,
                             planned.levels == Levels::by_nodes ? &places.nodes : nullptr);
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
CodecCosts uncompressed(const CollectiveCall& call) {
  const double sum = call.plain_sum;
  return {.bits = 32,
          .encode = no_time,
          .decode = no_time,
          .decode_add = sum,
          .add = sum,
          .accumulate = sum,
          .copy = no_time,
          .add_values = call.costs.add_values,
          .call = 0};
}

// Returns what samples of the values tell of the frames.
taut::FrameEstimate estimate(const CollectiveCall& call, const CodecCosts& costs) {
  const double first = costs.bits, last = costs.last_bits > 0 ? costs.last_bits : first;
  const auto block = static_cast<double>(call.bytes) / call.ranks;
  const double mean = first == last ? first : (first - last) / std::log(first / last);
  const double most = call.collective == taut::Collective::bcast ? mean : std::max(first, last);
  return {block * std::min(first, last) / 32, block * most / 32, 32 / most};
}

// Returns the bytes of a packet, as the engine chooses them. Only the engine forwards packets.
std::size_t packet_bytes(const CollectiveCall& call, const PlannedCall& planned, const Hosts& hosts,
                         const CodecCosts& costs) {
  if (!call.packets || !planned.agrees) return 0;
  const taut::Call part = taut::call_of_algorithm(described(call, hosts), planned.levels == Levels::by_nodes);
  return taut::packet_bytes(*planned.algorithm, part, planned.segments, estimate(call, costs));
}

}  // namespace

taut::Call described(const CollectiveCall& call, const Hosts& hosts) {
  const taut::Nodes nodes(hosts.of_rank);
  return {.collective = call.collective,
          .type = taut::DType::f32,
          .bytes = call.bytes,
          .ranks = call.ranks,
          .nodes = nodes.several() ? nodes.count() : 0,
          .leaders = nodes.several() ? nodes.leaders() : 0};
}

std::array<taut::CodingSpeeds, taut::MeasuredChoice::codecs> speeds_of(const CollectiveCall& call) {
  return {speeds_of(call.costs), {}, call.fast ? speeds_of(*call.fast) : taut::CodingSpeeds{}};
}

taut::MeasuredChoice fastest_coding(const CollectiveCall& call, const taut::CodingWork& work) {
  return taut::fastest_coding(work, speeds_of(call));
}

PlannedCall planned(const taut::Plan& plan) {
  return {plan.algorithm,
          plan.arithmetic,
          plan.segments,
          true,
          plan.coding.codec == taut::MeasuredChoice::Codec::fast,
          plan.by_nodes ? Levels::by_nodes : Levels::flat,
          plan.frames_on_node};
}

std::vector<PlannedCall> plans(const CollectiveCall& call, const Link& link) {
  if (call.policy.empty()) {
    const taut::AlgorithmInfo* const found = taut::find_algorithm(call.collective, call.algorithm.c_str());
    if (found == nullptr)
      throw taut::Error(taut::Status::invalid_argument, "no algorithm '" + call.algorithm + "'");
    return {{.algorithm = found,
             .how = taut::Arithmetic::frames,
             .segments = call.segments,
             .levels = call.levels}};
  }
  const taut::Policy policy = taut::parse_policy(call.policy);
  taut::CandidateTable table;
  const taut::Call of_engine = described(call, link.hosts);
  const auto plan_by = [&](const taut::Route& route) {
    return taut::make_plan(policy, of_engine, policy.coding.bound, table, route);
  };
  const taut::Plan usual = plan_by({.on_devices = call.costs.kernels.has_value()});
  if (usual.fallback != taut::Fallback::none)
    throw taut::Error(taut::Status::invalid_policy, "the engine would leave the call to plain MPI");
  if (call.costs.kernels) return {planned(usual)};  // the engine measures no codings on GPUs
  const double plain = taut::link_traffic(of_engine) / (link.bytes_a_second * link.links);
  const taut::MeasuredChoice choice =
      fastest_coding(call, taut::coding_work(policy, of_engine, usual, plain));
  const taut::Plan first = plan_by({.coding = choice});
  std::vector<PlannedCall> all{planned(first)};
  std::array<taut::Route, taut::max_alternatives> others;
  for (const taut::Route& route : taut::alternatives(policy, of_engine, first, others))
    all.push_back(planned(plan_by(route)));
  return all;
}

Spent run_on_rank(const CollectiveCall& call, const PlannedCall& planned, const Hosts& hosts,
                  taut::Transport& transport, const Processor& processor) {
  const CodecCosts costs = call.policy.empty() ? uncompressed(call) : planned.fast ? *call.fast : call.costs;
  Spent spent;
  ModelledPlace place(costs, processor.compute, spent, processor.cache);
  taut::Neighbours neighbours;
  if (of_neighbours(call.collective)) neighbours = neighbours_of(hosts, call.ranks, transport.rank());
  const std::size_t whole = sizeof(float) * static_cast<std::size_t>(call.ranks);  // equal blocks
  const Values in(call.bytes / whole * whole), out(call.bytes / whole * whole);
  const ModelledCodec of_host(costs, processor.compute, spent, {in.all(), out.all()});
  const ModelledKernels of_device(costs, processor.compute, spent, {in.all(), out.all()});
  const ModelledCodec& codec = costs.kernels ? of_device : of_host;
  taut::CallCounters counters;
  const taut::Team team = taut::Team(transport, codec, place, counters, planned.how, 0)
                              .in_packets(packet_bytes(call, planned, hosts, costs));
  if (planned.agrees) processor.compute(seconds_of_samples, 0);
  const Places places{taut::Nodes(hosts.of_rank), Leaders(hosts, call.ranks, transport.rank())};
  taut::Operands data = operands(call, in, out, transport.rank());
  data.neighbours = &neighbours;
  data.frames_on_node = planned.frames_on_node;
  if (planned.levels == Levels::by_nodes && taut::moves_between_ranks(described(call, hosts)))
    data.between = &places.nodes;
  taut::Task<> task = served(planned, places, team, transport, data);
  while (!task.advance()) processor.wait();
  task.result();
  if (counters.status != taut::Status::ok) throw taut::Error(counters.status, "a simulated call failed");
  return spent;
}

}  // namespace simulation
