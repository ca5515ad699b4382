// Algorithms on teams, without a policy: every algorithm with every codec, bound, type and number of
// segments.
#include <algorithm>
#include <memory>
#include <sstream>

#include "robustness/random/configurations.hpp"
#include "support/cost.hpp"
#include "support/subjects.hpp"

namespace taut::test {
namespace {

struct TeamCall {
  Call call;
  const AlgorithmInfo* algorithm = nullptr;
  const CodecInfo* codec = nullptr;
  Coding options;
  Arithmetic how = Arithmetic::values;
  int segments = 1;
};

std::ostream& operator<<(std::ostream& out, const TeamCall& c) {
  return out << c.algorithm->name << " " << c.call << ", " << c.codec->name << " "
             << name_of(c.options.bound.kind) << ":" << c.options.bound.value << " predictor "
             << text_of(c.options.predictor) << " dims " << c.options.dims.n << " threads "
             << c.options.threads << ", by " << name_of(c.how) << ", " << c.segments << " segments";
}

Bound draw_bound(Draw& draw, Bound::Kind kind, double scale) {
  const double fine = std::pow(10.0, -8 * draw.uniform());
  switch (kind) {
    case Bound::Kind::exact: return {};
    case Bound::Kind::rate: return {kind, static_cast<double>(1 + draw.pick(33))};
    case Bound::Kind::pointwise: return {kind, fine / 2};
    default: return {kind, draw.one_in(12) ? std::pow(10.0, draw.pick(80) - 40) : scale * fine};
  }
}

// Draws a codec that serves the type, and a bound.
void draw_coding(Draw& draw, TeamCall& c) {
  constexpr Dims all[] = {{}, {}, {{5, 13}, 2}, {{3, 5, 7}, 3}};
  do {
    c.codec = draw.one_of(registered_codecs());
    c.options = {
        .bound = draw_bound(draw, static_cast<Bound::Kind>(draw.pick(frame_bound_kinds)), c.call.scale),
        .checksum = draw.one_in(2),
        .dims = draw.one_of(all),
        .threads = draw.one_in(3) ? 1 + draw.pick(8) : 1};
  } while (!can_be_made(*c.codec, c.call.type, c.options));
  const std::vector<const char*> predictors = predictors_of(*c.codec, c.options.dims);
  if (!predictors.empty() && draw.one_in(2)) c.options.predictor = draw.one_of(predictors);
}

TeamCall draw_call(Draw& draw, int P) {
  TeamCall c;
  c.algorithm = draw.one_of(registered_algorithms());
  c.call.P = P;
  c.call.collective = c.algorithm->collective;
  c.call.type = draw.one_in(2) ? draw.choose({DType::f32, DType::f64}) : DType(1 + draw.pick(dtypes));
  c.call.op = draw_operator(draw, c.call.collective, c.call.type);
  if (draw.one_in(3)) c.call.op = Reduction::sum;
  draw_data(draw, c.call, c.algorithm->any_blocks && draw.one_in(4));
  c.call.same_bits = draw.one_in(3);
  draw_coding(draw, c);
  const bool may_add = c.codec->adds_frames && reduces(c.call.collective) && c.call.op == Reduction::sum &&
                       c.algorithm->may_add_frames();
  if (may_add && !draw.one_in(3)) c.how = Arithmetic::frames;
  c.segments = draw.one_in(2) ? 1 : 1 + draw.pick(draw.one_in(20) && P <= 4 ? max_segments : 5);
  return c;
}

// Makes the codecs once, except for the kernels: each rank may have another processor.
std::vector<std::unique_ptr<Codec>> make_codecs(Draw& draw, const TeamCall& c) {
  if (draw.one_in(3)) return with_all_kernels(*c.codec, c.options);
  std::vector<std::unique_ptr<Codec>> one;
  one.push_back(c.codec->make(c.options));
  return one;
}

Promise promise_of(const TeamCall& c, const Contract& contract) {
  Promise promise = test::promise_of(contract.bound, c.call, c.how);
  promise.same_bits = !c.algorithm->recodes || contract.idempotent;
  const bool sums = reduces(c.call.collective) && c.call.op == Reduction::sum;
  const bool coded_again = c.algorithm->recodes || reduces(c.call.collective);
  if (sums || (coded_again && !contract.idempotent)) promise.bound *= c.algorithm->growth(c.call.P, c.how);
  return promise;
}

struct Running {
  explicit Running(Draw& draw, TeamCall drawn)
      : c(std::move(drawn)),
        codecs(make_codecs(draw, c)),
        memory(c.call),
        ledgers(static_cast<std::size_t>(c.call.P)) {}

  Task<> task(LoopbackHub& hub, Place& place, int rank, Lane lane) {
    const auto r = static_cast<std::size_t>(rank);
    const Team team(hub.transport(rank), *codecs[(r * 7 + c.call.seed) % codecs.size()], place, ledgers[r],
                    c.how, lane);
    Operands data = memory.operands(rank);
    if (!c.call.same_bits) leave_input(c.call.collective, data, rank, c.call.P);
    return pipelined(*c.algorithm, team, data, c.segments);
  }

  // Returns the number of values that each rank keeps in the memory of its result.
  std::vector<std::size_t> kept() const {
    std::vector<std::size_t> kept;
    for (int r = 0; r < c.call.P; ++r) {
      const std::vector<std::size_t> blocks = c.call.blocks_out(r);
      for (std::size_t i = 0; i < blocks.size(); ++i)
        if (c.call.stays(r, i)) kept.push_back(blocks[i]);
    }
    return kept;
  }

