// Hosts of virtual ranks: which ranks share a host, and what the memory of a host carries.
#pragma once

#include <algorithm>
#include <vector>

namespace simulation {

struct Hosts {
  std::vector<int> of_rank = {};  // number of the host of each rank; empty: each rank has a host of its own
  double memory = 1e18;           // bytes a second that pass the memory of a host, for all its ranks
  double copy = 7.5e9;            // bytes a second that one rank receives from others of its host
  double latency = 0.3e-6;        // seconds of such a message
  double frames_latency = 0;      // further seconds of a message of frames
  double cache = 0;               // bytes of the cache of a core; 0: all copies pass the memory

  int of(int rank) const noexcept { return of_rank.empty() ? rank : of_rank[static_cast<std::size_t>(rank)]; }
  int count(int ranks) const noexcept {
    return of_rank.empty() ? ranks : 1 + *std::ranges::max_element(of_rank);
  }
  bool are_shared() const noexcept { return !of_rank.empty(); }
};

// Order of the ranks: one host after the other, or one rank of each host in turn.
enum class Placement { block, cyclic };

// Returns the hosts of ranks, of which host h has `ranks_of[h]`.
inline std::vector<int> placed(std::vector<int> ranks_of, Placement placement) {
  std::vector<int> of_rank;
  for (bool left = true; left;) {
    left = false;
    for (std::size_t host = 0; host < ranks_of.size(); ++host) {
      const int turn = placement == Placement::block ? ranks_of[host] : std::min(ranks_of[host], 1);
      of_rank.insert(of_rank.end(), static_cast<std::size_t>(turn), static_cast<int>(host));
      ranks_of[host] -= turn;
      left = left || ranks_of[host] > 0;
    }
  }
  return of_rank;
}

}  // namespace simulation
