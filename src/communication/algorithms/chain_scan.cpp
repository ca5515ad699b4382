// Scan and exclusive scan along the chain of ranks; segments make it a pipeline. Sanders and Traeff,
// "Parallel prefix (scan) algorithms for MPI", EuroPVM/MPI 2006, section 3.1 (linear pipeline); prefixes as
// frames: Huang et al., "hZCCL", SC24.
//
//           steps   messages of a rank    encodes      combines                     decodes
//   scan    P-1     1 (last rank none)    1 (rank 0)   1                            1
//   exscan  P-1     1 (last rank none)    1 (rank 0)   1 (not first and last rank)  1 (not rank 0)
//
//   error of a sum: P times the codec's bound, by frames and by values (rank r decodes r+1 encodings). The
//   operands are combined in the order of the ranks; rank r+1 gets the bits in an exscan that rank r gets in
//   a scan.
#include "communication/algorithms/costs.hpp"

namespace taut::algorithms {
namespace {

// Sends `prefix` to the next rank, if there is one, and decodes `result` while it is in flight.
Task<> pass_on(Team& team, const Frames& prefix, const Frames& result, Slice values) {
  if (team.rank() + 1 == team.size()) {
    co_await team.decode(result, values);
    co_return;
  }
  Sending sending = team.send(prefix, team.rank() + 1);
  co_await team.decode(result, values);
  co_await sending;
}

Task<> scan(Team team, Operands data) {
  const int me = team.rank();
  const ConstSlice values = team.whole(data.in);
  Frames prefix;  // the reduction over the ranks 0 .. me
  if (me == 0) {
    prefix = co_await team.encode(values);
  } else {
    const Frames before = co_await team.recv(me - 1, values);
    prefix = co_await team.combine(before, values, data.op);
  }
  co_await pass_on(team, prefix, prefix, team.whole(data.out));
}

Task<> exscan(Team team, Operands data) {
  const int P = team.size(), me = team.rank();
  const ConstSlice values = team.whole(data.in);
  if (P == 1) co_return;
  if (me == 0) {
    const Frames own = co_await team.encode(values);
    co_await team.send(own, 1);
    co_return;
  }

  const Frames before = co_await team.recv(me - 1, values);
  Frames prefix;  // the reduction over the ranks 0 .. me
  if (me + 1 < P) prefix = co_await team.combine(before, values, data.op);
  co_await pass_on(team, prefix, before, team.whole(data.out));
}

}  // namespace

extern constinit const AlgorithmInfo chain_scan{
    .name = "chain",
    .collective = Collective::scan,
    .paper = "Sanders and Traeff 2006",
    .unit = AlgorithmInfo::Unit::whole,
    .cost = [](int P) { return cost_of_chain(P, 1, P > 1, 1); },
    .growth = coded_by_each_rank,
    .run = scan,
};

extern constinit const AlgorithmInfo chain_exscan{
    .name = "chain",
    .collective = Collective::exscan,
    .paper = "Sanders and Traeff 2006",
    .unit = AlgorithmInfo::Unit::whole,
    .cost = [](int P) { return cost_of_chain(P, P > 1, P > 2, P > 1); },
    .growth = coded_by_each_rank,
    .run = exscan,
};

}  // namespace taut::algorithms
