// Ring allgather by point-to-point calls that compress each message before sending and decompress it after
// receiving: the baseline (CPR-P2P) of Huang et al., "C-Coll", IPDPS 2024, and Zhou et al., "Designing
// high-performance MPI libraries with on-the-fly compression for modern GPU clusters", IPDPS 2021. For
// comparison; never chosen automatically.
//   steps P-1 · messages of a rank P-1 · encodes P-1 · decodes P
//   error: P-1 times the codec's bound, one for each hop (one, if the codec is idempotent)
#include "algorithms/cpr_p2p.hpp"

#include <algorithm>

namespace taut::algorithms {

Task<> recoding_share(Team team, Frame mine, Blocks<Slice> values) {
  const int P = team.size(), me = team.rank();
  const int left = mod(me - 1, P), right = mod(me + 1, P);
  auto chunk = [&](int i) { return team.chunk(values, i); };

  Frame frame = std::move(mine);
  team.decode(frame, chunk(me));  // as all other ranks will do
  for (int s = 0; s < P - 1; ++s) {
    const Slice next = chunk(me - s - 1);
    frame = co_await team.exchange(frame, right, left, next);
    const Status known = team.decode(frame, next);
    if (s < P - 2) frame = team.encode(next, known);
  }
}

namespace {

Task<> run(Team team, Operands data) {
  co_await recoding_share(team, team.encode(team.whole(data.in)), data.out);
}

Cost cost(int P) {
  return {.steps = P - 1,
          .messages = P * (P - 1),
          .messages_a_rank = P - 1,
          .frames = P * (P - 1),
          .encodes = std::max(P - 1, 1),
          .combines = 0,
          .decodes = P};
}

int growth(int P, Arithmetic) { return std::max(P - 1, 1); }

}  // namespace

const AlgorithmInfo& cpr_p2p_allgather() {
  static constexpr AlgorithmInfo info{.name = "cpr_p2p",
                                      .collective = Collective::allgather,
                                      .paper = "Huang et al. 2024; Zhou et al. 2021",
                                      .unit = AlgorithmInfo::Unit::block,
                                      .cost = cost,
                                      .growth = growth,
                                      .run = run,
                                      .any_blocks = true,
                                      .recodes = true};
  return info;
}

}  // namespace taut::algorithms
