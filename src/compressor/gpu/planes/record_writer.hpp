// Writes the planes and widths of a record, to shared memory or straight to a frame.
#pragma once

#include "compressor/codecs/planes/format/format.hpp"
#include "compressor/gpu/planes/block_codec.hpp"
#include "compressor/gpu/planes/integers.hpp"
#include "compressor/gpu/planes/packed_widths.hpp"

namespace taut::planes::cuda {

// Layout of a record's planes, computed before the planes are written.
struct PlanesPlan {
  std::uint32_t widths = 0;       // widths of this thread's blocks: packed_widths.hpp
  std::uint32_t blocks_at = 0;    // first byte of this thread's blocks, counted from the first plane
  std::uint32_t rank = 0;         // number of earlier blocks that have planes
  std::uint32_t plane_bytes = 0;  // of all blocks: the sum of their widths
  std::uint32_t coded_count = 0;  // blocks that have planes
  std::uint32_t table_bytes = 0;
  std::uint8_t table_flags = 0, head_bytes = 0;

  TAUT_DEVICE std::uint32_t bytes() const { return (head_bytes + plane_bytes + table_bytes + 3) / 4 * 4; }
  TAUT_DEVICE std::uint8_t* block_in(std::uint32_t* record) const {
    return reinterpret_cast<std::uint8_t*>(record) + head_bytes + blocks_at;
  }
};

// Computes the layout, given the widths of this thread's blocks. Takes one barrier.
template <class Threads>
TAUT_DEVICE PlanesPlan plan_planes(Threads& threads, std::uint32_t widths, std::uint32_t blocks,
                                   bool is_wide) {
  PlanesPlan plan;
  plan.widths = widths;
  plan.head_bytes = is_wide ? 12 : 8;
  // One word holds three sums: widths, blocks with planes, and warps with a width that does not fit a nibble.
  const bool long_widths = threads.simt().ballot(any_above_nibble(widths)) != 0 && threads.lane() == 0;
  const std::uint32_t coded = count_marked<Threads::blocks_per_thread>(
      threads.simt(), coded_mask<Threads::blocks_per_thread>(widths));
  const auto found = threads.scan(sum_of_widths<Threads::blocks_per_thread>(widths) | coded << 16 |
                                  std::uint32_t{long_widths} << 26);
  plan.blocks_at = found.before & 0xFFFF;
  plan.rank = found.before >> 16 & 0x3FF;
  plan.plane_bytes = found.total & 0xFFFF;
  plan.coded_count = found.total >> 16 & 0x3FF;
  if (plan.plane_bytes == 0) return plan;
  const WidthTable table =
      choose_table({plan.plane_bytes, plan.coded_count, found.total >> 26 != 0 ? 16u : 0u}, blocks);
  plan.table_bytes = static_cast<std::uint32_t>(table.bytes);
  plan.table_flags = table.flags;
  return plan;
}

struct PlanesShared {
  alignas(4) std::uint8_t entries[chunk_blocks];
};

// Writes the head of a record. Called by one thread.
template <class Int>
TAUT_DEVICE void write_head(const PlanesPlan& plan, std::uint8_t flags, Int base, std::uint32_t* record) {
  const std::uint32_t form = plan.plane_bytes > 0 ? has_planes | plan.table_flags : 0u;
  record[0] = flags | form | plan.plane_bytes << 16;
  record[1] = static_cast<std::uint32_t>(base);
  if (plan.head_bytes == 12) record[2] = static_cast<std::uint32_t>(static_cast<std::int64_t>(base) >> 32);
}

// Writes this thread's entries of the width table whose index is below `count`. Called by whole warps.
template <class Threads>
TAUT_DEVICE void write_entries(const Threads& threads, std::uint8_t* table, std::uint32_t entries,
                               std::uint32_t count, bool by_bytes) {
  const unsigned first = threads.thread() * Threads::blocks_per_thread;
  const auto put = [&](unsigned byte, std::uint32_t value) {
    table[byte] = static_cast<std::uint8_t>(value);
  };
  if (by_bytes) {
    for (unsigned i = 0; i < Threads::blocks_per_thread; ++i)
      if (first + i < count) put(first + i, entries >> (8 * i));
  } else if constexpr (Threads::blocks_per_thread == 1) {
    const std::uint32_t next = threads.simt().shuffle(entries, first + 1);
    if (first < count && first % 2 == 0) put(first / 2, entries | next << 4);
  } else {
    const std::uint32_t four = nibbles_of_bytes(entries);
    for (unsigned i = 0; i < Threads::blocks_per_thread; i += 2)
      if (first + i < count) put((first + i) / 2, four >> (4 * i));
  }
}

// Writes the bitmap of the blocks that have an entry. Returns the start of the entries. Called by whole
// warps.
template <class Threads>
TAUT_DEVICE std::uint8_t* write_map(const Threads& threads, std::uint8_t* table, std::uint32_t widths,
                                    std::uint32_t blocks) {
  const std::uint32_t coded = coded_mask<Threads::blocks_per_thread>(widths);
  if constexpr (Threads::blocks_per_thread == 1) {
    const std::uint32_t warp_map = threads.simt().ballot(coded != 0),
                        byte = threads.warp() * 4 + threads.lane();
    if (threads.lane() < 4 && byte < bitmap_bytes(blocks))
      table[byte] = static_cast<std::uint8_t>(warp_map >> (8 * threads.lane()));
  } else {
    const unsigned byte = threads.thread() / 2;
    const std::uint32_t next = threads.simt().shuffle(coded, threads.thread() + 1);
    if (threads.thread() % 2 == 0 && byte < bitmap_bytes(blocks))
      table[byte] = static_cast<std::uint8_t>(coded | next << 4);
  }
  return table + bitmap_bytes(blocks);
}

// Collects the entries of all blocks that have planes. Returns those of this thread, as many as it has
// blocks, from index blocks_per_thread * thread on. Takes one barrier.
template <class Threads>
TAUT_DEVICE std::uint32_t collect_entries(const Threads& threads, PlanesShared& shared,
                                          const PlanesPlan& plan) {
  std::uint32_t rank = plan.rank;
  for (unsigned i = 0; i < Threads::blocks_per_thread; ++i)
    if (const unsigned width = width_at(plan.widths, i); width != 0)
      shared.entries[rank++] = static_cast<std::uint8_t>(width);
  threads.simt().barrier();
  const unsigned first = threads.thread() * Threads::blocks_per_thread;
  if (first >= plan.coded_count) return 0;
  if constexpr (Threads::blocks_per_thread == 1) {
    return shared.entries[first];
  } else {
    return low_bytes(reinterpret_cast<const std::uint32_t*>(shared.entries)[threads.thread()],
                     plan.coded_count - first);
  }
}

// Writes the widths and their padding after the planes. Takes one barrier if some blocks have no entry.
template <class Threads>
TAUT_DEVICE void write_table(const Threads& threads, PlanesShared& shared, const PlanesPlan& plan,
                             std::uint32_t blocks, std::uint32_t* record) {
  const unsigned t = threads.thread();
  const bool by_bytes = (plan.table_flags & byte_widths) != 0;
  auto* const bytes = reinterpret_cast<std::uint8_t*>(record);
  std::uint8_t* const table = bytes + plan.head_bytes + plan.plane_bytes;
  if ((plan.table_flags & dense) != 0) {
    write_entries(threads, table, plan.widths, blocks, by_bytes);
  } else {
    std::uint8_t* const entries = write_map(threads, table, plan.widths, blocks);
    write_entries(threads, entries, collect_entries(threads, shared, plan), plan.coded_count, by_bytes);
  }
  const std::uint32_t used = plan.head_bytes + plan.plane_bytes + plan.table_bytes;
  if (used + t < plan.bytes()) bytes[used + t] = 0;
}

// Writes head, planes, widths and their padding to `record`, which is complete after the next barrier.
template <class Threads, class Shared, class Plan, class Block, class Int>
TAUT_DEVICE void write_planes(Threads& threads, Shared& shared, const Plan& plan, std::uint8_t flags,
                              Int base, std::uint32_t blocks, const Block& block, std::uint32_t* record) {
  if (threads.thread() == 0) write_head(plan, flags, base, record);
  if (plan.plane_bytes == 0) return;
  // The table is first: the registers of its part of the plan are free afterwards.
  write_table(threads, shared, plan, blocks, record);
  block.write(threads.simt(), plan.block_in(record), plan.widths);
}

// Copies a complete record from shared memory.
template <class Threads>
TAUT_DEVICE void copy_words(const Threads& threads, const std::uint32_t* from, std::uint32_t words,
                            std::uint32_t* to) {
  constexpr unsigned apart = Threads::threads, at_once = 2 * Threads::blocks_per_thread;
  TAUT_ROLLED
  for (std::uint32_t i = threads.thread(); i < words; i += at_once * apart) {
    to[i] = from[i];
    for (unsigned k = 1; k < at_once; ++k)
      if (i + k * apart < words) to[i + k * apart] = from[i + k * apart];
  }
}

}  // namespace taut::planes::cuda
