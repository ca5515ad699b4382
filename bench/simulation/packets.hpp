// Forwarding of frames in packets of a fixed number of bytes, as in C-Coll's data movement framework (Huang
// et al., IPDPS 2024): links are busy alike however unequal the frames are. For comparison with the library,
// which forwards whole frames of segments.
#pragma once

#include "collective_run.hpp"

namespace simulation {

struct PacketRank {
  taut::Transport& transport;
  const ModelledCodec& codec;
  const Processor& processor;
  std::size_t packet_bytes;
  int segments;
};

// Runs an allgather along a ring, or a broadcast along a chain from rank 0. The sizes of all frames are
// known: the agreement before the call could carry them.
void forward_in_packets(const PacketRank& rank, const taut::Operands& data, taut::Collective collective);

}  // namespace simulation
