// Collectives of blocks by nodes. Except from rank to rank, all blocks have one size, and all ranks of equal
// nodes lead. In a gather and a scatter of S bytes, the root's node alone has several messages: N-1 with L
// blocks each, for N nodes of L ranks. A gather by trees of processors: R. Thakur, R. Rabenseifner and W.
// Gropp, "Optimization of collective communication operations in MPICH", IJHPCA 19 (2005).
#include "communication/team/node_view.hpp"

namespace taut::on_nodes {

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
  if (lacking) sums.data = data.in.data;  // any readable memory: its values are not used
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

// ---- Blocks of a node as one message. The rank of each node at the place of the root collects or hands out
// the blocks of its node.

namespace {

// This segment's part of the blocks of a node, one after the other. A block may be in several parts.
class NodeMessage {
 public:
  NodeMessage(const View& view, std::size_t block) noexcept
      : block_(block), part_(view.all.part_of_segment(block * static_cast<std::size_t>(view.node.size()))) {}

  std::size_t count() const noexcept { return part_.count; }
  std::size_t place(DType type) const noexcept { return part_.first * size_of(type); }

  // Return the values of this part in the block of rank i, and their place in the part.
  template <class S>
  S of_block(const S& block, int i) const noexcept {
    const Range own = range(i);
    return {block.part(own.first - block_ * static_cast<std::size_t>(i), own.count)};
  }
  template <class S>
  S of_part(const S& part, int i) const noexcept {
    const Range own = range(i);
    return {part.part(own.count == 0 ? 0 : own.first - part_.first, own.count)};
  }

 private:
  Range range(int i) const noexcept {
    const std::size_t first = block_ * static_cast<std::size_t>(i), last = first + block_;
    const std::size_t from = std::clamp(part_.first, first, last);
    return {from, std::clamp(part_.first + part_.count, from, last) - from};
  }

  std::size_t block_;
  Range part_;
};

// Calls move(values, place) for the values of each rank in this segment: their part of the operand `all` of a
// root, and their place in `memory`, where messages of nodes follow each other.
template <class S, class Move>
void each_block(const View& view, const NodeMessage& message, const S& all, Slice memory, const Move& move) {
  const int N = view.nodes.count(), L = view.node.size();
  for (int n = 0; n < N; ++n) {
    const Slice of_node = block(memory, static_cast<std::size_t>(n), static_cast<std::size_t>(N));
    for (int i = 0; i < L; ++i) {
      const auto rank = static_cast<std::size_t>(view.nodes.rank(n, i));
      move(message.of_block(block(all, rank, static_cast<std::size_t>(N * L)), i),
           message.of_part(of_node, i));
    }
  }
}

}  // namespace

// The root decodes the messages of the other nodes, to the result if the ranks of each node are consecutive.
// The blocks of its own node stay exact.
Task<> gather(View view, Operands data) {
  const int place = view.nodes.local_rank(data.root), N = view.nodes.count();
  const bool at_root = view.all.rank() == data.root, direct = at_root && view.nodes.are_consecutive();
  const NodeMessage message(view, data.in.count);
  const ConstSlice input = data.in, own = message.of_block(input, view.me());
  if (view.me() != place) co_return co_await collect(view, place, own, [](int) { return Slice(); });
  NodePeers::Memory memory;
  const std::size_t messages = at_root ? static_cast<std::size_t>(N) : 1;
  if (!direct) memory = view.node.memory(message.count() * messages, input.type);
  const Slice result = data.out, all = direct ? result : memory.values;
  const Team across = direct ? view.across : view.across.of_segment();
  const Slice mine = at_root ? across.chunk(all, view.my_node()) : all;
  co_await collect(view, place, own, [&](int i) { return message.of_part(mine, i); });
  view.node.copy(own, message.of_part(mine, view.me()));
  ConstSlice sent =
      direct ? ConstSlice(block(all, static_cast<std::size_t>(view.my_node()), static_cast<std::size_t>(N)))
             : mine;
  if (sent.data == nullptr) sent.data = input.data;  // any memory: the call has failed on this rank
  {
    const std::size_t at = direct ? 0 : message.place(input.type) * messages;
    const BetweenNodes run(view, at_root ? ConstSlice() : sent, at_root ? all : Slice(), at);
    co_await view.algorithm.run(across, {sent, all, data.op, view.nodes.node(data.root)});
  }
  if (at_root && !direct)
    each_block(view, message, result, all, [&](Slice to, Slice from) { view.node.copy(from, to); });
}

// The blocks of the root's own node stay exact.
Task<> scatter(View view, Operands data) {
  const int place = view.nodes.local_rank(data.root), N = view.nodes.count();
  const bool at_root = view.all.rank() == data.root, direct = at_root && view.nodes.are_consecutive();
  const auto ranks = static_cast<std::size_t>(view.all.size());
  const ConstSlice source = data.in;
  const NodeMessage message(view, at_root ? source.count / ranks : data.out.count);
  const Slice result = data.out, mine = message.of_block(result, view.me());
  if (view.me() != place) co_return co_await hand_out(view, place, mine, [](int) { return ConstSlice(); });
  NodePeers::Memory memory;
  const std::size_t messages = at_root ? static_cast<std::size_t>(N) : 1;
  if (!direct) memory = view.node.memory(message.count() * messages, result.type);
  const bool lacking = !direct && memory.values.data == nullptr;
  if (at_root && !direct)
    each_block(view, message, source, memory.values,
               [&](ConstSlice from, Slice to) { view.node.copy(from, to); });
  const Team across = direct ? view.across : view.across.of_segment();
  ConstSlice sent = direct ? source : memory.values;
  if (at_root && lacking) sent.data = source.data;  // any memory: the call has failed on this rank
  const Slice received =
      at_root ? Slice{{nullptr, sent.count / static_cast<std::size_t>(N), sent.type}} : memory.values;
  {
    const std::size_t at = direct ? 0 : message.place(result.type) * messages;
    const BetweenNodes run(view, at_root ? sent : ConstSlice(), received, at);
    co_await view.algorithm.run(across, {sent, received, data.op, view.nodes.node(data.root)});
  }
  const auto block_of = [&](int i) -> ConstSlice {
    const auto rank = static_cast<std::size_t>(view.nodes.rank(view.my_node(), i));
    if (at_root) return message.of_block(block(source, rank, ranks), i);
    ConstSlice values = message.of_part(memory.values, i);
    if (lacking) values.data = result.data;
    return values;
  };
  co_await hand_out(view, place, mine, block_of);
  if (result.data != nullptr) view.node.copy(block_of(view.me()), mine);
}

// ---- Blocks from rank to rank. The algorithm moves those that leave the node, at the same time.

namespace {

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

}  // namespace

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

}  // namespace taut::on_nodes
