// Pairwise exchange. Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in
// MPICH", IJHPCA 19 (2005), section 4.3. There, ranks are paired by exclusive or, which needs a power of two.
// Here the partners of step s are ranks whose sum is s modulo P. A rank thus sends to and receives from the
// same partner for any P, and the received block can replace the sent one (MPI_IN_PLACE).
//   steps P, or P-1 if P < 3 (a rank pauses in the step in which it is its own partner)
//   · messages of a rank P-1
//   · encodes P-1 · decodes P-1
//   error: the codec's bound; a rank's block for itself is copied

#include "communication/team/algorithm.hpp"

namespace taut::algorithms {
namespace {

Task<> run(Team team, Operands data) {
  const int P = team.size(), me = team.rank();
  for (int s = 0; s < P; ++s) {
    const int partner = mod(s - me, P);
    const ConstSlice from = team.chunk(data.in, partner);
    const Slice to = team.chunk(data.out, partner);
    if (data.encodes(me, partner)) {
      const Frames mine = co_await team.encode(from);
      co_await team.decode(co_await team.exchange(mine, partner, partner, to), to);
    } else if (partner == me) {
      team.copy(from, to);
    }
  }
}

Cost cost(int P) {
  return {.steps = P < 3 ? P - 1 : P,
          .messages = P * (P - 1),
          .messages_a_rank = P - 1,
          .frames = P * (P - 1),
          .encodes = P - 1,
          .combines = 0,
          .decodes = P - 1};
}

}  // namespace

extern constinit const AlgorithmInfo pairwise_alltoall{
    .name = "pairwise",
    .collective = Collective::alltoall,
    .paper = "Thakur, Rabenseifner and Gropp 2005",
    .unit = AlgorithmInfo::Unit::block,
    .cost = cost,
    .growth = coded_once,
    .run = run,
    .any_blocks = true,
};

}  // namespace taut::algorithms
