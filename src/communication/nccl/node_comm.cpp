#include "communication/nccl/node_comm.hpp"

#include <algorithm>
#include <utility>

namespace taut::nccl {
namespace {

// Returns true if the blocks of a row, at their end `from` or `to`, have one size and follow each other in
// memory: then one call of NCCL serves the row.
template <class AnySlice>
bool is_contiguous(std::span<const NodeWork::Block> row, AnySlice NodeWork::Block::*end) noexcept {
  const AnySlice first = row[0].*end;
  for (std::size_t i = 1; i < row.size(); ++i) {
    const AnySlice next = row[i].*end;
    if (next.count != first.count || next.as_bytes().data() != first.as_bytes().data() + i * first.bytes())
      return false;
  }
  return true;
}

}  // namespace

// After an error ncclCommDestroy could wait for ever.
NodeComm::~NodeComm() {
  if (error() != success) abort();
  if (comm_ != nullptr) nccl_.CommDestroy(comm_);
}

bool NodeComm::can_split(const Library& nccl) noexcept {
  return nccl.CommSplit != nullptr && nccl.CommDestroy != nullptr && nccl.CommAbort != nullptr;
}

void NodeComm::open(ncclComm* all, int rank) {
  if (comm_ != nullptr) return check(error(), "the NCCL communicator of the node");
  if (aborted_)
    throw Error(Status::transport_failed,
                "an earlier call on this rank has failed: calls by nodes need a new communicator of NCCL");
  local_rank_ = nodes_.local_rank(rank);
  node_size_ = static_cast<int>(same_node(rank).size());
  check(nccl_.CommSplit(all, nodes_.node(rank), local_rank_, &comm_, nullptr), "ncclCommSplit");
}

int NodeComm::error() const {
  int error = success;
  if (comm_ == nullptr) return success;
  const int failed = nccl_.CommGetAsyncError(comm_, &error);
  return failed != success ? failed : error;
}

void NodeComm::abort() noexcept {
  aborted_ = true;
  if (ncclComm* const comm = std::exchange(comm_, nullptr)) nccl_.CommAbort(comm);
}

int NodeComm::enqueue(const NodeWork& work, void* stream) const {
  const std::span<const NodeWork::Block> blocks = work.blocks;
  const auto L = static_cast<std::size_t>(node_size_);
  int failed = success;
  switch (work.kind) {
    case NodeWork::Kind::reduce:
      for (std::size_t i = 0; i < blocks.size() && failed == success; i += L)
        failed = reduce(blocks.subspan(i, L), work.op, stream);
      break;
    case NodeWork::Kind::share: failed = share(blocks, stream); break;
    case NodeWork::Kind::move:
      for (std::size_t i = 0; i < blocks.size() && failed == success; ++i) failed = move(blocks[i], stream);
      break;
  }
  return failed;
}

int NodeComm::reduce(std::span<const NodeWork::Block> row, Reduction op, void* stream) const {
  const int type = nccl_type_of(row[0].from.type), op_code = nccl_op_of(op);
  if (is_contiguous(row, &NodeWork::Block::from)) {
    const Slice own = row[static_cast<std::size_t>(local_rank_)].to;
    return row[0].from.count == 0 ? success
                                  : nccl_.ReduceScatter(row[0].from.data, own.data, row[0].from.count, type,
                                                        op_code, comm_, stream);
  }
  int failed = success;
  for (const NodeWork::Block& block : row) {
    const void* const to = block.receiver == local_rank_ ? block.to.data : block.from.data;
    if (block.from.count != 0 && failed == success)
      failed = nccl_.Reduce(block.from.data, const_cast<void*>(to), block.from.count, type, op_code,
                            block.receiver, comm_, stream);
  }
  return failed;
}

int NodeComm::share(std::span<const NodeWork::Block> row, void* stream) const {
  const int type = nccl_type_of(row[0].to.type);
  if (is_contiguous(row, &NodeWork::Block::to)) {
    const ConstSlice own = row[static_cast<std::size_t>(local_rank_)].from;
    return own.count == 0 ? success
                          : nccl_.AllGather(own.data, row[0].to.data, own.count, type, comm_, stream);
  }
  int failed = success;
  for (const NodeWork::Block& block : row)
    if (block.to.count != 0 && failed == success)
      failed =
          nccl_.Broadcast(block.from.data, block.to.data, block.to.count, type, block.sender, comm_, stream);
  return failed;
}

int NodeComm::move(const NodeWork::Block& block, void* stream) const {
  if (block.sender == local_rank_ && block.from.count != 0)
    return nccl_.Send(block.from.data, block.from.bytes(), uint8, block.receiver, comm_, stream);
  if (block.receiver == local_rank_ && block.to.count != 0)
    return nccl_.Recv(block.to.data, block.to.bytes(), uint8, block.sender, comm_, stream);
  return success;
}

}  // namespace taut::nccl
