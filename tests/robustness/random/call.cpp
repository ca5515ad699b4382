#include "robustness/random/call.hpp"

#include <algorithm>
#include <cmath>

namespace taut::test {
namespace {

std::size_t index(int rank) noexcept { return static_cast<std::size_t>(rank); }

// Draws a number of values: 0 or 1; a prime, some near one or two chunks; P - 1 to P + 1; below 40, rarely
// below 20000; or below 2048 with a uniform logarithm. Up to 4 ranks rarely have more than 65536 each.
std::size_t draw_count(Draw& draw, int P) {
  constexpr int primes[] = {2, 3, 5, 7, 13, 31, 127, 509, 1021, 4093, 8191};
  const int few = P > 16 ? 8 : 1;  // many ranks get fewer values
  if (P <= 4 && draw.one_in(2000)) return index(P * 65536 + draw.pick(100000));
  switch (draw.pick(8)) {
    case 0: return index(draw.pick(2));
    case 1: return index(draw.one_of(primes));
    case 2: return index(std::max(0, P - 1 + draw.pick(3)));
    case 3: return index(draw.pick(draw.one_in(16) ? 20000 / few : 40));
    default: return static_cast<std::size_t>(std::exp2(11 * draw.uniform())) / index(few);
  }
}

void draw_sizes(Draw& draw, Call& call) {
  const std::size_t P = index(call.P), most = draw_count(draw, call.P * 4) / (P > 8 ? 4 : 1) + 1;
  call.sizes.assign(P, std::vector<std::size_t>(P));
  for (std::size_t i = 0; i < P; ++i)
    for (std::size_t j = 0; j < P; ++j) call.sizes[i][j] = draw.one_in(4) ? 0 : draw.bits() % (most + 1);
  auto& sizes = call.sizes;
  if (call.collective == Collective::allgather || call.collective == Collective::gather ||
      call.collective == Collective::neighbor_allgather)
    for (auto& row : sizes) std::fill(row.begin(), row.end(), row[0]);
  if (call.collective == Collective::reduce_scatter) std::fill(sizes.begin(), sizes.end(), sizes[0]);
  if (call.collective == Collective::alltoall && call.in_place)
    for (std::size_t i = 0; i < P; ++i)
      for (std::size_t j = 0; j < i; ++j) sizes[i][j] = sizes[j][i];
}

// Draws a directed graph: some ranks may have no edges, some pairs of ranks several.
void draw_neighbours(Draw& draw, Call& call) {
  call.neighbours.resize(index(call.P));
  for (int edges = draw.pick(draw.one_in(8) ? 20 * call.P : 4 * call.P); edges > 0; --edges) {
    const int from = draw.pick(call.P), to = draw.pick(call.P);
    auto& there = call.neighbours[index(to)].from;
    call.neighbours[index(from)].to.push_back(to);
    const auto last = std::find(there.rbegin(), there.rend(), from).base();  // keeps the order of a pair
    there.insert(last + draw.pick(static_cast<int>(there.end() - last) + 1), from);
  }
}

}  // namespace

const Neighbours* Call::neighbours_of(int rank) const noexcept {
  return neighbours.empty() ? nullptr : &neighbours[index(rank)];
}

bool equal_blocks(Collective c) noexcept {
  return c == Collective::scatter || c == Collective::gather || c == Collective::alltoall;
}

std::size_t Call::size_between(int from, int to) const noexcept {
  if (any_blocks()) return sizes[index(from)][index(to)];
  const bool senders = collective == Collective::allgather || collective == Collective::gather;
  return part_range(count, index(senders ? from : to), index(P)).count;
}

std::vector<std::size_t> Call::blocks_in(int rank) const {
  const bool many = collective == Collective::reduce_scatter || collective == Collective::alltoall ||
                    collective == Collective::scatter || collective == Collective::neighbor_alltoall;
  if ((collective == Collective::bcast || collective == Collective::scatter) && rank != root) return {};
  if ((reduces(collective) || collective == Collective::bcast) && !many) return {count};
  if (!many) return {size_between(rank, root)};
  std::vector<std::size_t> blocks;
  if (const Neighbours* const mine = neighbours_of(rank)) {
    for (const int to : mine->to) blocks.push_back(size_between(rank, to));
    return blocks;
  }
  for (int to = 0; to < P; ++to) blocks.push_back(size_between(rank, to));
  return blocks;
}

std::vector<std::size_t> Call::blocks_out(int rank) const {
  const bool to_root = collective == Collective::reduce || collective == Collective::gather;
  if ((to_root && rank != root) || addends(rank) == 0) return {};
  if (collective == Collective::scatter) return {size_between(root, rank)};
  if (collective == Collective::reduce_scatter) return {size_between(rank, rank)};
  if (reduces(collective) || collective == Collective::bcast) return {count};
  std::vector<std::size_t> blocks;
  if (const Neighbours* const mine = neighbours_of(rank)) {
    for (const int from : mine->from) blocks.push_back(size_between(from, rank));
    return blocks;
  }
  for (int from = 0; from < P; ++from) blocks.push_back(size_between(from, rank));
  return blocks;
}

bool Call::stays(int rank, std::size_t block) const noexcept {
  const bool owns = collective == Collective::bcast       ? rank == root
                    : collective == Collective::allgather ? block == index(rank)
                                                          : false;
  return owns && in_place && !same_bits;
}

int Call::addends(int rank) const noexcept {
  if (collective == Collective::exscan) return rank;
  return collective == Collective::scan ? rank + 1 : P;
}

Call::Source Call::source(int rank, std::size_t block) const noexcept {
  if (collective == Collective::bcast) return {root, 0};
  if (collective == Collective::scatter) return {root, index(rank)};
  if (const Neighbours* const mine = neighbours_of(rank)) {
    const int from = mine->from[block];
    if (collective != Collective::neighbor_alltoall) return {from, 0};
    const auto end = mine->from.begin() + static_cast<std::ptrdiff_t>(block);
    auto before = std::count(mine->from.begin(), end, from);  // edges of this pair that come first
    const std::vector<int>& to = neighbours[index(from)].to;
    std::size_t i = 0;
    while (to[i] != rank || before-- > 0) ++i;
    return {from, i};
  }
  return {static_cast<int>(block), collective == Collective::alltoall ? index(rank) : 0};
}

int draw_ranks(Draw& draw, int most) {
  const int P = draw.one_in(60) ? 1 + draw.pick(64) : draw.one_in(10) ? 1 + draw.pick(17) : 1 + draw.pick(8);
  return std::min(P, most);
}

std::vector<int> draw_nodes(Draw& draw, int P) {
  if (P < 3 || draw.one_in(2)) return {};
  std::vector<int> divisors;
  for (int n = 2; 2 * n <= P; ++n)
    if (P % n == 0) divisors.push_back(n);
  const bool equal = !divisors.empty() && draw.one_in(2);
  const int nodes = equal ? draw.one_of(divisors) : 2 + draw.pick(P - 2), layout = draw.pick(equal ? 2 : 3);
  const int of_full_node = (P + nodes - 1) / nodes;
  std::vector<int> node_of;
  for (int r = 0; r < P; ++r)
    node_of.push_back(layout == 0 ? r % nodes : layout == 1 ? r / of_full_node : draw.pick(nodes));
  return node_of;
}

void draw_data(Draw& draw, Call& call, bool any_blocks) {
  call.root = draw.pick(call.P);
  call.in_place = draw.one_in(3) && !of_neighbours(call.collective);
  call.null_if_empty = draw.one_in(2);
  call.seed = draw.bits();
  call.count = draw_count(draw, call.P);
  if (equal_blocks(call.collective)) call.count = call.count / index(call.P) * index(call.P);
  if (of_neighbours(call.collective)) draw_neighbours(draw, call);
  if (any_blocks || of_neighbours(call.collective)) draw_sizes(draw, call);
  call.scale = std::pow(10.0, draw.one_in(8) ? draw.pick(41) - 20 : draw.pick(7) - 3);
  // Sums of integers without loss are among the rarest calls.
  const auto content = draw.one_in(8) ? Content::integers : static_cast<Content>(draw.pick(contents));
  const bool differ = draw.one_in(4);
  for (int r = 0; r < call.P; ++r)
    call.contents.push_back(differ ? static_cast<Content>(draw.pick(contents)) : content);
}

void limit_values(Call& call, std::size_t most) {
  call.count %= most + 1;
  if (equal_blocks(call.collective)) call.count = call.count / index(call.P) * index(call.P);
  for (std::vector<std::size_t>& row : call.sizes)
    for (std::size_t& size : row) size %= most + 1;
}

std::ostream& operator<<(std::ostream& out, const Call& call) {
  constexpr const char* names[] = {"smooth", "noise",    "constant", "zeros", "integers",
                                   "wild",   "specials", "fill",     "tiny",  "any_bits"};
  out << name_of(call.collective) << " of " << name_of(call.type) << ", " << call.P << " ranks, ";
  if (!call.node_of.empty()) {
    out << "nodes";
    for (const int node : call.node_of) out << ' ' << node;
    out << ", ";
  }
  if (reduces(call.collective)) out << (call.mean ? "mean" : name_of(call.op)) << ", ";
  if (call.any_blocks())
    out << "any blocks, ";
  else
    out << call.count << " values, ";
  out << "root " << call.root << (call.in_place ? ", in place" : "") << (call.same_bits ? ", same bits" : "")
      << (call.apart ? ", apart" : "") << ", scale " << call.scale << ", ";
  const bool same = std::ranges::count(call.contents, call.contents[0]) == call.P;
  return out << (same ? names[static_cast<int>(call.contents[0])] : "mixed values");
}

}  // namespace taut::test
