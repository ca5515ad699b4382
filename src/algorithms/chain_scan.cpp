// Scan along the chain of ranks; segments make it a pipeline. Sanders and Traeff, "Parallel prefix (scan)
// algorithms for MPI", EuroPVM/MPI 2006, section 3.1 (linear pipeline); prefixes as frames: Huang et al.,
// "hZCCL", SC24.
//   steps P-1 · messages of a rank 1 (the last one none) · encodes 1 (rank 0) · combines 1 · decodes 1
//   error of a sum: P times the codec's bound, by frames and by values (rank r decodes r+1 encodings). The
//   operands are combined in the order of the ranks.
#include "core/algorithm.hpp"

namespace taut::algorithms {
namespace {

Task<> run(Team team, Operands data) {
  const int P = team.size(), me = team.rank();
  const ConstSlice values = team.whole(data.in);
  const Slice result = team.whole(data.out);

  Frame prefix;  // the reduction over the ranks 0 .. me
  if (me == 0) {
    prefix = team.encode(values);
  } else {
    const Frame before = co_await team.recv(me - 1, values, static_cast<std::uint32_t>(me));
    prefix = team.combine(before, values, data.op);
  }
  if (me + 1 < P) {
    Sending sending = team.send(prefix, me + 1);
    team.decode(prefix, result);  // while the frame is in flight
    co_await sending;
  } else {
    team.decode(prefix, result);
  }
}

Cost cost(int P) {
  return {.steps = P - 1,
          .messages = P - 1,
          .messages_a_rank = P > 1,
          .frames = P - 1,
          .encodes = 1,
          .combines = P > 1,
          .decodes = 1};
}

int growth(int P, Arithmetic) { return P; }

}  // namespace

const AlgorithmInfo& chain_scan() {
  static constexpr AlgorithmInfo info{.name = "chain",
                                      .collective = Collective::scan,
                                      .paper = "Sanders and Traeff 2006",
                                      .unit = AlgorithmInfo::Unit::whole,
                                      .cost = cost,
                                      .growth = growth,
                                      .run = run};
  return info;
}

}  // namespace taut::algorithms
