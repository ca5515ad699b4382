// A collective call on one rank, ready to execute: its description (`Call`), its memory (`Operands`), and
// what only the execution needs, such as staging and the order of a stream.
#pragma once

#include <array>
#include <memory>

#include "communication/team/algorithm.hpp"
#include "communication/team/call.hpp"
#include "communication/team/place.hpp"

namespace taut {

namespace gpu {
class StreamPoint;
}

// Packs values that are not contiguous in the user's memory into contiguous memory for a call, and unpacks
// the results. Operands that are still to be packed have their counts, types and layouts, and no data.
class Staging {
 public:
  virtual ~Staging() = default;

  // Returns true if the user's memory is on a GPU.
  virtual bool on_device() const noexcept { return false; }

  // Allocates memory, packs the values that this rank's call reads into it, and sets `data` to that memory.
  // Throws Error and then leaves `data` unchanged.
  virtual std::array<Buffer, 2> pack(Place& place, Operands& data) const = 0;

  // Unpacks the results in `data` to the user's memory, and leaves the gaps there unchanged. Throws Error.
  virtual void unpack(const Operands& data) const = 0;
};

struct CollectiveCall : Call {
  // `all_bytes`: size of the whole message. A call that is not `coded` has no type, and `memory` is empty.
  CollectiveCall(Collective of, Operands memory, std::size_t all_bytes, bool coded = true) noexcept
      : data(memory) {
    collective = of;
    bytes = all_bytes;
    op = memory.op;
    if (coded) type = memory.out.type;
  }

  Operands data;
  std::shared_ptr<const BlockLayout> layouts[2] = {};  // own the layouts that `data` refers to
  bool any_type = false;    // this rank has no values, and no type: it takes the type of the other ranks
  bool on_device = false;   // this rank's values are in memory of a GPU, which the host must not access
  bool overlaps = false;    // the buffers overlap, which MPI may refuse
  void* move_to = nullptr;  // final address of the result if it is not that of `out`; else null
  gpu::StreamPoint* begins = nullptr;           // point in a stream at which the call begins; null: at once
  std::shared_ptr<const Staging> staging = {};  // packs values that `data` lacks; null: `data` is complete
};

// Returns the values that this rank encodes first, which it takes samples of; empty if it encodes none.
inline Blocks<ConstSlice> own_values(const CollectiveCall& call, int rank) noexcept {
  const Operands& data = call.data;
  const bool root_alone = call.collective == Collective::bcast || call.collective == Collective::scatter;
  return root_alone && rank != data.root ? Blocks<ConstSlice>{} : data.in;
}

// Returns true if the call writes to `out` on this rank.
inline bool receives(const CollectiveCall& call, int rank) noexcept {
  const bool at_root = rank == call.data.root;
  switch (call.collective) {
    case Collective::bcast:
    case Collective::scatter: return !at_root || call.data.out.data != nullptr;
    case Collective::reduce:
    case Collective::gather: return at_root;
    default: return true;
  }
}

}  // namespace taut
