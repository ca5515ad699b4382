// Two-shot allreduce: reduce-scatter and allgather, both by direct exchange (see the two halves). A frame
// crosses the network twice, whatever P is. Reduce-scatter and allgather: Rabenseifner, "Optimization of
// collective reduction operations", ICCS 2004; sums of frames: Huang et al., "hZCCL", SC24.
//   steps 2(P-1), of which only the second half depends on the first · messages of a rank 2(P-1)
//   · encodes P · combines P-1 (up to 7 at once) · decodes P
//   error of a sum: by frames P times the codec's bound; by values one more for each round of 7 frames
#include "algorithms/direct.hpp"

namespace taut::algorithms {
namespace {

Task<> run(Team team, Operands data) {
  Frame total = co_await direct_reduce(team, data.in, data.op);
  co_await direct_share(team, std::move(total), static_cast<std::uint32_t>(team.size()), data.out);
}

Cost cost(int P) {
  return {.steps = 2 * (P - 1),
          .messages = 2 * P * (P - 1),
          .messages_a_rank = 2 * (P - 1),
          .frames = 2 * P * (P - 1),
          .encodes = P,
          .combines = P - 1,
          .decodes = P};
}

}  // namespace

const AlgorithmInfo& two_shot_allreduce() {
  static constexpr AlgorithmInfo info{.name = "two_shot",
                                      .collective = Collective::allreduce,
                                      .paper = "Rabenseifner 2004; Thakur, Rabenseifner and Gropp 2005",
                                      .unit = AlgorithmInfo::Unit::block,
                                      .cost = cost,
                                      .growth = direct_growth,
                                      .run = run,
                                      .scratch = direct_scratch};
  return info;
}

}  // namespace taut::algorithms
