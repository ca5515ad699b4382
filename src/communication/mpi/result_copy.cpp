#include "communication/mpi/result_copy.hpp"

#include <algorithm>
#include <limits>

#include "communication/mpi/neighbour_calls.hpp"

namespace taut::api {
namespace {

using MaybeBuffer = std::optional<CallBuffer>;

bool is_in_place(const MpiCall& call) noexcept { return call.send.at == MPI_IN_PLACE; }

// Returns the buffer of a reduction's result.
MaybeBuffer reduced_values(const MpiCall& call, const RankAndSize& group) {
  const Collective collective = call.info().collective;
  const bool receives = collective == Collective::reduce   ? group.rank == call.root
                        : collective == Collective::exscan ? group.rank != 0
                                                           : true;
  if (!receives) return {};
  const MPI_Count count = call.info().has_counts ? call.recv.counts[group.rank] : call.recv.count;
  return CallBuffer(call.recv.at, count, call.recv.type);
}

// Returns the buffer of a call's result on this rank; nothing if it has none.
MaybeBuffer result_of(const MpiCall& call, const RankAndSize& group, const Topology* topology) {
  const FunctionInfo& info = call.info();
  if (call.reduces()) return reduced_values(call, group);
  if (of_neighbours(info.collective))
    return topology != nullptr ? neighbour_buffers(call, *topology).value_or(CallBuffers{}).out
                               : MaybeBuffer{};
  switch (info.collective) {
    case Collective::bcast: return CallBuffer(call.recv.at, call.recv.count, call.recv.type);
    case Collective::scatter:
      if (call.recv.at == MPI_IN_PLACE) return {};
      return CallBuffer(call.recv.at, call.recv.count, call.recv.type);
    case Collective::gather:
      return group.rank == call.root ? call_buffer(call.recv, info.has_counts, group.size) : MaybeBuffer{};
    default: return call_buffer(call.recv, info.has_counts, group.size);
  }
}

// Returns the memory that a call reads or writes in its receive buffer: the result, or all the input of a
// reduction in place whose result is a block of it.
MaybeBuffer touched_by(const MpiCall& call, const RankAndSize& group, const MaybeBuffer& result) {
  if (call.info().collective != Collective::reduce_scatter || !is_in_place(call)) return result;
  MPI_Count count = 0;
  for (int i = 0; i < group.size; ++i)
    count += call.info().has_counts ? call.recv.counts[i] : call.recv.count;
  return CallBuffer(call.recv.at, count, call.recv.type);
}

// A span of addresses.
struct Extent {
  std::intptr_t low = std::numeric_limits<std::intptr_t>::max(), high = 0;

  // Adds `count` elements that begin at an address.
  void add(const void* at, MPI_Count count, MPI_Datatype type) {
    if (count == 0) return;
    MPI_Aint least = 0, extent = 0, true_least = 0, true_extent = 0;
    PMPI_Type_get_extent(type, &least, &extent);
    PMPI_Type_get_true_extent(type, &true_least, &true_extent);
    const auto first = reinterpret_cast<std::intptr_t>(at) + true_least;
    const std::intptr_t last = first + static_cast<std::intptr_t>(count - 1) * extent;
    low = std::min({low, first, last});
    high = std::max({high, first + true_extent, last + true_extent});
  }
};

// Returns true if the values of a call that this rank sends or receives are in memory of a GPU.
bool uses_device(const MpiCall& call, const RankAndSize& group) {
  const Significance matters(call, group.rank == call.root);
  const auto is_there = [](const BufferArg& buffer) {
    return buffer.types == nullptr && buffer.type != MPI_DATATYPE_NULL && on_device(buffer.at, buffer.type);
  };
  return (matters.send && is_there(call.send)) || (matters.recv && is_there(call.recv));
}

}  // namespace

ResultCopy::ResultCopy(const MpiCall& call, const RankAndSize& group, const Topology* topology)
    : call_(call), result_(result_of(call, group, topology)) {
  if (uses_device(call, group))
    throw Error(Status::invalid_argument, "TAUT_CHECK cannot check calls on values in GPU memory; unset it");
  const MaybeBuffer touched = touched_by(call, group, result_);
  if (!touched) return;
  allocate(*touched);
  const bool reads = is_in_place(call) || call.info().collective == Collective::bcast;
  if (reads && touched->known()) copy_values(*touched);
}

// The copy has the alignment of the program's buffer.
void ResultCopy::allocate(const CallBuffer& touched) {
  constexpr std::intptr_t alignment = 64;
  Extent extent;
  const std::size_t n = blocks_of(touched);
  for (std::size_t i = 0; i < n; ++i)
    extent.add(touched.address_of(i, n), touched.count_of(i, n), touched.type_of(i));
  if (extent.high <= extent.low) return;
  memory_ = std::make_unique_for_overwrite<std::byte[]>(
      static_cast<std::size_t>(extent.high - extent.low + alignment));
  const auto base = reinterpret_cast<std::intptr_t>(memory_.get());
  const std::intptr_t misfit = (extent.low - base) % alignment;
  shift_ = base + (misfit < 0 ? misfit + alignment : misfit) - extent.low;
  call_.recv.at = shifted(CallBuffer(call_.recv.at, 0, MPI_BYTE)).at;
}

void ResultCopy::copy_values(const CallBuffer& touched) const {
  const CallBuffer copy = shifted(touched);
  const std::size_t n = blocks_of(touched);
  std::vector<std::byte> packed;
  for (std::size_t i = 0; i < n; ++i) {
    if (touched.count_of(i, n) == 0) continue;
    const ConstSlice values = values_of_block(touched, i, n, packed);
    if (touched.element_layout->dense)
      std::ranges::copy(values.as_bytes(), static_cast<std::byte*>(copy.address_of(i, n)));
    else
      unpack_values(values.as_bytes(), copy.address_of(i, n), copy.count_of(i, n), copy.type_of(i));
  }
}

CallBuffer ResultCopy::shifted(CallBuffer buffer) const noexcept {
  buffer.at = reinterpret_cast<void*>(reinterpret_cast<std::intptr_t>(buffer.at) + shift_);
  return buffer;
}

ConstSlice ResultCopy::values_of_block(const CallBuffer& buffer, std::size_t i, std::size_t n,
                                       std::vector<std::byte>& packed) {
  const DatatypeLayout& layout = *buffer.element_layout;
  const std::size_t values =
      buffer.blocks != nullptr ? buffer.values_in_block(i) : buffer.values(buffer.count_of(i, n));
  ConstSlice slice{{buffer.address_of(i, n), values, layout.type()}};
  if (layout.dense) return slice;
  packed.resize(slice.bytes());
  pack_values(slice.data, buffer.count_of(i, n), buffer.type_of(i), packed);
  slice.data = packed.data();
  return slice;
}

}  // namespace taut::api
