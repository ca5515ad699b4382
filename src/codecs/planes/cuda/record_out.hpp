// Planes and widths of a record, as they go to shared memory.
#pragma once

#include "codecs/planes/cuda/block_codec.hpp"
#include "codecs/planes/cuda/integers.hpp"
#include "codecs/planes/widths.hpp"

namespace taut::planes::cuda {

// What the threads know of a record's planes before these are written.
struct PlanesPlan {
  unsigned width = 0;                // of this thread's block
  std::uint32_t at = 0;              // its first byte, from the first plane on
  std::uint32_t rank = 0;            // blocks before it that have planes
  std::uint32_t sum = 0, coded = 0;  // of all widths; blocks that have one
  std::uint32_t table_bytes = 0;
  std::uint8_t table_flags = 0, head_bytes = 0;

  TAUT_DEVICE std::uint32_t bytes() const { return (head_bytes + sum + table_bytes + 3) / 4 * 4; }
};

// One barrier.
template <class Simt>
TAUT_DEVICE PlanesPlan plan_planes(Crew<Simt>& crew, unsigned width, std::uint32_t blocks, bool is_wide) {
  PlanesPlan plan;
  plan.width = width;
  plan.head_bytes = is_wide ? 12 : 8;
  // Three sums in one word: of widths, of blocks that have one, of warps with one that a nibble does not hold.
  const bool long_widths = crew.simt().ballot(width > 15) != 0 && crew.lane() == 0;
  const auto found = crew.scan(width | std::uint32_t{width != 0} << 16 | std::uint32_t{long_widths} << 26);
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

// Writes header, planes, widths and their padding to `record`. One barrier inside and none behind: the record
// is complete after the next one.
template <class Simt, class Int>
TAUT_DEVICE void write_planes(Crew<Simt>& crew, PlanesShared& shared, const PlanesPlan& plan,
                              std::uint8_t flags, Int base, std::uint32_t blocks,
                              const Int (&d)[block_values], std::uint32_t* record) {
  const unsigned t = crew.thread();
  const std::uint32_t sum = plan.sum, head = plan.head_bytes;
  const bool is_dense = (plan.table_flags & dense) != 0, by_bytes = (plan.table_flags & byte_widths) != 0;
  if (t == 0) {
    const std::uint32_t form = sum > 0 ? has_planes | plan.table_flags : 0u;
    record[0] = flags | form | sum << 16;
    record[1] = static_cast<std::uint32_t>(base);
    if (head == 12) record[2] = static_cast<std::uint32_t>(static_cast<std::int64_t>(base) >> 32);
  }
  auto* const bytes = reinterpret_cast<std::uint8_t*>(record);
  write_block(crew.simt(), bytes + head + plan.at, d, plan.width);

  std::uint8_t* table = bytes + head + sum;
  const std::uint32_t coded = crew.simt().ballot(plan.width != 0);
  if (sum == 0) return;
  if (is_dense || plan.width != 0)
    shared.entries[is_dense ? t : plan.rank] = static_cast<std::uint8_t>(plan.width);
  if (!is_dense) {
    const std::uint32_t byte = crew.warp() * 4 + crew.lane();
    if (crew.lane() < 4 && byte < map_bytes(blocks))
      table[byte] = static_cast<std::uint8_t>(coded >> (8 * crew.lane()));
    table += map_bytes(blocks);
  }
  crew.simt().barrier();
  const std::uint32_t entries = is_dense ? blocks : plan.coded;
  if (by_bytes) {
    if (t < entries) table[t] = shared.entries[t];
  } else if (2 * t < entries) {
    const unsigned high = 2 * t + 1 < entries ? shared.entries[2 * t + 1] : 0u;
    table[t] = static_cast<std::uint8_t>(shared.entries[2 * t] | high << 4);
  }
  const std::uint32_t used = head + sum + plan.table_bytes;
  if (used + t < plan.bytes()) bytes[used + t] = 0;
}

// Copies a complete record from shared memory.
template <class Simt>
TAUT_DEVICE void copy_words(const Crew<Simt>& crew, const std::uint32_t* from, std::uint32_t words,
                            std::uint32_t* to) {
  for (std::uint32_t i = crew.thread(); i < words; i += crew_threads) to[i] = from[i];
}

}  // namespace taut::planes::cuda
