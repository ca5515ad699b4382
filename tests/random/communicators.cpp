// Communicators under one policy, several calls one after another.
#include <sstream>

#include "random/configurations.hpp"
#include "random/policies.hpp"
#include "support/ranks.hpp"

namespace taut::test {
namespace {

Task<> call_in_turn(Communicator& comm, std::vector<Request> requests, Verdict* verdicts) {
  for (std::size_t k = 0; k < requests.size(); ++k) verdicts[k] = co_await comm.start(requests[k]);
}

// The verdicts of each rank.
std::vector<std::vector<Verdict>> run(Ranks& ranks, std::vector<Memory>& memories, bool threads) {
  const int P = ranks.hub.size();
  std::vector<std::vector<Verdict>> verdicts(static_cast<std::size_t>(P), std::vector<Verdict>(memories.size()));
  std::vector<Task<>> tasks;
  for (int r = 0; r < P; ++r) {
    std::vector<Request> requests;
    for (Memory& memory : memories) requests.push_back(request_of(memory, r));
    const auto i = static_cast<std::size_t>(r);
    tasks.push_back(call_in_turn(*ranks.comms[i], std::move(requests), verdicts[i].data()));
  }
  threads ? ranks.hub.run_threads(tasks) : ranks.hub.run(tasks);
  for (Task<>& task : tasks) task.result();
  return verdicts;
}

std::string wrong(const std::vector<std::vector<Verdict>>& verdicts, const Policy& policy, const Memory& memory,
                  std::size_t k, Tally& tally) {
  const Plain plain = verdicts[0][k].plain;
  for (const auto& of_rank : verdicts) {
    if (of_rank[k].status != Status::ok) return describe(of_rank[k].status);
    if (of_rank[k].plain != plain) return "ranks differ in whether the call is left to plain MPI";
  }
  tally.plain += plain != Plain::no;
  if (std::string text = memory.touched(plain == Plain::no); !text.empty()) return text;
  return plain == Plain::no ? broken(promise_of(policy, memory), memory, tally.exactness) : "";
}

// The same bits once more, whatever the order in which messages arrive.
std::string differs_again(const std::string& policy, std::vector<Memory>& memories, Draw& draw) {
  std::vector<Memory> again = memories;
  for (Memory& memory : again) memory.restore();
  Ranks ranks(memories[0].call().P, policy, {.seed = draw.bits(), .random_order = true});
  run(ranks, again, false);
  for (std::size_t k = 0; k < again.size(); ++k)
    for (int r = 0; r < again[k].call().P; ++r)
      for (std::size_t block = 0; block < again[k].call().blocks_out(r).size(); ++block)
        if (!std::ranges::equal(again[k].received(r, block), memories[k].received(r, block)))
          return "other bits when it is run again";
  return "";
}

}  // namespace

std::string run_communicators(Draw& draw, Tally& tally, std::string& what) {
  const int P = draw_ranks(draw, 64), count = 1 + draw.pick(4);
  const double scale = std::pow(10.0, draw.pick(5) - 2);
  const bool threads = P <= 8 && draw.one_in(40);
  const std::string policy = draw_policy(draw, scale);
  std::ostringstream text;
  text << (threads ? "threads, " : "") << policy << ":";
  std::vector<Call> calls;
  std::vector<Memory> memories;
  for (int k = 0; k < count; ++k) {
    calls.push_back(draw_call(draw, P, scale));
    text << "\n  " << calls.back();
  }
  what = text.str();
  for (const Call& call : calls) memories.emplace_back(call);
  Ranks ranks(P, policy, {.seed = draw.bits(), .random_order = !threads});
  const auto verdicts = run(ranks, memories, threads);
  const Policy parsed = parse_policy(policy);
  for (std::size_t k = 0; k < memories.size(); ++k) {
    ++tally.calls;
    if (std::string fault = wrong(verdicts, parsed, memories[k], k, tally); !fault.empty())
      return "call " + std::to_string(k) + ": " + fault;
  }
  return draw.one_in(8) ? differs_again(policy, memories, draw) : "";
}

}  // namespace taut::test
