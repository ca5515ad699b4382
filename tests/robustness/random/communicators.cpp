// Communicators under one policy, with several calls in sequence or at the same time.
#include <sstream>

#include "robustness/random/configurations.hpp"
#include "robustness/random/messages.hpp"
#include "robustness/random/policies.hpp"
#include "support/ranks.hpp"

namespace taut::test {
namespace {

// Makes a call that runs alone.
Task<> make_call(Communicator& comm, CollectiveCall request, Verdict& verdict, std::uint64_t nanoseconds) {
  verdict = co_await comm.run(request);
  record_plain(request, verdict, nanoseconds);
}
// Starts a call; other calls may overlap it.
Task<> start_call(Communicator& comm, CollectiveCall request, Verdict& verdict) {
  bool compressed = false;
  verdict = co_await comm.run(request, {}, &compressed);
}

Task<> in_turn(std::vector<Task<>> calls) {
  for (Task<>& call : calls) co_await std::move(call);
}
Task<> side_by_side(std::vector<Task<>> calls) { co_await all(calls); }
Task<> beside(Task<> calls, Task<> messages) {
  Task<> both[] = {std::move(calls), std::move(messages)};
  co_await all(both);
}

using Verdicts = std::vector<std::vector<Verdict>>;  // for each rank: for each call

// The way in which the ranks make their calls.
struct Schedule {
  bool threads, together;
  std::uint64_t seed;
};

Verdicts run(const std::string& policy, std::vector<Memory>& memories, const Schedule& how,
             Messages* messages = nullptr) {
  const int P = memories[0].call().P;
  Ranks ranks(P, policy, {.seed = how.seed, .random_order = !how.threads}, nodes_of(memories[0].call()));
  Verdicts verdicts(static_cast<std::size_t>(P), std::vector<Verdict>(memories.size()));
  std::vector<Task<>> tasks;
  for (int r = 0; r < P; ++r) {
    std::vector<Task<>> calls;
    const auto i = static_cast<std::size_t>(r);
    for (std::size_t k = 0; k < memories.size(); ++k)
      calls.push_back(how.together ? start_call(*ranks.comms[i], request_of(memories[k], r), verdicts[i][k])
                                   : make_call(*ranks.comms[i], request_of(memories[k], r), verdicts[i][k],
                                               how.seed % 100000 * (i + 1)));
    Task<> task = how.together ? side_by_side(std::move(calls)) : in_turn(std::move(calls));
    tasks.push_back(messages == nullptr ? std::move(task)
                                        : beside(std::move(task), messages->of_rank(ranks.hub, r)));
  }
  how.threads ? ranks.hub.run_threads(tasks) : ranks.hub.run(tasks);
  for (Task<>& task : tasks) task.result();
  return verdicts;
}

std::string wrong(const Verdicts& verdicts, const Policy& policy, const Memory& memory, std::size_t k,
                  Tally& tally) {
  const Fallback plain = verdicts[0][k].plain;
  for (const auto& of_rank : verdicts) {
    if (of_rank[k].status != Status::ok) return describe(of_rank[k].status);
    if (of_rank[k].plain != plain) return "ranks differ in whether the call is left to plain MPI";
  }
  tally.plain += plain != Fallback::none;
  if (std::string text = memory.touched(plain == Fallback::none); !text.empty()) return text;
  return plain == Fallback::none ? broken(promise_of(policy, memory), memory, tally.exactness) : "";
}

// Runs the calls again and compares: the bits are the same in whatever order messages arrive, unless timing
// makes other calls fall back to plain MPI.
std::string differs_again(const std::string& policy, const std::vector<Memory>& memories,
                          const Verdicts& verdicts, const Schedule& how) {
  std::vector<Memory> again = memories;
  for (Memory& memory : again) memory.restore();
  const Verdicts others = run(policy, again, how);
  for (std::size_t k = 0; k < again.size(); ++k) {
    if (others[0][k].plain != verdicts[0][k].plain) return "";
    for (int r = 0; r < again[k].call().P; ++r)
      for (std::size_t block = 0; block < again[k].call().blocks_out(r).size(); ++block)
        if (!std::ranges::equal(again[k].received(r, block), memories[k].received(r, block)))
          return "other bits when it is run again";
  }
  return "";
}

}  // namespace

std::string run_communicators(Draw& draw, Tally& tally, std::string& what) {
  const int P = draw_ranks(draw, 64), nodes = draw_nodes(draw, P), count = 1 + draw.pick(4);
  const double scale = std::pow(10.0, draw.pick(5) - 2);
  const Schedule how{P <= 8 && draw.one_in(40), draw.one_in(3), draw.bits()};
  const std::string policy = draw_policy(draw, scale);
  std::ostringstream text;
  text << (how.threads ? "threads, " : "") << (how.together ? "together, " : "") << policy << ":";
  std::vector<Call> calls;
  std::vector<Memory> memories;
  for (int k = 0; k < count; ++k) {
    calls.push_back(draw_call(draw, P, nodes, scale));
    text << "\n  " << calls.back();
  }
  Messages messages(draw, P, policy, scale);
  what = text.str() + messages.text();
  for (const Call& call : calls) memories.emplace_back(call);
  const auto verdicts = run(policy, memories, how, messages.any() ? &messages : nullptr);
  if (std::string fault = messages.wrong(tally.exactness); !fault.empty()) return fault;
  const Policy parsed = parse_policy(policy);
  for (std::size_t k = 0; k < memories.size(); ++k) {
    ++tally.calls;
    if (std::string fault = wrong(verdicts, parsed, memories[k], k, tally); !fault.empty())
      return "call " + std::to_string(k) + ": " + fault;
  }
  return draw.one_in(8) ? differs_again(policy, memories, verdicts, {false, false, draw.bits()}) : "";
}

}  // namespace taut::test
