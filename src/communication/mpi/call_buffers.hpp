// CallBuffers: the buffers that a collective without a reduction reads and writes on this rank, made from the
// arguments of the MPI call, and the CollectiveCall that they describe. Contiguous values stay where they
// are; other values are packed into contiguous memory for the call (staged).
#pragma once

#include <mpi.h>

#include <memory>
#include <optional>

#include "communication/comm/collective_call.hpp"
#include "communication/mpi/datatype_layout.hpp"
#include "communication/mpi/mpi_call.hpp"
#include "communication/mpi/rank_and_size.hpp"
#include "communication/team/blocks.hpp"

namespace taut::api {

using Layout = std::shared_ptr<const BlockLayout>;

// Returns the layout of the blocks; null if MPI has to report an error: no counts, or negative ones. Without
// displacements, each block follows the previous one.
Layout layout_of(const MPI_Count* counts, const MPI_Aint* displacements, int blocks);

// Returns the number of values in all blocks.
std::size_t values_of(const BlockLayout& layout) noexcept;

// Buffer that a call reads or writes on this rank: elements of one datatype, contiguous or in blocks; or
// blocks that have a datatype each. Made from a BufferArg, whose arrays it copies.
struct CallBuffer {
  void* at;
  MPI_Count count;  // number of elements in all blocks
  MPI_Datatype type;
  Layout blocks = {};                    // in elements; null: blocks of equal size, one after another
  bool has_types = false;                // each block has a datatype of its own, and its offset is in bytes
  std::vector<MPI_Datatype> types = {};  // these datatypes
  std::optional<DatatypeLayout> element_layout = datatype_layout_of(type);  // common to all datatypes

  CallBuffer(const void* data, MPI_Count n, MPI_Datatype datatype) noexcept;
  CallBuffer(const void* data, Layout layout, MPI_Datatype datatype) noexcept;
  CallBuffer(const void* data, Layout layout, std::vector<MPI_Datatype> of_blocks);

  // Returns true if Taut supports the datatype, or all datatypes of the blocks, and these are of one kind.
  bool known() const noexcept { return element_layout.has_value(); }
  // Returns true if the elements have gaps, so that the values are packed for the call.
  bool staged() const noexcept { return known() && !element_layout->dense; }
  // Returns true if the buffer matches any datatype, because it has no values: its blocks, with a datatype
  // each, are all empty, or it has no blocks.
  bool any_type() const noexcept {
    return count == 0 && (has_types || (blocks != nullptr && blocks->counts.empty()));
  }

  // Return the number of elements in block i of n, their datatype, and the address of the first element.
  MPI_Count count_of(std::size_t i, std::size_t n) const noexcept;
  MPI_Datatype type_of(std::size_t i) const noexcept { return has_types ? types[i] : type; }
  void* address_of(std::size_t i, std::size_t n) const noexcept;

  // Return the number of values in elements of `type`, in block i, and in all blocks. The datatypes must
  // be known().
  std::size_t values(MPI_Count elements) const noexcept {
    return static_cast<std::size_t>(elements) * element_layout->values_per_element;
  }
  std::size_t values_in_block(std::size_t i) const noexcept;
  std::size_t all_values() const noexcept;
};

// Returns a buffer of `blocks` blocks, of equal size or, if `has_counts`, by its counts and datatypes;
// nothing if MPI has to report an error.
std::optional<CallBuffer> call_buffer(const BufferArg& buffer, bool has_counts, int blocks);

// Returns the bytes of all blocks; nothing if MPI has to report an error in the arguments.
std::optional<std::size_t> bytes_of_all(const CallBuffer& buffer) noexcept;

// Buffers of a call that are significant on this rank. `source`: the values that the call reads.
struct CallBuffers {
  enum class Source { in, own_block_of_out, all_of_out };

  std::optional<CallBuffer> in, out;
  Source source = Source::in;

  // Sets the values that are sent. MPI_IN_PLACE selects the part of `out` that `in_place` names, if there is
  // an `out`.
  void send(const void* data, MPI_Count count, MPI_Datatype type, Source in_place) noexcept {
    if (out && data == MPI_IN_PLACE)
      source = in_place;
    else
      in = CallBuffer(data, count, type);
  }
};

// Describes a collective without a reduction, with a whole message of `bytes` bytes. Taut can serve the call
// if the datatypes of both buffers have the same supported kind of values. The ranks agree on that, because
// each may use other datatypes of the same signature.
CollectiveCall describe_data_movement(Collective collective, const RankAndSize& group, CallBuffers buffers,
                                      int root, std::size_t bytes, bool bytes_known = true);

}  // namespace taut::api
