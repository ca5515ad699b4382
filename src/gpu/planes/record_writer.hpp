// Writes the planes and widths of a record to shared memory.
#pragma once

#include "codecs/planes/format/widths.hpp"
#include "gpu/planes/block_codec.hpp"
#include "gpu/planes/integers.hpp"

namespace taut::planes::cuda {

// Layout of a record's planes, computed before the planes are written.
struct PlanesPlan {
  unsigned width = 0;                // width of this thread's block
  std::uint32_t at = 0;              // first byte of this thread's block, counted from the first plane
  std::uint32_t rank = 0;            // number of earlier blocks that have planes
  std::uint32_t sum = 0, coded = 0;  // sum of all widths; number of blocks that have planes
  std::uint32_t table_bytes = 0;
  std::uint8_t table_flags = 0, head_bytes = 0;

  TAUT_DEVICE std::uint32_t bytes() const { return (head_bytes + sum + table_bytes + 3) / 4 * 4; }
  TAUT_DEVICE std::uint8_t* block_in(std::uint32_t* record) const {
    return reinterpret_cast<std::uint8_t*>(record) + head_bytes + at;
  }
};

// Computes the layout. Takes one barrier.
template <class Simt>
TAUT_DEVICE PlanesPlan plan_planes(BlockGroup<Simt>& block_group, unsigned width, std::uint32_t blocks,
                                   bool is_wide) {
  PlanesPlan plan;
  plan.width = width;
  plan.head_bytes = is_wide ? 12 : 8;
  // One word holds three sums: widths, blocks with planes, and warps with a width that does not fit a nibble.
  const bool long_widths = block_group.simt().ballot(width > 15) != 0 && block_group.lane() == 0;
  const auto found =
      block_group.scan(width | std::uint32_t{width != 0} << 16 | std::uint32_t{long_widths} << 26);
  plan.at = found.before & 0xFFFF;
  plan.rank = found.before >> 16 & 0x3FF;
  plan.sum = found.all & 0xFFFF;
  plan.coded = found.all >> 16 & 0x3FF;
  if (plan.sum == 0) return plan;
  const WidthTable table = choose_table({plan.sum, plan.coded, found.all >> 26 != 0 ? 16u : 0u}, blocks);
  plan.table_bytes = static_cast<std::uint32_t>(table.bytes);
  plan.table_flags = table.flags;
  return plan;
}

struct PlanesShared {
  std::uint8_t entries[chunk_blocks];
};

// Writes the head of a record. Called by one thread.
template <class Int>
TAUT_DEVICE void write_head(const PlanesPlan& plan, std::uint8_t flags, Int base, std::uint32_t* record) {
  const std::uint32_t form = plan.sum > 0 ? has_planes | plan.table_flags : 0u;
  record[0] = flags | form | plan.sum << 16;
  record[1] = static_cast<std::uint32_t>(base);
  if (plan.head_bytes == 12) record[2] = static_cast<std::uint32_t>(static_cast<std::int64_t>(base) >> 32);
}

// Writes this thread's entry of the width table if its index is below `all`. Called by whole warps.
template <class Simt>
TAUT_DEVICE void write_entry(const Simt& simt, std::uint8_t* table, unsigned entry, std::uint32_t all,
                             bool by_bytes) {
  const unsigned t = simt.thread();
  if (by_bytes) {
    if (t < all) table[t] = static_cast<std::uint8_t>(entry);
  } else {
    const unsigned next = simt.shuffle(entry, simt.thread() + 1);
    if (t < all && t % 2 == 0) table[t / 2] = static_cast<std::uint8_t>(entry | next << 4);
  }
}

// Writes the bitmap of the blocks that have an entry. Returns the start of the entries.
template <class Simt>
TAUT_DEVICE std::uint8_t* write_map(const BlockGroup<Simt>& block_group, std::uint8_t* table, unsigned width,
                                    std::uint32_t blocks) {
  const std::uint32_t coded = block_group.simt().ballot(width != 0),
                      byte = block_group.warp() * 4 + block_group.lane();
  if (block_group.lane() < 4 && byte < map_bytes(blocks))
    table[byte] = static_cast<std::uint8_t>(coded >> (8 * block_group.lane()));
  return table + map_bytes(blocks);
}

// Writes the widths and their padding after the planes. Takes one barrier if some blocks have no entry.
template <class Simt>
TAUT_DEVICE void write_table(BlockGroup<Simt>& block_group, PlanesShared& shared, const PlanesPlan& plan,
                             std::uint32_t blocks, std::uint32_t* record) {
  const unsigned t = block_group.thread();
  const bool by_bytes = (plan.table_flags & byte_widths) != 0;
  auto* const bytes = reinterpret_cast<std::uint8_t*>(record);
  std::uint8_t* const table = bytes + plan.head_bytes + plan.sum;
  if ((plan.table_flags & dense) != 0) {
    write_entry(block_group.simt(), table, plan.width, blocks, by_bytes);
  } else {
    std::uint8_t* const entries = write_map(block_group, table, plan.width, blocks);
    if (plan.width != 0) shared.entries[plan.rank] = static_cast<std::uint8_t>(plan.width);
    block_group.simt().barrier();
    write_entry(block_group.simt(), entries, t < plan.coded ? shared.entries[t] : 0u, plan.coded, by_bytes);
  }
  const std::uint32_t used = plan.head_bytes + plan.sum + plan.table_bytes;
  if (used + t < plan.bytes()) bytes[used + t] = 0;
}

// Writes head, planes, widths and their padding to `record`, which is complete after the next barrier.
template <class Simt, class Block, class Int>
TAUT_DEVICE void write_planes(BlockGroup<Simt>& block_group, PlanesShared& shared, const PlanesPlan& plan,
                              std::uint8_t flags, Int base, std::uint32_t blocks, const Block& block,
                              std::uint32_t* record) {
  if (block_group.thread() == 0) write_head(plan, flags, base, record);
  if (plan.sum == 0) return;
  write_table(block_group, shared, plan, blocks, record);  // first: most of the plan is for the table
  block.write(block_group.simt(), plan.block_in(record), plan.width);
}

// Copies a complete record from shared memory.
template <class Simt>
TAUT_DEVICE void copy_words(const BlockGroup<Simt>& block_group, const std::uint32_t* from,
                            std::uint32_t words, std::uint32_t* to) {
  TAUT_ROLLED
  for (std::uint32_t i = block_group.thread(); i < words; i += 2 * group_threads) {
    to[i] = from[i];
    if (i + group_threads < words) to[i + group_threads] = from[i + group_threads];
  }
}

}  // namespace taut::planes::cuda
