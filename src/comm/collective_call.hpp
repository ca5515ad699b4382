// A collective call on one rank: its description and its memory.
#pragma once

#include "comm/staging.hpp"
#include "core/call.hpp"

namespace taut {

struct CollectiveCall : Call {
  // `all_bytes`: of the whole message. The type of a call that is not `coded` stays out; `memory` is empty
  // then.
  CollectiveCall(Collective of, Operands memory, std::size_t all_bytes, bool coded = true) noexcept
      : data(memory) {
    collective = of;
    bytes = all_bytes;
    op = memory.op;
    if (coded) type = memory.out.type;
  }

  Operands data;
  std::shared_ptr<const BlockLayout> layouts[2] = {};  // keep what `data` refers to
  bool on_device = false;   // this rank's values are in memory of a GPU, and `data` must not be touched
  void* move_to = nullptr;  // where `out` has to stand in the end, if not where it is
  std::shared_ptr<const Staging> staging = {};  // of values that `data` is still to be given; null: none are
};

// The values that this rank encodes first, and so can judge by; empty when it encodes none.
Blocks<ConstSlice> own_values(const CollectiveCall& call, int rank) noexcept;

}  // namespace taut
