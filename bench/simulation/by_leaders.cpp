#include "by_leaders.hpp"

namespace simulation {

Leaders::Leaders(const Hosts& hosts, int ranks, int me) {
  std::vector<bool> led(static_cast<std::size_t>(hosts.count(ranks)));
  for (int rank = 0; rank < ranks; ++rank) {
    const auto host = static_cast<std::size_t>(hosts.of(rank));
    if (!led[host]) leaders.push_back(rank);
    led[host] = true;
    if (hosts.of(rank) == hosts.of(me)) of_host.push_back(rank);
  }
}

taut::Task<> by_leaders(const taut::AlgorithmInfo& algorithm, const Leaders& leaders, taut::Team team,
                        taut::Operands data) {
  const taut::AlgorithmInfo& up = *taut::find_algorithm(taut::Collective::reduce, "binomial");
  const taut::AlgorithmInfo& down = *taut::find_algorithm(taut::Collective::bcast, "binomial");
  const taut::Slice values = team.whole(data.out);
  const taut::Team on_host = team.among(leaders.of_host);
  taut::ConstSlice partial = team.whole(data.in);
  if (reduces(algorithm.collective)) {
    co_await up.run(on_host.of_segment(), {partial, values, data.op, 0});
    partial = values;
  }
  if (on_host.rank() == 0) {
    const taut::Team across = team.among(leaders.leaders);
    co_await algorithm.run(across.of_segment(), {partial, values, data.op, 0});
  }
  if (algorithm.collective != taut::Collective::reduce)
    co_await down.run(on_host.of_segment(), {taut::ConstSlice(values), values, data.op, 0});
}

}  // namespace simulation
