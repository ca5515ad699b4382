// Binomial broadcast by point-to-point calls that compress each message before sending and decompress it
// after receiving: the baseline (CPR-P2P) of Huang et al., "C-Coll", IPDPS 2024, and Zhou et al., "Designing
// high-performance MPI libraries with on-the-fly compression for modern GPU clusters", IPDPS 2021. For
// comparison; never chosen automatically.
//   steps ceil(log2 P) · messages and encodes of the root ceil(log2 P), P-1 in all · decodes 1
//   error: ceil(log2 P) times the codec's bound, one for each hop (one, if the codec is idempotent)
#include <algorithm>

#include "core/algorithm.hpp"

namespace taut::algorithms {
namespace {

Task<> run(Team team, Operands data) {
  const int P = team.size(), me = mod(team.rank() - data.root, P);  // counted from the root
  const Slice values = team.whole(data.out);
  auto rank = [&](int i) { return mod(i + data.root, P); };

  // The parent of a rank is the rank with its lowest bit cleared; below that bit are its children.
  int span = 1 << log2_ceil(P);
  Status known = Status::ok;
  if (me != 0) {
    span = me & -me;
    known = team.decode(co_await team.recv(rank(me - span), values), values);
  }
  Frame frame;
  for (int d = span / 2; d > 0; d /= 2) {
    if (me + d >= P) continue;
    frame = team.encode(values, known);
    co_await team.send(frame, rank(me + d));
  }
  if (me == 0 && P > 1) team.decode(frame, values);  // as all other ranks have done
}

Cost cost(int P) {
  const int k = log2_ceil(P);
  return {.steps = k,
          .messages = P - 1,
          .messages_a_rank = k,
          .frames = P - 1,
          .encodes = k,
          .combines = 0,
          .decodes = P > 1};
}

int growth(int P, Arithmetic) { return std::max(log2_ceil(P), 1); }

}  // namespace

const AlgorithmInfo& cpr_p2p_bcast() {
  static constexpr AlgorithmInfo info{.name = "cpr_p2p",
                                      .collective = Collective::bcast,
                                      .paper = "Huang et al. 2024; Zhou et al. 2021",
                                      .unit = AlgorithmInfo::Unit::whole,
                                      .cost = cost,
                                      .growth = growth,
                                      .run = run,
                                      .recodes = true};
  return info;
}

}  // namespace taut::algorithms
