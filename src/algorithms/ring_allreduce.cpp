// Ring allreduce: reduce-scatter, then allgather of finished frames. Patarasuk and Yuan 2009 (see the two
// halves); with compression: Huang et al., "C-Coll", IPDPS 2024 (by values), "hZCCL", SC24 (by frames).
//   steps 2(P-1) · messages of a rank 2(P-1) · encodes 1 · combines P-1 · decodes P
//   error of a sum: P times the codec's bound; the second half adds none, since it forwards finished frames
#include "algorithms/ring.hpp"

namespace taut::algorithms {
namespace {

Task<> run(Team team, Operands data) {
  Frame total = co_await ring_reduce(team, data.in, data.op);
  co_await ring_share(team, std::move(total), static_cast<std::uint32_t>(team.size()), data.out);
}

Cost cost(int P) {
  return {.steps = 2 * (P - 1),
          .messages = 2 * P * (P - 1),
          .messages_a_rank = 2 * (P - 1),
          .frames = 2 * P * (P - 1),
          .encodes = 1,
          .combines = P - 1,
          .decodes = P};
}

int growth(int P, Arithmetic) { return P; }

}  // namespace

const AlgorithmInfo& ring_allreduce() {
  static constexpr AlgorithmInfo info{.name = "ring",
                                      .collective = Collective::allreduce,
                                      .paper = "Patarasuk and Yuan 2009; Huang et al. 2024",
                                      .unit = AlgorithmInfo::Unit::block,
                                      .cost = cost,
                                      .growth = growth,
                                      .run = run};
  return info;
}

}  // namespace taut::algorithms
