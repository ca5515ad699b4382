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

#include "communication/team/intra_node.hpp"

namespace taut {
namespace {

using Kind = NodeWork::Kind;
using NodeBlocks = std::vector<NodeWork::Block>;

// Context of one segment of a call on one rank.
struct View {
  const AlgorithmInfo& algorithm;
  const Nodes& nodes;
  Team all;
  NodePeers node;
  Team across;  // leaders with the local rank of this one

  int me() const noexcept { return node.rank(); }
  int neighbour(int distance) const noexcept { return mod(me() + distance, node.size()); }
  int my_node() const noexcept { return nodes.node(all.rank()); }

  bool leads(int i) const noexcept { return i < nodes.leaders(); }
  bool leads() const noexcept { return leads(me()); }
  int if_leader(int i) const noexcept { return leads(i) ? i : NodePeers::no_rank; }
  int if_led(int i) const noexcept { return leads() ? i : NodePeers::no_rank; }

  // Returns the part of a message that rank i of a node is responsible for; an empty one unless it leads. On
  // GPUs the parts of a segment are one after the other, as NCCL needs them. Elsewhere the parts, and so the
  // order of sums on a node, do not depend on the segments.
  template <class S>
  S part(const S& message, int i) const noexcept {
    if (!leads(i)) return {message.part(0, 0)};
    const auto number = static_cast<std::size_t>(i), parts = static_cast<std::size_t>(nodes.leaders());
    return node.does_work() ? block(all.whole(message), number, parts)
                            : all.whole(block(message, number, parts));
  }
  // Returns the place of this segment in the part of this rank. GPUs, where parts differ, have no histories.
  std::size_t place_of_part(const ConstSlice& message) const noexcept {
    const auto number = static_cast<std::size_t>(me()), parts = static_cast<std::size_t>(nodes.leaders());
    return all.place_of_segment(block(message, number, parts));
  }
  // Returns the block of rank i of node `of_node`.
  template <class S>
  S chunk(const S& message, int of_node, int i) const noexcept {
    return all.chunk(message, nodes.rank(of_node, i));
  }
  // Appends the blocks that this rank and rank i of the node send each other; none if rank i is this one.
  void exchange(NodeBlocks& blocks, int i, ConstSlice mine, Slice theirs) const {
    if (i == me()) return;
    blocks.push_back({mine, {}, me(), i});
    blocks.push_back({{}, theirs, i, me()});
  }
};

// Scope in which the algorithm between nodes runs: a history knows the places of its operands.
class BetweenNodes {
 public:
  // `at`: place of the operands among the values that this rank encodes, and among those that it decodes.
  BetweenNodes(const View& view, ConstSlice sent, ConstSlice received, std::size_t at) noexcept
      : BetweenNodes(view, {OperandExtent(sent, at), OperandExtent(received, at), {}}) {}
  BetweenNodes(const View& view, const OperandMemory& memory) noexcept : team_(view.all) {
    team_.place(memory);
  }
  BetweenNodes(const BetweenNodes&) = delete;
  ~BetweenNodes() { team_.place({}); }

