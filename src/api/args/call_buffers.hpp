// What a call that moves values reads or writes on this rank, as its arguments say, and what becomes of it in
// the library: where values lie together they are served in place, else they are staged.
#pragma once

#include <optional>

#include "api/args/block_layouts.hpp"
#include "api/args/datatype_layout.hpp"
#include "api/args/group.hpp"
#include "comm/collective_call.hpp"

namespace taut::api {

// A buffer: elements of one datatype, all in a row or in blocks, one a rank.
struct Side {
  void* at;
  MPI_Count count;  // elements; of all blocks
  MPI_Datatype type;
  Layout blocks = {};  // in elements; null: equal ones, one after another
  std::optional<DatatypeLayout> elements = datatype_layout_of(type);

  Side(const void* data, MPI_Count n, MPI_Datatype of) noexcept;
  Side(const void* data, Layout layout, MPI_Datatype of) noexcept;

  bool known() const noexcept { return elements.has_value(); }
  bool staged() const noexcept { return known() && !elements->dense; }

  // Elements of block i of so many, and where they begin.
  MPI_Count count_of(std::size_t i, std::size_t n) const noexcept;
  void* address_of(std::size_t i, std::size_t n) const noexcept;

  // Of a type that is known.
  std::size_t values(MPI_Count of) const noexcept { return static_cast<std::size_t>(of) * elements->values; }
};

// Those that matter on a rank. `sends`: which values the call reads.
struct BufferArgs {
  enum class Sends { in, own_block, all };  // the last two: of `out`, in place of `in`

  std::optional<Side> in, out;
  Sends sends = Sends::in;

  // What is sent, by its arguments: MPI_IN_PLACE where `out` is there stands for some of that.
  void send(const void* data, MPI_Count count, MPI_Datatype type, Sends in_place) noexcept {
    if (out && data == MPI_IN_PLACE)
      sends = in_place;
    else
      in = Side(data, count, type);
  }
};

// The call that moves `bytes` of the whole message. The values are served if both sides are of one kind that
// the library knows; a rank may have other datatypes of the same signature, so that all ask the others.
CollectiveCall describe_move(Collective collective, const Group& group, BufferArgs sides, int root,
                             std::size_t bytes, bool bytes_known = true);

}  // namespace taut::api
