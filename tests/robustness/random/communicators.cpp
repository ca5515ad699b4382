// Communicators under one policy, with several calls in sequence or at the same time.
#include <cstring>
#include <sstream>

#include "robustness/random/configurations.hpp"
#include "robustness/random/messages.hpp"
#include "robustness/random/policies.hpp"
#include "support/ranks.hpp"

namespace taut::test {
namespace {

// Makes a call that runs alone, several times. The verdict is the first error, else that of the last call
// that wrote a result.
Task<> make_call(Communicator& comm, CollectiveCall request, Verdict& verdict, std::uint64_t nanoseconds,
                 int times) {
  for (int i = 0; i < times; ++i) {
    const Verdict last = co_await comm.run(request);
    record_plain(request, last, nanoseconds);
    const bool counts = i == 0 || last.status != Status::ok || last.fallback == Fallback::none;
    if (verdict.status == Status::ok && counts) verdict = last;
  }
}
// Starts a call; other calls may overlap it.
Task<> start_call(Communicator& comm, CollectiveCall request, Verdict& verdict) {
  bool compressed = false;
  verdict = co_await comm.run(request, {}, &compressed);
}

Task<> beside(Task<> calls, Task<> others) {
  Task<> both[] = {std::move(calls), std::move(others)};
  co_await taut::all(both);
}

using Verdicts = std::vector<std::vector<Verdict>>;  // for each rank: for each call

// The way in which the ranks make their calls: one after the other, each of them `times` times if its inputs
// stay; all at the same time; or nested, the later calls while the first one is in flight.
struct Schedule {
  enum class Order : std::uint8_t { in_turn, together, nested } order = Order::in_turn;
  bool threads = false;
  int times = 1;
  std::uint64_t seed = 1;