 private:
  const Team& team_;
};

// ---- Steps on a node

// Reduce-scatter on the node: mine <- this leader's part of the sum over the node.
Task<> sum_up(View& view, ConstSlice values, Slice mine, Reduction op) {
  if (view.node.does_work()) {
    NodeWork work = view.node.work(Kind::reduce, op, [&](NodeBlocks& blocks) {
      for (int i = 0; i < view.node.size(); ++i) blocks.push_back({view.part(values, i), mine, view.me(), i});
    });
    co_return co_await view.node.run(std::move(work));
  }
  const NodePeers::Memory theirs = view.node.memory(mine.count, mine.type);
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

// ---- Collectives. Only leaders run the algorithm.

Task<> allreduce(View view, Operands data) {
  const Slice mine = view.part(static_cast<Slice>(data.out), view.me());
  co_await sum_up(view, data.in, mine, data.op);
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
  NodePeers::Memory memory;
  if (!at_root) memory = view.node.memory(own.count, own.type);
  const Slice mine = at_root ? view.part(static_cast<Slice>(data.out), view.me()) : memory.values;
  const ConstSlice sum = mine.data != nullptr ? mine : own;  // placeholder if no memory; values are unused
  co_await sum_up(view, data.in, mine, data.op);
  if (view.leads()) {
    const BetweenNodes run(view, mine, mine, view.place_of_part(data.in));
    co_await view.algorithm.run(view.across.of_segment(), {sum, mine, data.op, root_node});
  }
  if (beside_root && view.node.does_work()) {
    NodeWork work = view.node.work(Kind::move, data.op, [&](NodeBlocks& blocks) {
      if (!at_root) blocks.push_back({sum, {}, view.me(), root});
      for (int i = 0; at_root && i < view.node.size(); ++i)
        if (i != root) blocks.push_back({{}, view.part(static_cast<Slice>(data.out), i), i, root});
    });
    co_return co_await view.node.run(std::move(work));
  }
  if (beside_root && !at_root) co_await view.node.send(sum, view.if_led(root));
  for (int d = 1; at_root && d < view.node.size(); ++d) {
    const int from = view.neighbour(d);
    co_await view.node.recv(view.part(static_cast<Slice>(data.out), from), view.if_leader(from));
  }
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
    decoded = view.node.memory(mine.count, mine.type);
    spare = view.node.memory(view.part(values, 0).count, mine.type);
    mine = {{decoded.values.data, mine.count, mine.type}};
  }
  const bool on_gpus = view.node.does_work();
  if (beside_root && on_gpus) {
    NodeWork work = view.node.work(Kind::move, data.op, [&](NodeBlocks& blocks) {
      if (!at_root) blocks.push_back({{}, mine, root, view.me()});
      for (int i = 0; at_root && i < view.node.size(); ++i)
        if (i != root) blocks.push_back({view.part(source, i), {}, root, i});
    });
    co_await view.node.run(std::move(work));
  }
  if (beside_root && !at_root && !on_gpus) co_await view.node.recv(mine, view.if_led(root));
  for (int d = 1; at_root && !on_gpus && d < view.node.size(); ++d) {
    const int to = view.neighbour(d);
    co_await view.node.send(view.part(source, to), view.if_leader(to));
  }
  const ConstSlice exact = at_root ? view.part(source, view.me()) : ConstSlice(mine);
  if (view.leads()) {
    const BetweenNodes run(view, exact, mine, view.place_of_part(values));
    co_await view.algorithm.run(view.across.of_segment(), {exact, mine, data.op, root_node});
  }
  const ConstSlice shared =
      mine.data != nullptr ? mine : exact;  // without memory the call has failed already
  co_await share(view, shared, values, spare.values);
}

// In the following collectives all blocks have the same size, and all ranks lead.

// A rank that keeps its own block decodes it to scratch memory, and sends this copy to the ranks of its node.
Task<> allgather(View view, Operands data) {
  const int node = view.across.rank();
  const Slice block = view.chunk(data.out, node, view.me());
  NodePeers::Memory decoded;
  ConstSlice own = block;
  if (data.own) {
    decoded = view.node.memory(block.count, block.type);
    data.own.emplace(decoded.values.data);
    if (decoded.values.data != nullptr) own = decoded.values;  // else the call has failed already
  }
  const std::size_t own_place = OperandExtent(data.out).place_of(block).value_or(0);
  {
    const BetweenNodes run(
        view, {OperandExtent(data.in), OperandExtent(data.out), OperandExtent(decoded.values, own_place)});
    co_await view.algorithm.run(view.across.in_blocks_of_all(), data);
  }
  const auto mine = [&](int n) { return n == node ? own : view.chunk(data.out, n, view.me()); };
  if (view.node.does_work()) {
    NodeWork work = view.node.work(Kind::move, data.op, [&](NodeBlocks& blocks) {
      for (int i = 0; i < view.node.size(); ++i)
        for (int n = 0; n < view.nodes.count(); ++n)
          view.exchange(blocks, i, mine(n), view.chunk(data.out, n, i));
    });
    co_return co_await view.node.run(std::move(work));
  }
  for (int d = 1; d < view.node.size(); ++d) {
    const int to = view.neighbour(d), from = view.neighbour(-d);
    for (int n = 0; n < view.nodes.count(); ++n)
      co_await view.node.exchange(mine(n), to, view.chunk(data.out, n, from), from);
  }
}

Task<> reduce_scatter(View view, Operands data) {
  const int N = view.nodes.count();
  const Slice mine = view.all.whole(static_cast<Slice>(data.out));
  const NodePeers::Memory memory = view.node.memory(mine.count * static_cast<std::size_t>(N), mine.type);
  const bool lacking = memory.values.data == nullptr;
  ConstSlice sums = memory.values;
  if (lacking) sums.data = data.in.data;  // valid memory as a placeholder; its values are not used
  const auto sum_of = [&](int n) {
    return lacking ? Slice{} : view.across.of_segment().chunk(memory.values, n);
  };
  const bool on_gpus = view.node.does_work();
  if (on_gpus) {
    NodeWork work = view.node.work(Kind::reduce, data.op, [&](NodeBlocks& blocks) {
      for (int n = 0; n < N; ++n)
        for (int i = 0; i < view.node.size(); ++i)
          blocks.push_back({view.chunk(data.in, n, i), sum_of(n), view.me(), i});
    });
    co_await view.node.run(std::move(work));
  }
  NodePeers::Memory theirs;
  if (!on_gpus) theirs = view.node.memory(mine.count, mine.type);
  for (int n = 0; n < N && !on_gpus; ++n) {
    const Slice sum = sum_of(n);
    view.node.copy(view.chunk(data.in, n, view.me()), sum);
    for (int d = 1; d < view.node.size(); ++d) {
      const int to = view.neighbour(d), from = view.neighbour(-d);
      co_await view.node.exchange(view.chunk(data.in, n, to), to, theirs.values, from);
      view.node.combine(sum, theirs.values, data.op);
    }
  }
  const std::size_t at = view.all.place_of_segment(static_cast<ConstSlice>(data.out));
  const OperandExtent sent(sums, at * static_cast<std::size_t>(N)), received(mine, at);
  const BetweenNodes run(view, {sent, received, {}});
  co_await view.algorithm.run(view.across.of_segment(), {sums, mine, data.op});
}

// A rank collects from its node the blocks for the ranks with its place, packed into a message from each
// peer. The blocks of a node for one rank then make one block of the call between nodes.
Task<> alltoall(View view, Operands data) {
  const int N = view.nodes.count(), L = view.node.size(), me = view.me();
  const Slice own = view.chunk(data.out, view.across.rank(), me);
  const auto blocks_of = static_cast<std::size_t>(N), all = blocks_of * static_cast<std::size_t>(L);
  const NodePeers::Memory collected = view.node.memory(own.count * all, own.type);
  const bool on_gpus = view.node.does_work();  // then nothing is packed
  NodePeers::Memory packed;
  if (!on_gpus) packed = view.node.memory(own.count * 2 * blocks_of, own.type);
  const bool lacking = collected.values.data == nullptr || (!on_gpus && packed.values.data == nullptr);
  const Slice leaving = block(packed.values, 0, 2), arriving = block(packed.values, 1, 2);
  ConstSlice message = leaving, sent = collected.values;
  if (lacking) message.data = sent.data = data.in.data;  // any memory: the call has failed on this rank
  const auto place = [&](int n, int i) {
    return block(collected.values, static_cast<std::size_t>(n * L + i), all);
  };
  const auto move = [&](ConstSlice from, Slice to) { view.node.copy(from, to); };
  for (int n = 0; n < N; ++n) move(view.chunk(data.in, n, me), place(n, me));
  if (on_gpus) {
    NodeWork work = view.node.work(Kind::move, data.op, [&](NodeBlocks& blocks) {
      for (int i = 0; i < L; ++i)
        for (int n = 0; n < N; ++n) view.exchange(blocks, i, view.chunk(data.in, n, i), place(n, i));
    });
    co_await view.node.run(std::move(work));
  }
  for (int d = 1; d < L && !on_gpus; ++d) {
    const int to = view.neighbour(d), from = view.neighbour(-d);
    for (int n = 0; n < N; ++n)
      move(view.chunk(data.in, n, to), block(leaving, static_cast<std::size_t>(n), blocks_of));
    co_await view.node.exchange(message, to, arriving, from);
    for (int n = 0; n < N; ++n) move(block(arriving, static_cast<std::size_t>(n), blocks_of), place(n, from));
  }
  const Slice values = data.out;
  const bool direct = view.nodes.are_consecutive() && view.all.whole(values).count == values.count;
  const Slice results = direct && !lacking ? values : collected.values;
  {
    const std::size_t at =
        view.all.place_of_segment(view.all.of_segment().chunk(ConstSlice(values), 0)) * all;
    const BetweenNodes run(view, sent, results, at);
    co_await view.algorithm.run(view.across.of_segment(), {sent, results});
  }
  for (int n = 0; !direct && n < N; ++n)
    for (int i = 0; i < L; ++i) move(place(n, i), view.chunk(data.out, n, i));
}

// ---- Blocks from rank to rank. The algorithm moves those that leave the node, at the same time.

// Blocks of an alltoall that stay on the node, in the order of a pairwise exchange.
Task<> blocks_on_node(View& view, const Operands& data) {
  const bool in_place = data.in.data == data.out.data;
  const auto rank_of = [&](int i) { return view.nodes.rank(view.my_node(), i); };
  if (view.node.does_work() && !in_place) {
    NodeWork work = view.node.work(Kind::move, data.op, [&](NodeBlocks& blocks) {
      for (int i = 0; i < view.node.size(); ++i)
        view.exchange(blocks, i, view.all.chunk(data.in, rank_of(i)), view.all.chunk(data.out, rank_of(i)));
    });
    co_return co_await view.node.run(std::move(work));
  }
  std::size_t largest = 0;
  for (int i = 0; i < view.node.size(); ++i)
    largest = std::max(largest, view.all.chunk(data.out, rank_of(i)).count);
  NodePeers::Memory arriving;
  if (in_place) arriving = view.node.memory(largest, data.out.type);
  for (int step = 0; step < view.node.size(); ++step) {
    const int partner = mod(step - view.me(), view.node.size());
    if (partner == view.me()) continue;
    const Slice to = view.all.chunk(data.out, rank_of(partner));
    Slice theirs = to;
    if (in_place) theirs.data = arriving.values.data;
    co_await view.node.exchange(view.all.chunk(data.in, rank_of(partner)), partner, theirs, partner);
    if (in_place && theirs.data != nullptr) view.node.copy(theirs, to);
  }
}

// Returns this segment's part of the block of neighbour i of n.
template <class S>
S block_of_neighbour(const View& view, const Blocks<S>& values, std::size_t i, std::size_t n) noexcept {
  return view.all.in_blocks(static_cast<int>(n)).chunk(values, static_cast<int>(i));
}

bool stays_on_node(const View& view, int rank) noexcept {
  return rank != view.all.rank() && view.nodes.node(rank) == view.my_node();
}

// Send the blocks for neighbours on the node from block `first` on, all at a time, and receive theirs.
Task<> send_on_node(View& view, const Operands& data, std::size_t first) {
  const std::vector<int>& to = data.neighbours->to;
  const std::size_t last = std::min(first + ValueBatch::most, to.size());
  ValueBatch messages(view.node);
  for (std::size_t i = first; i < last; ++i)
    if (stays_on_node(view, to[i]))
      messages.send(block_of_neighbour(view, data.in, i, to.size()), view.nodes.local_rank(to[i]));
  if (last < to.size()) co_await send_on_node(view, data, last);
  co_await messages;
}

Task<> receive_on_node(View& view, const Operands& data) {
  const std::vector<int>& from = data.neighbours->from;
  for (std::size_t first = 0; first < from.size(); first += ValueBatch::most) {
    ValueBatch messages(view.node);
    for (std::size_t i = first; i < std::min(first + ValueBatch::most, from.size()); ++i)
      if (stays_on_node(view, from[i]))
        messages.recv(block_of_neighbour(view, data.out, i, from.size()), view.nodes.local_rank(from[i]));
    co_await messages;
  }
}

// Blocks for other nodes are encoded before copies on the node take the memory's time. Messages of NCCL keep
// one order on all ranks.
Task<> move_between_ranks(View view, Operands data) {
  if (view.node.does_work()) {
    co_await blocks_on_node(view, data);
    co_return co_await view.algorithm.run(view.all, data);
  }
  std::array<Task<>, 3> tasks;
  std::size_t n = 0;
  tasks[n++] = view.algorithm.run(view.all, data);
  if (data.neighbours != nullptr) {
    tasks[n++] = send_on_node(view, data, 0);
    tasks[n++] = receive_on_node(view, data);
  } else {
    tasks[n++] = blocks_on_node(view, data);
  }
  co_await all(std::span(tasks).first(n));
}

}  // namespace

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
      return equal_nodes && !any_blocks && count % static_cast<std::size_t>(ranks) == 0;
    default: return false;
  }
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
  if (place >= nodes.leaders()) return {};
  const ConstSlice message = collective == reduce ? ConstSlice(data.in) : ConstSlice(data.out);
  const std::size_t part =
      block(message, static_cast<std::size_t>(place), static_cast<std::size_t>(nodes.leaders())).bytes();
  const bool beside_root = nodes.node(rank) == nodes.node(data.root);
  return {collective == bcast && !beside_root ? 0 : part, collective == reduce && !beside_root ? 0 : part};
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
  const View view{
      algorithm, nodes, team, {team, nodes.same_node(rank)}, team.among(nodes.same_local_rank(rank))};
  switch (algorithm.collective) {
    case Collective::allreduce: return allreduce(view, data);
    case Collective::reduce: return reduce(view, data);
    case Collective::bcast: return bcast(view, data);
    case Collective::allgather: return allgather(view, data);
    case Collective::reduce_scatter: return reduce_scatter(view, data);
    case Collective::neighbor_alltoall:
    case Collective::alltoall:
      return data.between != nullptr ? move_between_ranks(view, data) : alltoall(view, data);
    default: return {};
  }
}

}  // namespace taut
