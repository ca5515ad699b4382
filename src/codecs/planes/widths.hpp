// The table of block widths of a record: nibbles or bytes, for all blocks or only for those that a bitmap
// names.
#pragma once

#include "codecs/planes/format.hpp"

namespace taut::planes {

// Width of every block of a chunk; entries beyond the chunk's blocks are zero.
struct Widths {
  alignas(64) std::uint8_t of[chunk_blocks] = {};
};

struct WidthTable {
  std::uint8_t flags;  // dense, byte_widths
  std::size_t bytes;
};

struct WidthFacts {
  std::size_t sum = 0;    // bytes of the planes
  std::size_t coded = 0;  // blocks with a width above 0
  unsigned greatest = 0;
};

constexpr std::size_t map_bytes(std::size_t blocks) noexcept { return (blocks + 7) / 8; }
constexpr std::size_t entry_bytes(std::size_t entries, std::uint8_t flags) noexcept {
  return (flags & byte_widths) != 0 ? entries : (entries + 1) / 2;
}

// The smaller form of the table; dense when equal.
constexpr WidthTable choose_table(const WidthFacts& facts, std::size_t blocks) noexcept {
  const std::uint8_t form = facts.greatest > 15 ? byte_widths : 0;
  const std::size_t all = entry_bytes(blocks, form),
                    some = map_bytes(blocks) + entry_bytes(facts.coded, form);
  return all <= some ? WidthTable{static_cast<std::uint8_t>(form | dense), all} : WidthTable{form, some};
}

// Bytes of the table at `in`, of which `available` can be read; 0 when it does not fit or names blocks that
// are not there.
inline std::size_t table_bytes(const std::byte* in, std::size_t available, std::size_t blocks,
                               std::uint8_t flags) noexcept {
  std::size_t bytes = entry_bytes(blocks, flags);
  if ((flags & dense) == 0) {
    if (available < map_bytes(blocks)) return 0;
    std::uint64_t map[chunk_blocks / 64] = {};
    std::memcpy(map, in, map_bytes(blocks));
    std::size_t entries = 0;
    for (const std::uint64_t m : map) entries += static_cast<std::size_t>(std::popcount(m));
    if (blocks % 64 != 0 && map[blocks / 64] >> (blocks % 64) != 0) return 0;
    bytes = map_bytes(blocks) + entry_bytes(entries, flags);
  }
  return bytes <= available ? bytes : 0;
}

// The largest table, and what a kernel may read or write beyond it.
inline constexpr std::size_t max_table_bytes = chunk_blocks + map_bytes(chunk_blocks) + 64;

}  // namespace taut::planes
