// Hierarchical (two-level) collectives, after A. Mamidala, R. Kumar, D. De, D. Panda, "MPI collectives on
// modern multicore clusters: performance optimizations and communication characteristics", CCGrid 2008. Every
// rank of a node is the leader of a part of the message: M. Bayatpour et al., "Scalable reduction collectives
// with data partitioning-based multi-leader design", SC17.
// On nodes of unequal size, the leaders are the first ranks of each node, as many as the smallest node has.
//   cost for L ranks on each of N nodes and a message of S bytes: between nodes a rank moves what the
//   algorithm moves for S/L bytes and N ranks; on its node it exchanges S/L bytes of values at a time,
//   L-1 times for each step below
//   error of a sum: that of the algorithm for N ranks; each value is coded as part of the sum of a node
#include "communication/team/hierarchical.hpp"

#include "communication/team/message_batch.hpp"
#include "communication/team/node_view.hpp"

namespace taut {
namespace on_nodes {
namespace {

// ---- Steps on a node

// Reduce-scatter on the node: mine <- this leader's part of the sum over the node.
Task<> sum_up(View& view, ConstSlice values, Slice mine, Reduction op) {
  if (view.node.does_work()) {
    NodeWork work = view.node.work(Kind::reduce, op, [&](NodeBlocks& blocks) {
      for (int i = 0; i < view.node.size(); ++i) blocks.push_back({view.part(values, i), mine, view.me(), i});
    });
    co_return co_await view.node.run(std::move(work));
  }
  NodePeers::Memory theirs;
  if (view.leads()) theirs = view.node.memory(mine.count, mine.type);
  view.node.copy(view.part(values, view.me()), mine);
  for (int d = 1; d < view.node.size(); ++d) {
    const int to = view.neighbour(d), from = view.neighbour(-d);
    co_await view.node.exchange(view.part(values, to), view.if_leader(to), theirs.values, view.if_led(from));
    if (view.leads()) view.node.combine(mine, theirs.values, op);
  }
}

// Allgather on the node: every leader sends its part, `mine`, to all others. A rank whose `values` have no
// data receives the parts of the others in `spare`, on GPUs all at once: nobody reads them.
Task<> share(View& view, ConstSlice mine, Slice values, Slice spare = {}) {
  const auto part_from = [&](int from) {
    Slice theirs = view.part(values, from);
    if (values.data == nullptr) theirs.data = spare.data;
    return theirs;
  };
  if (view.node.does_work()) {
    NodeWork work = view.node.work(Kind::move, Reduction::sum, [&](NodeBlocks& blocks) {
      for (int i = 0; i < view.node.size(); ++i) view.exchange(blocks, i, mine, part_from(i));
    });
    co_return co_await view.node.run(std::move(work));
  }
  for (int d = 1; d < view.node.size(); ++d) {
    const int to = view.neighbour(d), from = view.neighbour(-d);
    co_await view.node.exchange(mine, view.if_led(to), part_from(from), view.if_leader(from));
  }
}

// Every rank of a node sends the frames of its part to all others, and all decode all parts. All ranks lead.
Task<> share_frames(View& view, FinalFrames totals, Slice values) {
  const int L = view.node.size(), n = view.algorithm.blocks(view.nodes.count());
  const Team node = view.all.among(view.nodes.same_node(view.all.rank()));
  Team team = node.with_sums_of(view.across).of_segment().in_blocks(n);
  const auto decoded = [&](int i, int frame) {
    return team.chunk(view.part(values, i), frame ^ totals.first);
  };
  int first = 1;
  do {
    const int last = std::min(first + MessageBatch::most, L);
    std::array<Frames, MessageBatch::most> received;
    MessageBatch messages(team);
    DecodeBatch batch(team);
    for (int d = first; d < last; ++d) {
      Frames& theirs = received[static_cast<std::size_t>(d - first)];
      theirs = team.empty(team.chunk(view.part(values, 0), 0), n);
      messages.recv(view.neighbour(-d), theirs, n);
    }
    for (int d = first; d < last; ++d) messages.send(totals.frames, n, view.neighbour(d));
    for (int i = 0; first == 1 && i < n; ++i) co_await batch.add(totals.frames, i, decoded(view.me(), i));
    for (int d = first; d < last; ++d) {
      co_await messages[d - first];
      for (int i = 0; i < n; ++i)
        co_await batch.add(received[static_cast<std::size_t>(d - first)], i, decoded(view.neighbour(-d), i));
    }
    co_await batch.rest();
    co_await messages;
  } while ((first += MessageBatch::most) < L);
}

// ---- Collectives. Only leaders run the algorithm.

Task<> allreduce(View view, Operands data) {
  const Slice mine = view.part(static_cast<Slice>(data.out), view.me());
  co_await sum_up(view, data.in, mine, data.op);
  if (data.frames_on_node) {
    FinalFrames totals;
    Operands part{ConstSlice(mine), mine, data.op};
    part.totals = &totals;
    co_await view.algorithm.run(view.across.of_segment(), part);
    co_return co_await share_frames(view, std::move(totals), data.out);
  }
  if (view.leads()) {
    const BetweenNodes run(view, mine, mine, view.place_of_part(data.out));
    co_await view.algorithm.run(view.across.of_segment(), {ConstSlice(mine), mine, data.op});
  }
  if (view.node.does_work()) {
    NodeWork work = view.node.work(Kind::share, data.op, [&](NodeBlocks& blocks) {
      const Slice values = data.out;
      for (int i = 0; i < view.node.size(); ++i)
        blocks.push_back({view.part(values, i), view.part(values, i), i, view.me()});
    });
    co_return co_await view.node.run(std::move(work));
  }
  co_await share(view, mine, data.out);
}

Task<> reduce(View view, Operands data) {
  const int root = view.nodes.local_rank(data.root), root_node = view.nodes.node(data.root);
  const bool at_root = view.all.rank() == data.root, beside_root = view.my_node() == root_node;
  const ConstSlice own = view.part(static_cast<ConstSlice>(data.in), view.me());
  NodePeers::Memory memory{{}, {{nullptr, own.count, own.type}}};
  if (!at_root && view.leads()) memory = view.node.memory(own.count, own.type);
  const Slice mine = at_root ? view.part(static_cast<Slice>(data.out), view.me()) : memory.values;
  const ConstSlice sum = mine.data != nullptr ? mine : own;  // placeholder if no memory; values are unused
  co_await sum_up(view, data.in, mine, data.op);
  if (view.leads()) {
    const BetweenNodes run(view, mine, mine, view.place_of_part(data.in));
    co_await view.algorithm.run(view.across.of_segment(), {sum, mine, data.op, root_node});
  }
  if (beside_root)
    co_await collect(view, root, sum, [&](int i) { return view.part(static_cast<Slice>(data.out), i); });
}

// A root that keeps its values decodes its part to scratch memory, and sends this copy to the ranks of its
// node.
Task<> bcast(View view, Operands data) {
  const int root = view.nodes.local_rank(data.root), root_node = view.nodes.node(data.root);
  const bool at_root = view.all.rank() == data.root, beside_root = view.my_node() == root_node;
  const Slice values = data.out;
  const ConstSlice source = data.in;
  NodePeers::Memory decoded, spare;
  Slice mine = view.part(values, view.me());
  if (at_root && values.data == nullptr) {
    if (view.leads()) decoded = view.node.memory(mine.count, mine.type);
    spare = view.node.memory(view.part(values, 0).count, mine.type);
    mine = {{decoded.values.data, mine.count, mine.type}};
  }
  if (beside_root) co_await hand_out(view, root, mine, [&](int i) { return view.part(source, i); });
  const ConstSlice exact = at_root ? view.part(source, view.me()) : ConstSlice(mine);
  if (view.leads()) {
    const BetweenNodes run(view, exact, mine, view.place_of_part(values));
    co_await view.algorithm.run(view.across.of_segment(), {exact, mine, data.op, root_node});
  }
  const ConstSlice shared =
      mine.data != nullptr ? mine : exact;  // without memory the call has failed already
  co_await share(view, shared, values, spare.values);
}

}  // namespace
}  // namespace on_nodes

bool runs_by_nodes(Collective collective, std::size_t count, int ranks, bool equal_nodes,
                   bool any_blocks) noexcept {
  switch (collective) {
    case Collective::allreduce:
    case Collective::reduce:
    case Collective::bcast: return !any_blocks;
    case Collective::neighbor_alltoall: return true;
    case Collective::alltoall: return any_blocks || count % static_cast<std::size_t>(ranks) == 0;
    case Collective::allgather:
    case Collective::reduce_scatter:
    case Collective::gather:
    case Collective::scatter:
      return equal_nodes && !any_blocks && count % static_cast<std::size_t>(ranks) == 0;
    default: return false;
  }
}

bool joins_blocks(Collective collective) noexcept {
  return collective == Collective::gather || collective == Collective::scatter;
}

bool moves_between_ranks(const Call& call) noexcept {
  if (call.collective == Collective::neighbor_alltoall) return true;
  constexpr std::size_t largest_packed_block = std::size_t{4} << 10;
  const auto ranks = static_cast<std::size_t>(call.ranks);
  const bool packs = call.equal_nodes() && !call.any_blocks && call.count() % ranks == 0 &&
                     call.bytes / ranks <= largest_packed_block;
  return call.collective == Collective::alltoall && !packs;
}

BytesBetweenNodes bytes_between_nodes(Collective collective, const Nodes& nodes, int rank,
                                      const Operands& data) noexcept {
  using enum Collective;
  const std::size_t in = data.in.bytes(), out = data.out.bytes();
  if (collective == allgather || collective == alltoall) return {in, out};
  if (collective == reduce_scatter) return {out * static_cast<std::size_t>(nodes.count()), out};
  const int place = nodes.local_rank(rank);
  if (joins_blocks(collective)) {
    const std::size_t ranks = nodes.same_node(rank).size();
    const bool at_root = rank == data.root, gathers = collective == gather;
    if (place != nodes.local_rank(data.root)) return {};
    if (gathers) return {at_root ? 0 : in * ranks, at_root ? out : 0};
    return {at_root ? in : 0, at_root ? 0 : out * ranks};
  }
  if (place >= nodes.leaders()) return {};
  const ConstSlice message = collective == reduce ? ConstSlice(data.in) : ConstSlice(data.out);
  const std::size_t part =
      block(message, static_cast<std::size_t>(place), static_cast<std::size_t>(nodes.leaders())).bytes();
  const bool beside_root = nodes.node(rank) == nodes.node(data.root);
  return {collective == bcast && !beside_root ? 0 : part, collective == reduce && !beside_root ? 0 : part};
}

namespace {

// Returns the number of values of the largest of n blocks.
template <class S>
std::size_t largest_block(const Blocks<S>& values, std::size_t n) noexcept {
  if (values.layout != nullptr) return values.most().count;
  return n == 0 ? 0 : part_range(values.count, 0, n).count;
}

}  // namespace

MemoryByNodes memory_by_nodes(const Call& call, const Nodes& nodes, int rank, const Operands& data,
                              int segments, bool works) noexcept {
  using enum Collective;
  const auto P = static_cast<std::size_t>(call.ranks), N = static_cast<std::size_t>(nodes.count()), L = P / N;
  const auto of_segment = [&](std::size_t values) {  // an empty part takes a buffer too
    return std::max<std::size_t>(1, part_range(values, 0, static_cast<std::size_t>(segments)).count);
  };
  const bool at_root = rank == data.root;
  const int place = nodes.local_rank(rank);
  switch (call.collective) {
    case allgather: {
      const std::size_t own = of_segment(data.in.count);
      return {.kept = data.own ? own : 0, .message = own};
    }
    case reduce_scatter: {
      const std::size_t own = of_segment(data.out.count);
      return {.kept = own * N, .passing = works ? 0 : own, .message = own};
    }
    case gather:
    case scatter: {
      const bool joins = place == nodes.local_rank(data.root);
      const std::size_t own = call.collective == gather ? data.in.count : call.count() / P;
      const std::size_t of_node = of_segment(own * L);
      const std::size_t kept = !at_root ? of_node : nodes.are_consecutive() ? 0 : of_node * N;
      return {.kept = joins ? kept : 0, .message = std::min(own, of_node), .between = joins};
    }
    case neighbor_alltoall: {
      const std::vector<int>&to = data.neighbours->to, &from = data.neighbours->from;
      const auto on_node = [&](const std::vector<int>& ranks) {
        return static_cast<std::size_t>(std::ranges::count_if(
            ranks, [&](int other) { return other != rank && nodes.node(other) == nodes.node(rank); }));
      };
      const std::size_t largest =
          std::max(largest_block(data.in, to.size()), largest_block(data.out, from.size()));
      return {.message = of_segment(largest),
              .messages = on_node(to) + std::min(on_node(from), ValueBatch::most)};
    }
    case alltoall: {
      if (!moves_between_ranks(call)) {
        const std::size_t own = of_segment(data.out.count / P);
        return {.kept = own * P, .passing = works ? 0 : own * 2 * N, .message = own * N};
      }
      const std::size_t largest = of_segment(std::max(largest_block(data.in, P), largest_block(data.out, P)));
      return {.kept = data.in.data == data.out.data ? largest : 0, .message = largest};
    }
    default: {
      const bool leads = place < nodes.leaders();
      const std::size_t message = call.collective == reduce ? data.in.count : data.out.count;
      const std::size_t part =
          of_segment(part_range(message, 0, static_cast<std::size_t>(nodes.leaders())).count);
      const bool stays = call.collective == bcast && at_root && data.out.data == nullptr;
      const bool sums_here = leads && reduces(call.collective);
      return {.kept = leads && (stays || (call.collective == reduce && !at_root)) ? part : 0,
              .passing = stays || (sums_here && !works) ? part : 0,
              .message = part,
              .between = leads};
    }
  }
}

bool follows_nodes(const AlgorithmInfo& algorithm, const Nodes& nodes, Arithmetic how) noexcept {
  const Collective collective = algorithm.collective;
  const bool any_order = collective != Collective::alltoall && !computes_prefixes(collective) &&
                         !of_neighbours(collective) && !algorithm.recodes &&
                         (!reduces(collective) || how == Arithmetic::frames);
  return any_order && nodes.several() && !nodes.are_consecutive();
}

OrderedCall in_order_of_nodes(const AlgorithmInfo& algorithm, const Nodes& nodes, Team team, Operands data) {
  using enum Collective;
  const Collective collective = algorithm.collective;
  const bool in_blocks_of_ranks = collective == allgather || collective == reduce_scatter ||
                                  collective == gather || collective == scatter;
  const Team ordered = team.among(nodes.in_order());
  data.root = nodes.place_in_order(data.root);
  return {in_blocks_of_ranks ? ordered.in_blocks_of_all() : ordered, data};
}

Task<> by_nodes(const AlgorithmInfo& algorithm, const Nodes& nodes, Team team, Operands data) {
  const int rank = team.rank();
  const on_nodes::View view{
      algorithm, nodes, team, {team, nodes.same_node(rank)}, team.among(nodes.same_local_rank(rank))};
  using enum Collective;
  switch (algorithm.collective) {
    case allreduce: return on_nodes::allreduce(view, data);
    case reduce: return on_nodes::reduce(view, data);
    case bcast: return on_nodes::bcast(view, data);
    case allgather: return on_nodes::allgather(view, data);
    case reduce_scatter: return on_nodes::reduce_scatter(view, data);
    case gather: return on_nodes::gather(view, data);
    case scatter: return on_nodes::scatter(view, data);
    case neighbor_alltoall:
    case alltoall:
      return data.between != nullptr ? on_nodes::move_between_ranks(view, data)
                                     : on_nodes::alltoall(view, data);
    default: return {};
  }
}

}  // namespace taut
