// Width tables, built from the vector operations of a kernel set:
//   inspect, write_entries, read_entries: as below; may read or write 64 entries beyond the last
//   read_all_nibbles: reads the most common table, a nibble for every block of a whole chunk
//   gather: packs the widths above 0, zeros behind them, and sets the bitmap of their blocks; returns
//           the number of these widths
//   scatter: the inverse
// Included only by the widths header of a kernel set.
#pragma once

#include "codecs/planes/format/widths.hpp"

namespace taut::planes {
namespace {  // one copy for each kernel set, compiled with its instructions

using WidthMap = std::uint64_t[chunk_blocks / 64];

template <class Ops>
void write_widths(std::byte* to, const Widths& widths, std::size_t blocks, WidthTable table) noexcept {
  const bool as_bytes = (table.flags & byte_widths) != 0;
  if ((table.flags & dense) != 0) return Ops::write_entries(to, widths.of, blocks, as_bytes);
  alignas(64) std::uint8_t coded[chunk_blocks + 64];
  WidthMap map;
  const std::size_t n = Ops::gather(widths, map, coded);
  std::memcpy(to, map, map_bytes(blocks));
  Ops::write_entries(to + map_bytes(blocks), coded, n, as_bytes);
}

template <class Ops>
WidthsRead read_widths(const std::byte* table, std::size_t blocks, std::uint8_t flags,
                       Widths& widths) noexcept {
  const bool as_bytes = (flags & byte_widths) != 0;
  if ((flags & dense) != 0) {
    if (!as_bytes && blocks == chunk_blocks) return Ops::read_all_nibbles(table, widths);
    Ops::read_entries(table, blocks, as_bytes, widths.of);
    std::memset(widths.of + blocks, 0, chunk_blocks - blocks);
    return table_read(Ops::inspect(widths), entry_bytes(blocks, flags));
  }
  if (names_blocks_beyond(table, blocks)) return {};
  WidthMap map = {};
  std::memcpy(map, table, map_bytes(blocks));
  alignas(64) std::uint8_t coded[chunk_blocks + 64];
  Ops::read_entries(table + map_bytes(blocks), chunk_blocks, as_bytes, coded);
  const std::size_t n = Ops::scatter(coded, map, widths);
  return table_read(Ops::inspect(widths), map_bytes(blocks) + entry_bytes(n, flags));
}

}  // namespace
}  // namespace taut::planes
