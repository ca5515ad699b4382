// Ring allreduce by point-to-point calls that compress each message before sending and decompress it after
// receiving: the baseline (CPR-P2P) of Huang et al., "C-Coll", IPDPS 2024, and Zhou et al., "Designing
// high-performance MPI libraries with on-the-fly compression for modern GPU clusters", IPDPS 2021. For
// comparison; never chosen automatically.
//   steps 2(P-1) · messages of a rank 2(P-1) · encodes P-1 · combines P-1 · decodes P
//   error of a sum: 2(P-1) times the codec's bound, P from the reduce-scatter and one for each later hop
//   (P, if the codec is idempotent)
#include <algorithm>

#include "algorithms/cpr_p2p.hpp"
#include "algorithms/ring.hpp"

namespace taut::algorithms {
namespace {

Task<> run(Team team, Operands data) {
  Frame total = co_await ring_reduce(team, data.in, data.op);
  co_await recoding_share(team, std::move(total), data.out);
}

Cost cost(int P) {
  return {.steps = 2 * (P - 1),
          .messages = 2 * P * (P - 1),
          .messages_a_rank = 2 * (P - 1),
          .frames = 2 * P * (P - 1),
          .encodes = std::max(P - 1, 1),
          .combines = P - 1,
          .decodes = P};
}

int growth(int P, Arithmetic) { return std::max(2 * (P - 1), 1); }

}  // namespace

const AlgorithmInfo& cpr_p2p_allreduce() {
  static constexpr AlgorithmInfo info{.name = "cpr_p2p",
                                      .collective = Collective::allreduce,
                                      .paper = "Huang et al. 2024; Zhou et al. 2021",
                                      .unit = AlgorithmInfo::Unit::block,
                                      .cost = cost,
                                      .growth = growth,
                                      .run = run,
                                      .recodes = true};
  return info;
}

}  // namespace taut::algorithms