  bool overlaps(std::size_t call) const noexcept {
    return order == Order::together || (order == Order::nested && call == 0);
  }
  int times_of(const Call& call) const noexcept {
    const bool feeds_itself = call.in_place && (reduces(call.collective) || call.same_bits ||
                                                call.collective == Collective::alltoall);
    return feeds_itself ? 1 : times;
  }
  Task<> all(std::vector<Task<>> calls) const {
    if (order == Order::together) return side_by_side(std::move(calls));
    if (order == Order::in_turn) return in_turn(std::move(calls));
    Task<> first = std::move(calls.front());
    calls.erase(calls.begin());
    return beside(std::move(first), in_turn(std::move(calls)));
  }
};
std::ostream& operator<<(std::ostream& out, const Schedule& how) {
  constexpr const char* names[] = {"", "together, ", "nested, "};
  out << (how.threads ? "threads, " : "") << names[static_cast<int>(how.order)];
  return how.times > 1 ? out << how.times << " times each, " : out;
}

// Makes the request of a rank for a call, on the memory that the machine has for it.
CollectiveCall moved_request(Machine& machine, Memory& memory, int rank) {
  CollectiveCall request = request_of(memory, rank);
  machine.move(memory, rank, request);
  return request;
}

Verdicts run(Machine& machine, const std::string& policy, std::vector<Memory>& memories, const Schedule& how,
             Messages* messages = nullptr) {
  const int P = memories[0].call().P;
  Ranks ranks(P, policy, {.seed = how.seed, .random_order = !how.threads, .copy = machine.copies_messages()},
              Nodes(memories[0].call().node_of));
  Verdicts verdicts(static_cast<std::size_t>(P), std::vector<Verdict>(memories.size()));
  std::vector<Task<>> tasks;
  for (int r = 0; r < P; ++r) {
    std::vector<Task<>> calls;
    const auto i = static_cast<std::size_t>(r);
    machine.join(*ranks.comms[i], r);
    for (std::size_t k = 0; k < memories.size(); ++k) {
      CollectiveCall request = moved_request(machine, memories[k], r);
      Verdict& verdict = verdicts[i][k];
      calls.push_back(how.overlaps(k)
                          ? start_call(*ranks.comms[i], std::move(request), verdict)
                          : make_call(*ranks.comms[i], std::move(request), verdict,
                                      how.seed % 100000 * (i + 1), how.times_of(memories[k].call())));
    }
    Task<> task = how.all(std::move(calls));
    tasks.push_back(messages == nullptr ? std::move(task)
                                        : beside(std::move(task), messages->of_rank(ranks.hub, r)));
  }
  how.threads ? ranks.hub.run_threads(tasks) : ranks.hub.run(tasks);
  for (Task<>& task : tasks) task.result();
  for (Memory& memory : memories) machine.fetch(memory);
  return verdicts;
}

std::string wrong(const Verdicts& verdicts, const Policy& policy, const Memory& memory, std::size_t k,
                  Tally& tally) {
  const Fallback plain = verdicts[0][k].fallback;
  for (const auto& of_rank : verdicts) {
    if (of_rank[k].status != Status::ok) return describe(of_rank[k].status);
    if (of_rank[k].fallback != plain) return "ranks differ in whether the call is left to plain MPI";
  }
  tally.plain += plain != Fallback::none;
  if (std::string text = memory.touched(plain == Fallback::none); !text.empty()) return text;
  return plain == Fallback::none ? broken(promise_of(policy, memory), memory, tally.exactness) : "";
}

// Runs the calls again and compares: the bits are the same in whatever order messages arrive, and on every
// machine, unless timing makes other calls fall back to plain MPI or go by nodes.
std::string differs_again(Machine& there, Draw& draw, const std::string& policy,
                          const std::vector<Memory>& memories, const Verdicts& verdicts) {
  Machine host;
  const bool on_host = there.repeats_on_host(draw, policy);
  std::vector<Memory> again = memories;
  for (Memory& memory : again) memory.restore();
  const Verdicts others = run(on_host ? host : there, policy, again, {.seed = draw.bits()});
  for (std::size_t k = 0; k < again.size(); ++k) {
    const Call& call = again[k].call();
    const bool served = verdicts[0][k].fallback == Fallback::none;
    if (others[0][k].fallback != verdicts[0][k].fallback && !(on_host && !served)) return "";
    const bool same_route = !may_go_by_nodes_or_not(parse_policy(policy), memories[k]);
    for (int r = 0; r < call.P && served && same_route; ++r)
      for (std::size_t block = 0; block < call.blocks_out(r).size(); ++block)
        if (!std::ranges::equal(again[k].received(r, block), memories[k].received(r, block)))
          return "call " + std::to_string(k) + ": other bits " +
                 (on_host ? "on the host" : "when it is run again");
  }
  return "";
}

std::string run(Machine& machine, Draw& draw, Tally& tally, std::string& what) {
  const int P = machine.draw_ranks(draw), count = machine.draw_calls(draw);
  const std::vector<int> nodes = draw_nodes(draw, P);
  const double scale = std::pow(10.0, draw.pick(5) - 2);
  const bool threads = P <= 8 && draw.one_in(40);
  const auto order = static_cast<Schedule::Order>(draw.one_in(2) ? 0 : draw.pick(3));
  const Schedule how{order, threads, draw.one_in(3) ? 2 + draw.pick(4) : 1, draw.bits()};
  const std::string policy = machine.draw_policy(draw, scale);
  std::ostringstream text;
  text << machine.enter(draw, P) << how << policy << ":";
  std::vector<Call> calls;
  std::vector<Memory> memories;
  for (int k = 0; k < count; ++k) {
    calls.push_back(machine.draw_call(draw, P, nodes, scale));
    calls.back().same_bits = parse_policy(policy).same_bits;
    text << "\n  " << calls.back();
  }
  Messages messages(draw, P, policy, scale);
  what = text.str() + messages.text();
  for (const Call& call : calls) memories.emplace_back(call);
  const auto verdicts = run(machine, policy, memories, how, messages.any() ? &messages : nullptr);
  if (std::string fault = messages.wrong(tally.exactness); !fault.empty()) return fault;
  const Policy parsed = parse_policy(policy);
  for (std::size_t k = 0; k < memories.size(); ++k) {
    ++tally.calls;
    if (std::string fault = wrong(verdicts, parsed, memories[k], k, tally); !fault.empty())
      return "call " + std::to_string(k) + ": " + fault;
  }
  if (!draw.one_in(8)) return "";
  return differs_again(machine, draw, policy, memories, verdicts);
}

}  // namespace

std::string run_communicators(Machine& machine, Draw& draw, Tally& tally, std::string& what) {
  const std::string wrong = run(machine, draw, tally, what), left = machine.leave();
  return !wrong.empty() ? wrong : left;
}

}  // namespace taut::test
