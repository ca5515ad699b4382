// Places of the values of a call: where memory stands among all values that this rank encodes, and among all
// that it decodes. A history finds the values of earlier calls by their places. By nodes, the algorithm
// between nodes works on memory that differs from segment to segment, and from call to call.
#pragma once

#include <optional>
#include <vector>

#include "communication/team/blocks.hpp"

namespace taut {

// Range of memory, and the place of its first byte.
struct OperandExtent {
  const std::byte* first = nullptr;
  std::size_t bytes = 0, place = 0;

  OperandExtent() = default;
  explicit OperandExtent(const Blocks<ConstSlice>& operand, std::size_t at = 0) noexcept;
  // Returns the place of a slice; nothing if the slice is not in this memory.
  std::optional<std::size_t> place_of(ConstSlice slice) const noexcept;
};

// Memory of the operands of one segment. `own`: the decoded own block, if it is not in the received values.
struct OperandMemory {
  OperandExtent sent, received, own;
};

class OperandPlaces {
 public:
  // Throws std::bad_alloc.
  OperandPlaces(std::size_t sent_bytes, std::size_t received_bytes, int segments)
      : sent_bytes_(sent_bytes),
        received_bytes_(received_bytes),
        memory_(static_cast<std::size_t>(segments)) {}

  std::size_t sent_bytes() const noexcept { return sent_bytes_; }
  std::size_t received_bytes() const noexcept { return received_bytes_; }

  void set(int segment, const OperandMemory& memory) noexcept {
    memory_[static_cast<std::size_t>(segment)] = memory;
  }

  // Return the place of values that this rank encodes, and of values that it decodes; nothing if the values
  // have none.
  std::optional<std::size_t> of_sent(ConstSlice values) const noexcept;
  std::optional<std::size_t> of_received(ConstSlice values) const noexcept;

 private:
  std::size_t sent_bytes_, received_bytes_;
  std::vector<OperandMemory> memory_;  // by segment
};

}  // namespace taut
