// NodeComm is the communicator of NCCL for the ranks of one node, on which values move uncompressed.
#pragma once

#include "communication/nccl/library.hpp"
#include "communication/team/nodes.hpp"
#include "communication/team/transport.hpp"

namespace taut::nccl {

// The communicator of one node, which open() makes out of that of all ranks.
class NodeComm {
 public:
  explicit NodeComm(const Library& nccl) noexcept : nccl_(nccl) {}
  NodeComm(const NodeComm&) = delete;
  ~NodeComm();

  // Returns true if this NCCL can make such a communicator.
  static bool can_split(const Library& nccl) noexcept;

  void set_nodes(const Nodes& nodes) { nodes_ = nodes; }
  // Returns the ranks on the node of a rank.
  std::span<const int> same_node(int rank) const noexcept { return nodes_.same_node(rank); }

  // Makes the communicator unless it exists. All ranks call it. Throws Error, also if NCCL has noticed one
  // since, and after abort(): the other ranks have no reason to split the communicator once more.
  void open(ncclComm* all, int rank);

  bool is_open() const noexcept { return comm_ != nullptr; }

  // Enqueues work, inside a group of NCCL. Returns NCCL's result.
  int enqueue(const NodeWork& work, void* stream) const;

  // Returns the error that NCCL has noticed on the communicator since; `success` if there is none.
  int error() const;

  // Ends the communicator after a failure, so that its kernels do not wait for other ranks.
  void abort() noexcept;

 private:
  // `row`: a block for each rank of the node.
  int reduce(std::span<const NodeWork::Block> row, Reduction op, void* stream) const;
  int share(std::span<const NodeWork::Block> row, void* stream) const;
  int move(const NodeWork::Block& block, void* stream) const;

  const Library& nccl_;
  Nodes nodes_;
  ncclComm* comm_ = nullptr;
  bool aborted_ = false;
  int local_rank_ = 0, node_size_ = 0;
};

}  // namespace taut::nccl
