// Ring reduce-scatter. Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of
// workstations", J. Parallel Distrib. Comput. 69 (2009); with sums of frames: Huang et al., "hZCCL", SC24.
//   steps P-1 · messages of a rank P-1 · encodes 1 · combines P-1 · decodes 1
//   error of a sum: P times the codec's bound, by frames (each value is encoded once) and by values (P
//   encodings on the way of a partial sum)
#include "algorithms/ring.hpp"

namespace taut::algorithms {

Task<Frame> ring_reduce(Team team, Blocks<ConstSlice> values, Reduction op) {
  const int P = team.size(), me = team.rank();
  const int left = mod(me - 1, P), right = mod(me + 1, P);
  auto chunk = [&](int i) { return team.chunk(values, i); };

  // After step s, `partial` holds block me-s-2, reduced over the s+2 ranks me-s-1 .. me; at the end block me.
  Frame partial = team.encode(chunk(me - 1));
  for (int s = 0; s < P - 1; ++s) {
    const ConstSlice own = chunk(me - s - 2);
    Frame other = co_await team.exchange(partial, right, left, own, static_cast<std::uint32_t>(s + 1));
    partial = team.combine(other, own, op);
  }
  co_return partial;
}

namespace {

Task<> run(Team team, Operands data) {
  const Frame total = co_await ring_reduce(team, data.in, data.op);
  team.decode(total, team.whole(data.out));
}

Cost cost(int P) {
  return {.steps = P - 1,
          .messages = P * (P - 1),
          .messages_a_rank = P - 1,
          .frames = P * (P - 1),
          .encodes = 1,
          .combines = P - 1,
          .decodes = 1};
}

int growth(int P, Arithmetic) { return P; }

}  // namespace

const AlgorithmInfo& ring_reduce_scatter() {
  static constexpr AlgorithmInfo info{.name = "ring",
                                      .collective = Collective::reduce_scatter,
                                      .paper = "Patarasuk and Yuan 2009",
                                      .unit = AlgorithmInfo::Unit::block,
                                      .cost = cost,
                                      .growth = growth,
                                      .run = run,
                                      .any_blocks = true};
  return info;
}

}  // namespace taut::algorithms