  // Returns the cost on the graph of a neighbourhood collective: a message for each edge between two ranks.
  // An exchange codes the blocks of these edges, an allgather its own block and that of each edge to a rank.
  Cost declared_cost() const {
    if (c.call.neighbours.empty()) return c.algorithm->cost(c.call.P);
    const bool gathers = c.call.collective != Collective::neighbor_alltoall;
    Cost cost;
    for (int r = 0; r < c.call.P; ++r) {
      const auto& [from, to] = *c.call.neighbours_of(r);
      const int sent = static_cast<int>(std::ranges::count_if(to, [r](int rank) { return rank != r; }));
      const int others = static_cast<int>(std::ranges::count_if(from, [r](int rank) { return rank != r; }));
      cost.messages += sent;
      cost.messages_a_rank = std::max(cost.messages_a_rank, sent);
      cost.encodes = std::max(cost.encodes, gathers ? static_cast<int>(!to.empty()) : sent);
      cost.decodes = std::max(cost.decodes, gathers ? static_cast<int>(from.size()) : others);
    }
    return cost;
  }

  std::string wrong(Errors& errors) const {
    for (const CallCounters& counters : ledgers)
      if (counters.status != Status::ok) return describe(counters.status);
    const Cost cost = cost_of(ledgers), declared = declared_cost();
    const auto differs = [&](int Cost::*what) { return cost.*what != c.segments * declared.*what; };
    if (differs(&Cost::messages) || differs(&Cost::messages_a_rank)) return "other messages than declared";
    const int decodes =
        c.segments * declared.decodes - saved_decodings(declared, c.call.P, c.segments, kept());
    if (differs(&Cost::encodes) || differs(&Cost::combines) || cost.decodes != decodes)
      return "other encodings than declared";
    if (std::string text = memory.touched(true); !text.empty()) return text;
    return broken(promise_of(c, codecs[0]->contract()), memory, errors);
  }

  TeamCall c;
  std::vector<std::unique_ptr<Codec>> codecs;
  Memory memory;
  std::vector<CallCounters> ledgers;
};

// Checks the chains of messages, and the bytes where frames have a fixed size, of a call that runs alone.
std::string wrong_on_the_wire(const LoopbackHub& hub, const Running& call, bool in_step) {
  const Measured m = measure(hub, call.ledgers);
  const TeamCall& c = call.c;
  const Cost declared = c.algorithm->cost(c.call.P);
  if (in_step && c.segments == 1 && c.call.neighbours.empty() && m.cost.steps != declared.steps)
    return std::to_string(m.cost.steps) + " steps instead of " + std::to_string(declared.steps);
  const auto parts = static_cast<std::size_t>(c.algorithm->parts(c.call.P));
  const Codec& codec = *call.codecs[0];
  if (!codec.contract().fixed_size || c.call.any_blocks() || c.call.count % parts != 0) return "";
  std::size_t bytes = 0;
  const auto segments = static_cast<std::size_t>(c.segments);
  for (std::size_t k = 0; k < segments; ++k)
    bytes += static_cast<std::size_t>(declared.frames) *
             codec.max_bytes(c.call.type, part_range(c.call.count / parts, k, segments).count);
  return m.bytes == bytes ? "" : std::to_string(m.bytes) + " bytes instead of " + std::to_string(bytes);
}

}  // namespace

std::string run_teams(Machine&, Draw& draw, Tally& tally, std::string& what) {
  const int P = draw_ranks(draw, 64), calls = draw.one_in(2) ? 1 : 1 + draw.pick(4);
  const bool together = draw.one_in(2), threads = P <= 8 && draw.one_in(40),
             late = !threads && !draw.one_in(4);
  std::vector<std::unique_ptr<Running>> running;
  std::ostringstream text;
  text << (threads ? "threads, " : "") << (late ? "random order, " : "")
       << (together ? "together:" : "in turn:");
  for (int k = 0; k < calls; ++k) {
    running.push_back(std::make_unique<Running>(draw, draw_call(draw, P)));
    text << "\n  " << running.back()->c;
    what = text.str();
  }
  LoopbackHub hub(P, {.seed = draw.bits(), .random_order = late, .record = true});
  std::vector<HostPlace> places(static_cast<std::size_t>(P));
  std::vector<Task<>> ranks;
  for (int r = 0; r < P; ++r) {
    std::vector<Task<>> tasks;
    for (std::size_t k = 0; k < running.size(); ++k)
      tasks.push_back(running[k]->task(hub, places[static_cast<std::size_t>(r)], r,
                                       together ? static_cast<Lane>(k) * max_segments : 0));
    ranks.push_back(together ? side_by_side(std::move(tasks)) : in_turn(std::move(tasks)));
  }
  threads ? hub.run_threads(ranks) : hub.run(ranks);
  for (Task<>& rank : ranks) rank.result();
  for (const auto& call : running) {
    ++tally.calls;
    tally.values += call->c.call.count;
    if (std::string wrong = call->wrong(tally.exactness); !wrong.empty()) return wrong;
  }
  return calls == 1 ? wrong_on_the_wire(hub, *running[0], !late && !threads) : "";
}

}  // namespace taut::test
