// Exclusive scan by recursive doubling: every rank gets the values of the rank before it, then the ranks from
// 1 on make a scan. Hillis and Steele, "Data parallel algorithms", Commun. ACM 29 (1986); prefixes as frames:
// Huang et al., "hZCCL", SC24.
//   steps 1 + ceil(log2 (P-1)) · messages of rank 1 1 + ceil(log2 (P-1)) · encodes 1 (not the last rank)
//   · combines ceil(log2 (P-1)) (last rank) · decodes 1 (not rank 0)
//   error of a sum: as in a scan by recursive doubling; rank r+1 gets the bits that rank r gets there
#include "algorithms/recursive_doubling.hpp"

namespace taut::algorithms {
namespace {

// Passes the frame of each rank's values to the next rank. Returns the one of the rank before.
Task<Frame> shift(Team team, ConstSlice values) {
  const int P = team.size(), me = team.rank();
  Frame own, before;
  if (me + 1 < P) own = team.encode(values);
  if (me > 0 && me + 1 < P)
    before = co_await team.exchange(own, me + 1, me - 1, values);
  else if (me > 0)
    before = co_await team.recv(me - 1, values);
  else if (P > 1)
    co_await team.send(own, 1);
  co_return before;
}

Task<> run(Team team, Operands data) {
  const ConstSlice values = team.whole(data.in);
  Frame before = co_await shift(team, values);
  if (team.rank() == 0) co_return;
  const Frame prefix = co_await doubled_prefix(team, std::move(before), 1, values, data.op);
  team.decode(prefix, team.whole(data.out));
}

Cost cost(int P) {
  if (P == 1) return {};
  const int k = log2_ceil(P - 1);
  int messages = P - 1;
  for (int d = 1; d < P - 1; d *= 2) messages += P - 1 - d;
  return {.steps = 1 + k,
          .messages = messages,
          .messages_a_rank = 1 + k,
          .frames = messages,
          .encodes = 1,
          .combines = k,
          .decodes = 1};
}

int growth(int P, Arithmetic how) { return how == Arithmetic::frames ? P : 2 * P - 1; }

}  // namespace

const AlgorithmInfo& recursive_doubling_exscan() {
  static constexpr AlgorithmInfo info{.name = "recursive_doubling",
                                      .collective = Collective::exscan,
                                      .paper = "Hillis and Steele 1986",
                                      .unit = AlgorithmInfo::Unit::whole,
                                      .cost = cost,
                                      .growth = growth,
                                      .run = run};
  return info;
}

}  // namespace taut::algorithms
