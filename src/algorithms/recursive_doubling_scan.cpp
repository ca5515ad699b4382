// Scan by recursive doubling. Hillis and Steele, "Data parallel algorithms", Commun. ACM 29 (1986), after
// Kogge and Stone, IEEE Trans. Comput. C-22 (1973); prefixes as frames: Huang et al., "hZCCL", SC24.
//   steps ceil(log2 P) · messages of rank 0 ceil(log2 P) · encodes 1 · combines ceil(log2 P) (last rank)
//   · decodes 1
//   error of a sum: by frames P times the codec's bound; by values 2P-1 (P leaves and P-1 inner nodes of the
//   tree are encoded). The tree of a rank does not depend on P.
#include "algorithms/recursive_doubling.hpp"

#include <algorithm>

namespace taut::algorithms {

Task<Frame> doubled_prefix(Team team, Frame own, int first, ConstSlice values, Reduction op) {
  const int P = team.size() - first, me = team.rank() - first;  // counted from `first`

  // Before the step of distance d, `prefix` holds the reduction over the ranks me-d+1 .. me, from 0 on.
  Frame prefix = std::move(own);
  for (int d = 1; d < P; d *= 2) {
    const int to = first + me + d, from = first + me - d;
    const auto addends = static_cast<std::uint32_t>(std::min(d, me - d + 1));
    if (me < d) {
      if (me + d < P) co_await team.send(prefix, to);
      continue;
    }
    Frame before;
    if (me + d < P)
      before = co_await team.exchange(prefix, to, from, values, addends);
    else
      before = co_await team.recv(from, values, addends);
    prefix = team.combine(before, prefix, op);
  }
  co_return prefix;
}

namespace {

Task<> run(Team team, Operands data) {
  const ConstSlice values = team.whole(data.in);
  const Frame prefix = co_await doubled_prefix(team, team.encode(values), 0, values, data.op);
  team.decode(prefix, team.whole(data.out));
}

Cost cost(int P) {
  const int k = log2_ceil(P);
  int messages = 0;
  for (int d = 1; d < P; d *= 2) messages += P - d;
  return {.steps = k,
          .messages = messages,
          .messages_a_rank = k,
          .frames = messages,
          .encodes = 1,
          .combines = k,
          .decodes = 1};
}

int growth(int P, Arithmetic how) { return how == Arithmetic::frames ? P : 2 * P - 1; }

}  // namespace

const AlgorithmInfo& recursive_doubling_scan() {
  static constexpr AlgorithmInfo info{.name = "recursive_doubling",
                                      .collective = Collective::scan,
                                      .paper = "Hillis and Steele 1986",
                                      .unit = AlgorithmInfo::Unit::whole,
                                      .cost = cost,
                                      .growth = growth,
                                      .run = run};
  return info;
}

}  // namespace taut::algorithms
