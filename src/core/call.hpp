// Description of one call, a collective or a message, without its memory. Rules, plans, statistics and traces
// read it. The memory is in `Operands` (core/algorithm.hpp), MPI's arguments in `MpiCall` (api/args).
#pragma once

#include <array>
#include <bit>

#include "core/collective.hpp"
#include "core/reduction.hpp"

namespace taut {

// Kind and call site: calls with the same key are counted together. {0, 0}: any call.
using CallKey = std::array<std::uint64_t, 2>;

struct Call {
  Collective collective{};
  DType type{};                   // DType{}: type or operator are such as are not compressed
  Reduction op = Reduction::sum;  // of a collective that reduces
  std::size_t bytes = 0;          // of the whole message, all blocks
  bool bytes_known = true;        // on every rank; else `bytes` are those that this rank sends or receives
  int ranks = 1;
  int nodes = 0;               // number of nodes where each has the same number of ranks, and several; else 0
  bool any_blocks = false;     // the blocks may have different sizes
  bool mean = false;           // the sum is divided by the number of ranks
  const void* site = nullptr;  // where the program called from, if that is known; may differ between ranks

  // What rules need to know, and whether the ranks have agreed on it.
  std::uint64_t sites = ~std::uint64_t{0};  // bit i: the call site is the one that rule i names
  bool type_agreed = false;                 // ranks that move data may use other types
  bool sites_agreed = false;

  bool coded() const noexcept { return type != DType{}; }
  std::size_t count() const noexcept { return coded() ? bytes / size_of(type) : 0; }  // values of the message

  // Collective, type, operator and size class (c: messages of 2^(c-1) to 2^c - 1 bytes) in one number.
  std::uint32_t kind() const noexcept {
    const auto op_of_kind = coded() && reduces(collective) ? static_cast<std::uint32_t>(op) : 0;
    return static_cast<std::uint32_t>(collective) | static_cast<std::uint32_t>(std::bit_width(bytes)) << 8 |
           static_cast<std::uint32_t>(type) << 16 | op_of_kind << 24;
  }
  CallKey key() const noexcept { return {kind(), reinterpret_cast<std::uintptr_t>(site)}; }

  // The smallest call of a kind; without a type or an operator where the kind has none.
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
