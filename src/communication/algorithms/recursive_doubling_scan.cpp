// Scan and exclusive scan by recursive doubling. Hillis and Steele, "Data parallel algorithms", Commun. ACM
// 29 (1986), after Kogge and Stone, IEEE Trans. Comput. C-22 (1973). Partial results stay compressed between
// steps, as in Huang et al., "hZCCL", SC24. In an exscan, rank r first receives the operand of rank r-1; then
// the ranks 1 .. P-1 run the scan on what they received.
//
// With k = ceil(log2 P) for a scan and k = ceil(log2 (P-1)) for an exscan:
//
//           steps   messages sent (most) encodes              combines   decodes
//   scan    k       k (rank 0)           1                    k          1
//   exscan  1 + k   1 + k (rank 1)       1 (not last rank)    k          1 (not rank 0)
//
//   error of a sum on the last rank of a scan: by frames (compressed operands are added) P times the codec's
//   bound; by values (decode, add, encode again) 2P-1 times, because P operands and P-1 partial sums are
//   encoded. In an exscan P-1 takes the place of P. The order of additions for rank r is the same for every
//   P. The result of rank r+1 in an exscan has the bits of the result of rank r in a scan.
#include "communication/team/algorithm.hpp"

namespace taut::algorithms {
namespace {

// Scan over the ranks first .. P-1, this rank among them. `own`: this rank's operand, encoded. `values`: an
// operand, for the type and number of its values. Returns the encoded reduction over the ranks first .. rank.
Task<Frames> doubled_prefix(Team team, Frames own, int first, ConstSlice values, Reduction op) {
  const int P = team.size() - first, me = team.rank() - first;  // counted from `first`

  // Before the step of distance d, `prefix` holds the reduction over the ranks max(0, me-d+1) .. me.
  Frames prefix = std::move(own);
  for (int d = 1; d < P; d *= 2) {
    const int to = first + me + d, from = first + me - d;
    if (me < d) {
      if (me + d < P) co_await team.send(prefix, to);
      continue;
    }
    Frames before;
    if (me + d < P)
      before = co_await team.exchange(prefix, to, from, values);
    else
      before = co_await team.recv(from, values);
    prefix = co_await team.combine(before, prefix, op);
  }
  co_return prefix;
}

Task<> scan(Team team, Operands data) {
  const ConstSlice values = team.whole(data.in);
  Frames own = co_await team.encode(values);
  const Frames prefix = co_await doubled_prefix(team, std::move(own), 0, values, data.op);
  co_await team.decode(prefix, team.whole(data.out));
}

Task<> exscan(Team team, Operands data) {
  const int P = team.size(), me = team.rank();
  const ConstSlice values = team.whole(data.in);
  if (P == 1) co_return;
  Frames before;
  if (me + 1 < P) {
    const Frames own = co_await team.encode(values);
    if (me == 0)
      co_await team.send(own, 1);
    else
      before = co_await team.exchange(own, me + 1, me - 1, values);
  } else {
    before = co_await team.recv(me - 1, values);
  }
  if (me == 0) co_return;
  const Frames prefix = co_await doubled_prefix(team, std::move(before), 1, values, data.op);
  co_await team.decode(prefix, team.whole(data.out));
}

// Messages of a scan over P ranks.
int scan_messages(int P) {
  int messages = 0;
  for (int d = 1; d < P; d *= 2) messages += P - d;
  return messages;
}

Cost cost_of_scan(int P) {
  const int k = log2_ceil(P), messages = scan_messages(P);
  return {.steps = k,
          .messages = messages,
          .messages_a_rank = k,
          .frames = messages,
          .encodes = 1,
          .combines = k,
          .decodes = 1};
}

Cost cost_of_exscan(int P) {
  if (P == 1) return {};
  const int k = log2_ceil(P - 1), messages = P - 1 + scan_messages(P - 1);
  return {.steps = 1 + k,
          .messages = messages,
          .messages_a_rank = 1 + k,
          .frames = messages,
          .encodes = 1,
          .combines = k,
          .decodes = 1};
}

}  // namespace

extern constinit const AlgorithmInfo recursive_doubling_scan{
    .name = "recursive_doubling",
    .collective = Collective::scan,
    .paper = "Hillis and Steele 1986",
    .unit = AlgorithmInfo::Unit::whole,
    .cost = cost_of_scan,
    .growth = coded_in_a_tree,
    .run = scan,
};

extern constinit const AlgorithmInfo recursive_doubling_exscan{
    .name = "recursive_doubling",
    .collective = Collective::exscan,
    .paper = "Hillis and Steele 1986",
    .unit = AlgorithmInfo::Unit::whole,
    .cost = cost_of_exscan,
    .growth = coded_in_a_tree,
    .run = exscan,
};

}  // namespace taut::algorithms
