// Calls whose blocks are of any size.
#include "api/vector_calls.hpp"

#include <algorithm>

namespace taut::api {
namespace {

int size_of_comm(MPI_Comm comm) {
  int size = 0, inter = 0;
  PMPI_Comm_test_inter(comm, &inter);
  if (inter != 0)
    PMPI_Comm_remote_size(comm, &size);
  else
    PMPI_Comm_size(comm, &size);
  return size;
}

// The arrays of one buffer; empty where they do not matter.
struct PlainBlocks {
  plain::Numbers<MPI_Count> counts;
  plain::Numbers<MPI_Aint> displacements;

  PlainBlocks(const VectorBlocks& blocks, int n, bool matters = true)
      : counts(matters ? blocks.counts : nullptr, n),
        displacements(matters ? blocks.displacements : nullptr, n) {}
  bool fit() const noexcept { return counts.fit() && displacements.fit(); }
};

// Of a buffer that has so many values here.
std::optional<std::size_t> bytes_of_all(const Side& side) noexcept {
  return message_bytes(side.count, side.type, 1);
}

}  // namespace

struct PlainArrays {
  PlainBlocks sent, received;

  bool fit() const noexcept { return sent.fit() && received.fit(); }
};

namespace {

// `arrays` of a call that is complete later.
const PlainArrays& keep(std::shared_ptr<const PlainArrays>& kept, PlainArrays arrays) {
  kept = std::make_shared<const PlainArrays>(std::move(arrays));
  return *kept;
}

}  // namespace

// ---- Allgatherv

Described Allgatherv::describe(const Group& group) const {
  const Layout layout = layout_of(received.counts, received.displacements, group.size);
  if (layout == nullptr) return {};
  Sides sides{.in = {}, .out = Side(recvbuf, layout, received.type)};
  sides.send(sendbuf, sendcount, sendtype, Sides::Sends::own_block);
  const auto bytes = bytes_of_all(*sides.out);
  return describe_move(Collective::allgather, group, std::move(sides), 0, bytes);
}

PlainArrays Allgatherv::arrays(MPI_Comm on) const {
  const int P = size_of_comm(on);
  return {{received, P, false}, {received, P}};
}

template <class Function, class... More>
int Allgatherv::pass(Function function, const PlainArrays& arrays, MPI_Comm on, More... more) const {
  const bool sends = sendbuf != MPI_IN_PLACE;
  if (!arrays.fit() || (sends && !plain::fits(sendcount))) return raise(on, MPI_ERR_COUNT);
  return function(sendbuf, plain::count(sendcount, sends), sendtype, recvbuf, arrays.received.counts.data(),
                  arrays.received.displacements.data(), received.type, on, more...);
}
int Allgatherv::plain() const { return pass(TAUT_PMPI(Allgatherv), arrays(comm), comm); }
int Allgatherv::start(MPI_Comm on, MPI_Request* request) {
  return pass(TAUT_PMPI(Iallgatherv), keep(kept, arrays(on)), on, request);
}
int Allgatherv::init(MPI_Info info, MPI_Request* request) {
  return pass(TAUT_PMPI_INIT(Allgatherv), keep(kept, arrays(comm)), comm, info, request);
}
Types Allgatherv::types(const Group&) noexcept {
  return {sendbuf != MPI_IN_PLACE ? &sendtype : nullptr, &received.type};
}

// ---- Gatherv

Described Gatherv::describe(const Group& group) const {
  if (!group.has(root)) return {};
  Sides sides;
  if (group.rank == root) {
    const Layout layout = layout_of(received.counts, received.displacements, group.size);
    if (layout == nullptr) return {};
    sides.out = Side(recvbuf, layout, received.type);
  }
  sides.send(sendbuf, sendcount, sendtype, Sides::Sends::own_block);
  const auto bytes = bytes_of_all(sides.out ? *sides.out : *sides.in);
  return describe_move(Collective::gather, group, std::move(sides), root, bytes, false);
}

PlainArrays Gatherv::arrays(MPI_Comm on) const {
  const int P = size_of_comm(on);
  return {{received, P, false}, {received, P, is_root(on, root)}};
}

template <class Function, class... More>
int Gatherv::pass(Function function, const PlainArrays& arrays, MPI_Comm on, More... more) const {
  const bool sends = !is_root(on, root) || sendbuf != MPI_IN_PLACE;
  if (!arrays.fit() || (sends && !plain::fits(sendcount))) return raise(on, MPI_ERR_COUNT);
  return function(sendbuf, plain::count(sendcount, sends), sendtype, recvbuf, arrays.received.counts.data(),
                  arrays.received.displacements.data(), received.type, root, on, more...);
}
int Gatherv::plain() const { return pass(TAUT_PMPI(Gatherv), arrays(comm), comm); }
int Gatherv::start(MPI_Comm on, MPI_Request* request) {
  return pass(TAUT_PMPI(Igatherv), keep(kept, arrays(on)), on, request);
}
int Gatherv::init(MPI_Info info, MPI_Request* request) {
  return pass(TAUT_PMPI_INIT(Gatherv), keep(kept, arrays(comm)), comm, info, request);
}
Types Gatherv::types(const Group& group) noexcept {
  const bool at_root = group.rank == root;
  return {!at_root || sendbuf != MPI_IN_PLACE ? &sendtype : nullptr, at_root ? &received.type : nullptr};
}

// ---- Scatterv

Described Scatterv::describe(const Group& group) const {
  if (!group.has(root)) return {};
  Sides sides;
  if (group.rank == root) {
    const Layout layout = layout_of(sent.counts, sent.displacements, group.size);
    if (layout == nullptr) return {};
    sides.in = Side(sendbuf, layout, sent.type);
  }
  if (group.rank != root || recvbuf != MPI_IN_PLACE) sides.out = Side(recvbuf, recvcount, recvtype);
  const auto bytes = bytes_of_all(sides.in ? *sides.in : *sides.out);
  return describe_move(Collective::scatter, group, std::move(sides), root, bytes, false);
}

PlainArrays Scatterv::arrays(MPI_Comm on) const {
  const int P = size_of_comm(on);
  return {{sent, P, is_root(on, root)}, {sent, P, false}};
}

template <class Function, class... More>
int Scatterv::pass(Function function, const PlainArrays& arrays, MPI_Comm on, More... more) const {
  const bool receives = !is_root(on, root) || recvbuf != MPI_IN_PLACE;
  if (!arrays.fit() || (receives && !plain::fits(recvcount))) return raise(on, MPI_ERR_COUNT);
  return function(sendbuf, arrays.sent.counts.data(), arrays.sent.displacements.data(), sent.type, recvbuf,
                  plain::count(recvcount, receives), recvtype, root, on, more...);
}
int Scatterv::plain() const { return pass(TAUT_PMPI(Scatterv), arrays(comm), comm); }
int Scatterv::start(MPI_Comm on, MPI_Request* request) {
  return pass(TAUT_PMPI(Iscatterv), keep(kept, arrays(on)), on, request);
}
int Scatterv::init(MPI_Info info, MPI_Request* request) {
  return pass(TAUT_PMPI_INIT(Scatterv), keep(kept, arrays(comm)), comm, info, request);
}
Types Scatterv::types(const Group& group) noexcept {
  const bool at_root = group.rank == root;
  return {at_root ? &sent.type : nullptr, !at_root || recvbuf != MPI_IN_PLACE ? &recvtype : nullptr};
}

// ---- Alltoallv

Described Alltoallv::describe(const Group& group) const {
  const bool in_place = sendbuf == MPI_IN_PLACE;
  const Layout in = in_place ? nullptr : layout_of(sent.counts, sent.displacements, group.size),
               out = layout_of(received.counts, received.displacements, group.size);
  if ((in == nullptr && !in_place) || out == nullptr) return {};
  Sides sides{.in = {}, .out = Side(recvbuf, out, received.type), .sends = Sides::Sends::all};
  auto bytes = bytes_of_all(*sides.out);
  if (!in_place) {
    sides.in = Side(sendbuf, in, sent.type);
    sides.sends = Sides::Sends::in;
    bytes = std::max(bytes, bytes_of_all(*sides.in));
  }
  return describe_move(Collective::alltoall, group, std::move(sides), 0, bytes, false);
}

PlainArrays Alltoallv::arrays(MPI_Comm on) const {
  const int P = size_of_comm(on);
  return {{sent, P, sendbuf != MPI_IN_PLACE}, {received, P}};
}

template <class Function, class... More>
int Alltoallv::pass(Function function, const PlainArrays& arrays, MPI_Comm on, More... more) const {
  if (!arrays.fit()) return raise(on, MPI_ERR_COUNT);
  return function(sendbuf, arrays.sent.counts.data(), arrays.sent.displacements.data(), sent.type, recvbuf,
                  arrays.received.counts.data(), arrays.received.displacements.data(), received.type, on,
                  more...);
}
int Alltoallv::plain() const { return pass(TAUT_PMPI(Alltoallv), arrays(comm), comm); }
int Alltoallv::start(MPI_Comm on, MPI_Request* request) {
  return pass(TAUT_PMPI(Ialltoallv), keep(kept, arrays(on)), on, request);
}
int Alltoallv::init(MPI_Info info, MPI_Request* request) {
  return pass(TAUT_PMPI_INIT(Alltoallv), keep(kept, arrays(comm)), comm, info, request);
}
Types Alltoallv::types(const Group&) noexcept {
  return {sendbuf != MPI_IN_PLACE ? &sent.type : nullptr, &received.type};
}

}  // namespace taut::api
