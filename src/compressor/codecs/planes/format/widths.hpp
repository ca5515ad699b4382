// Width table of a record: nibbles or bytes, either for all blocks or only for the blocks set in a bitmap.
#pragma once

#include "compressor/codecs/planes/format/format.hpp"

namespace taut::planes {

// Width of every block of a chunk. The code that fills it zeroes the entries beyond the chunk's blocks.
struct Widths {
  alignas(64) std::uint8_t of[chunk_blocks];
};

struct WidthTable {
  std::uint8_t flags;  // dense, byte_widths
  std::size_t bytes;
};

// Summary of the widths of a chunk, from which the form of its table follows.
struct WidthSummary {
  std::size_t sum = 0;    // bytes of the planes
  std::size_t coded = 0;  // blocks with a width above 0
  unsigned greatest = 0;
};

constexpr std::size_t map_bytes(std::size_t blocks) noexcept { return (blocks + 7) / 8; }
constexpr std::size_t entry_bytes(std::size_t entries, std::uint8_t flags) noexcept {
  return (flags & byte_widths) != 0 ? entries : (entries + 1) / 2;
}

// Returns the smaller form of the table; dense if both forms have the same size.
constexpr WidthTable choose_table(const WidthSummary& summary, std::size_t blocks) noexcept {
  const std::uint8_t form = summary.greatest > 15 ? byte_widths : 0;
  const std::size_t all = entry_bytes(blocks, form),
                    some = map_bytes(blocks) + entry_bytes(summary.coded, form);
  return all <= some ? WidthTable{static_cast<std::uint8_t>(form | dense), all} : WidthTable{form, some};
}

// Result of reading a table.
struct WidthsRead {
  std::size_t sum = 0;
  unsigned greatest = 0;
  std::size_t bytes = 0;  // bytes of the table; 0: it has entries for blocks that do not exist
};

constexpr WidthsRead table_read(const WidthSummary& summary, std::size_t bytes) noexcept {
  return {summary.sum, summary.greatest, bytes};
}

// Returns true if a bitmap of `blocks` bits has a bit set beyond them.
inline bool names_blocks_beyond(const std::byte* map, std::size_t blocks) noexcept {
  return blocks % 8 != 0 && (map[blocks / 8] >> (blocks % 8)) != std::byte{0};
}

// Size of the largest table, plus the bytes that a kernel may read or write beyond it.
inline constexpr std::size_t max_table_bytes = chunk_blocks + map_bytes(chunk_blocks) + 64;

}  // namespace taut::planes
