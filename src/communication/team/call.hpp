// Description of one call, a collective or a message, without its memory. Rules, plans, statistics and traces
// read this description. The memory is in `Operands` (communication/team/algorithm.hpp), MPI's arguments are
// in `MpiCall` (api/args).
#pragma once

#include <array>
#include <bit>
#include <string_view>

#include "communication/team/collective.hpp"
#include "compressor/values/reduction.hpp"

namespace taut {

// Key of the statistics: kind of call and call site. Calls with the same key are counted together. {0, 0}:
// any call.
using CallKey = std::array<std::uint64_t, 2>;

struct Call {
  Collective collective{};
  DType type{};                   // DType{}: the type or the operator is not compressed
  Reduction op = Reduction::sum;  // operator of a reduction
  std::size_t bytes = 0;          // size of the whole message, all blocks
  bool bytes_known = true;        // all ranks know the size; else `bytes` is what this rank sends or receives
  int ranks = 1;
  // Number of nodes if there are several, and several ranks on one of them; over NCCL 1 if all ranks share a
  // node; else 0.
  int nodes = 0;
  int leaders = 0;  // ranks of each node that hold a part of the message by nodes; 0: all, on equal nodes
  int rails = 1;    // ranks of a node that make such calls at the same time, and share its links
  bool over_nccl = false;      // NCCL makes the plain call, and moves the values of GPUs
  std::string_view card = {};  // name of the GPU that has the values, the same on all ranks; empty: unknown
  bool any_blocks = false;     // the blocks may have different sizes
  bool mean = false;           // the sum is divided by the number of ranks
  const void* site = nullptr;  // return address of the call, null if unknown; may differ between ranks

  // Further inputs of rule matching, and flags that tell if the ranks have agreed on them.
  std::uint64_t sites = ~std::uint64_t{0};  // bit i: the call site is the one that rule i names
  bool type_agreed = false;                 // in a data movement, ranks may use different types
  bool sites_agreed = false;

  bool coded() const noexcept { return type != DType{}; }  // Taut knows the type and the operator
  std::size_t count() const noexcept { return coded() ? bytes / size_of(type) : 0; }  // values of the message

  bool equal_nodes() const noexcept { return leaders == 0 || nodes * leaders == ranks; }

  // Returns collective, type, operator and size class (c: messages of 2^(c-1) to 2^c - 1 bytes) as one
  // number.
  std::uint32_t kind() const noexcept {
    const auto op_of_kind = coded() && reduces(collective) ? static_cast<std::uint32_t>(op) : 0;
    return static_cast<std::uint32_t>(collective) | static_cast<std::uint32_t>(std::bit_width(bytes)) << 8 |
           static_cast<std::uint32_t>(type) << 16 | op_of_kind << 24;
  }
  CallKey key() const noexcept { return {kind(), reinterpret_cast<std::uintptr_t>(site)}; }

  // Returns the smallest call of a kind. The call has no type or operator if the kind has none.
  static Call of_kind(std::uint32_t kind) noexcept {
    const std::uint32_t size_class = kind >> 8 & 0xFF;
    Call call;
    call.collective = Collective(static_cast<std::uint8_t>(kind));
    call.type = DType(static_cast<std::uint8_t>(kind >> 16));
    call.op = Reduction(static_cast<std::uint8_t>(kind >> 24));
    call.bytes = size_class == 0 ? 0 : std::size_t{1} << (size_class - 1);
    return call;
  }
  static Call of_key(const CallKey& key) noexcept {
    Call call = of_kind(static_cast<std::uint32_t>(key[0]));
    call.site = reinterpret_cast<const void*>(static_cast<std::uintptr_t>(key[1]));
    return call;
  }
};

}  // namespace taut
