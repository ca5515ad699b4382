#include "halos.hpp"

#include <cmath>

namespace simulation {
namespace {

using Grid = std::array<int, 3>;

Grid place_in(const Grid& grid, int number) {
  return {number / (grid[1] * grid[2]), number / grid[2] % grid[1], number % grid[2]};
}

int number_in(const Grid& grid, const Grid& place) {
  return (place[0] * grid[1] + place[1]) * grid[2] + place[2];
}

// Returns the greatest factor of n up to `most`.
int factor_within(int n, double most) {
  int factor = static_cast<int>(most + 1e-9);
  while (n % factor != 0) --factor;
  return factor;
}

}  // namespace

std::array<int, 3> grid_of(int n) {
  const int least = factor_within(n, std::cbrt(n));
  const int middle = factor_within(n / least, std::sqrt(n / least));
  return {n / least / middle, middle, least};
}

taut::Neighbours neighbours_of(const Hosts& hosts, int ranks, int rank) {
  const int count = hosts.count(ranks), brick_ranks = ranks / count;
  const Grid of_hosts = grid_of(count), brick = grid_of(brick_ranks);
  const Grid host = place_in(of_hosts, rank / brick_ranks), in_brick = place_in(brick, rank % brick_ranks);
  taut::Neighbours found;
  for (std::size_t k = 0; k < 3; ++k) {
    const int size = of_hosts[k] * brick[k], here = host[k] * brick[k] + in_brick[k];
    const auto at = [&](int distance) {
      const int there = (here + distance + size) % size;
      Grid other_host = host, other = in_brick;
      other_host[k] = there / brick[k];
      other[k] = there % brick[k];
      return number_in(of_hosts, other_host) * brick_ranks + number_in(brick, other);
    };
    if (size == 1) continue;
    found.to.insert(found.to.end(), {at(1), at(-1)});
    found.from.insert(found.from.end(), {at(-1), at(1)});
  }
  return found;
}

}  // namespace simulation
