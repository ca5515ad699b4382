// The table of block widths of a record: nibbles or bytes, for all blocks or only for those that a bitmap
// names.
#pragma once

#include "codecs/planes/format/format.hpp"

namespace taut::planes {

// Width of every block of a chunk; whoever fills it sets the entries beyond the chunk's blocks to zero.
struct Widths {
  alignas(64) std::uint8_t of[chunk_blocks];
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

// A table as it was read.
struct WidthsRead {
  std::size_t sum = 0;
  unsigned greatest = 0;
  std::size_t bytes = 0;  // of the table; 0: it names blocks that are not there
};

constexpr WidthsRead table_read(const WidthFacts& facts, std::size_t bytes) noexcept {
  return {facts.sum, facts.greatest, bytes};
}

// Whether a map of `blocks` bits has any beyond them.
inline bool names_blocks_beyond(const std::byte* map, std::size_t blocks) noexcept {
  return blocks % 8 != 0 && (map[blocks / 8] >> (blocks % 8)) != std::byte{0};
}

// The largest table, and what a kernel may read or write beyond it.
inline constexpr std::size_t max_table_bytes = chunk_blocks + map_bytes(chunk_blocks) + 64;

}  // namespace taut::planes
