// Exclusive scan along the chain of ranks; segments make it a pipeline. Sanders and Traeff, "Parallel prefix
// (scan) algorithms for MPI", EuroPVM/MPI 2006, section 3.1 (linear pipeline); prefixes as frames: Huang et
// al., "hZCCL", SC24.
//   steps P-1 · messages of a rank 1 (the last one none) · encodes 1 (rank 0) · combines 1 (not the first and
//   the last rank) · decodes 1 (not rank 0)
//   error of a sum: P times the codec's bound, as in a scan: rank r+1 gets the bits that rank r gets there
#include "core/algorithm.hpp"

namespace taut::algorithms {
namespace {

Task<> run(Team team, Operands data) {
  const int P = team.size(), me = team.rank();
  const ConstSlice values = team.whole(data.in);
  const Slice result = team.whole(data.out);
  if (P == 1) co_return;
  if (me == 0) {
    const Frame own = team.encode(values);
    co_await team.send(own, 1);
    co_return;
  }

  const Frame before = co_await team.recv(me - 1, values, static_cast<std::uint32_t>(me));
  if (me + 1 < P) {
    const Frame prefix = team.combine(before, values, data.op);  // the reduction over the ranks 0 .. me
    Sending sending = team.send(prefix, me + 1);
    team.decode(before, result);  // while the frame is in flight
    co_await sending;
  } else {
    team.decode(before, result);
  }
}

Cost cost(int P) {
  return {.steps = P - 1,
          .messages = P - 1,
          .messages_a_rank = P > 1,
          .frames = P - 1,
          .encodes = P > 1,
          .combines = P > 2,
          .decodes = P > 1};
}

int growth(int P, Arithmetic) { return P; }

}  // namespace

const AlgorithmInfo& chain_exscan() {
  static constexpr AlgorithmInfo info{.name = "chain",
                                      .collective = Collective::exscan,
                                      .paper = "Sanders and Traeff 2006",
                                      .unit = AlgorithmInfo::Unit::whole,
                                      .cost = cost,
                                      .growth = growth,
                                      .run = run};
  return info;
}

}  // namespace taut::algorithms
