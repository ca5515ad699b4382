// Writes tables of widths that name the three most common ones, or have a sparse bitmap, in frames with
// references (spec.md, "Names" and "Sparse bitmap"). A thread has one block.
#pragma once

#include "compressor/gpu/planes/record_writer.hpp"

namespace taut::planes::cuda {

struct NamedPlan : PlanesPlan {
  std::uint32_t names = 0;  // of TableForm::names: three widths, a nibble each

  // Returns the entry of a width: that of its first name, or 3.
  TAUT_DEVICE unsigned entry_of(std::uint32_t width) const {
    return width == (names & 15) ? 0 : width == (names >> 4 & 15) ? 1 : width == (names >> 8 & 15) ? 2 : 3;
  }
};

struct NamedShared : PlanesShared {
  std::uint32_t counts[warp_lanes];  // of the blocks of each width below 16, then of the bytes of the bitmap
                                     // that are not 0
  std::uint8_t two_bit_entries[chunk_blocks];
};
inline constexpr unsigned marked_bytes_at = 16;  // place in `counts` of the number of these bytes

// Returns the byte of the bitmap that has the bit of this thread's block. Called by whole warps.
template <class Threads>
TAUT_DEVICE std::uint32_t bitmap_byte(const Threads& threads, std::uint32_t width) {
  return threads.simt().ballot(width != 0) >> (threads.lane() & ~7u) & 0xFF;
}

// Counts the blocks of each width below 16, and the bytes of the bitmap that are not 0. Takes two barriers.
template <class Threads>
TAUT_DEVICE void count_widths(const Threads& threads, NamedShared& shared, std::uint32_t width,
                              std::uint32_t blocks) {
  const unsigned t = threads.thread();
  if (t < warp_lanes) shared.counts[t] = 0;
  threads.simt().barrier();
  if (t < blocks && width < 16) threads.simt().atomic_add(&shared.counts[width], std::uint32_t{1});
  if (bitmap_byte(threads, width) != 0 && t % 8 == 0)
    threads.simt().atomic_add(&shared.counts[marked_bytes_at], std::uint32_t{1});
  threads.simt().barrier();
}

// Returns the plan with the shortest form of the table, for `blocks` blocks. Takes two barriers.
template <class Threads>
TAUT_DEVICE NamedPlan with_names(const Threads& threads, NamedShared& shared, const PlanesPlan& plan,
                                 std::uint32_t blocks) {
  NamedPlan named{plan};
  if (plan.plane_bytes == 0 || plan.plane_bytes > max_average_of_named_widths * blocks) return named;
  count_widths(threads, shared, plan.widths, blocks);
  // The greatest word is that of the most common width, of equally common ones the least.
  const unsigned lane = threads.lane();
  std::uint32_t word = lane < 16 ? shared.counts[lane] << 4 | (15 - lane) : 0, others = blocks;
  for (unsigned k = 0; k < named_widths; ++k) {
    const std::uint32_t most = threads.simt().reduce_max(word), width = 15 - (most & 15);
    named.names |= width << (4 * k);
    others -= most >> 4;
    if (lane == width) word &= 15;
  }
  const auto form = static_cast<std::uint8_t>(two_bits | (plan.table_flags & byte_widths));
  const auto bytes =
      static_cast<std::uint32_t>(names_bytes + two_bit_bytes(blocks) + entry_bytes(others, form));
  if (bytes < plan.table_bytes) {
    named.table_flags = form;
    named.table_bytes = bytes;
  }
  const bool by_bytes = (plan.table_flags & byte_widths) != 0;
  const WidthTable sparse = sparse_table({plan.plane_bytes, plan.coded_count, by_bytes ? 16u : 0u}, blocks,
                                         shared.counts[marked_bytes_at]);
  if (sparse.bytes < named.table_bytes) {
    named.table_flags = sparse.flags;
    named.table_bytes = static_cast<std::uint32_t>(sparse.bytes);
  }
  return named;
}

// Writes the entries of the blocks, two bits each: byte t has those of two blocks of each half.
template <class Threads>
TAUT_DEVICE void write_two_bits(const Threads& threads, const std::uint8_t* entries, std::uint32_t blocks,
                                std::uint8_t* to) {
  const unsigned t = threads.thread();
  const auto half = static_cast<std::uint32_t>(first_half(blocks));
  if (t >= two_bit_bytes(blocks)) return;
  std::uint32_t byte = entries[2 * t] | entries[2 * t + half] << 2;
  if (2 * t + 1 < half) byte |= entries[2 * t + 1] << 4 | entries[2 * t + 1 + half] << 6;
  to[t] = static_cast<std::uint8_t>(byte);
}

// Writes a table that names widths. Takes two barriers.
template <class Threads>
TAUT_DEVICE void write_named(Threads& threads, NamedShared& shared, const NamedPlan& plan,
                             std::uint32_t blocks, std::uint8_t* table) {
  const unsigned t = threads.thread();
  const unsigned entry = t < blocks ? plan.entry_of(plan.widths) : 0;
  const bool other = entry == named_widths;
  shared.two_bit_entries[t] = static_cast<std::uint8_t>(entry);
  const auto rank = threads.scan(std::uint32_t{other});
  if (other) shared.entries[rank.before] = static_cast<std::uint8_t>(plan.widths);
  threads.simt().barrier();
  if (t < names_bytes) table[t] = static_cast<std::uint8_t>(plan.names >> (8 * t));
  write_two_bits(threads, shared.two_bit_entries, blocks, table + names_bytes);
  write_entries(threads, table + names_bytes + two_bit_bytes(blocks), t < rank.total ? shared.entries[t] : 0u,
                rank.total, (plan.table_flags & byte_widths) != 0);
}

// Writes a table with a sparse bitmap. Takes two barriers.
template <class Threads>
TAUT_DEVICE void write_sparse(Threads& threads, NamedShared& shared, const NamedPlan& plan,
                              std::uint32_t blocks, std::uint8_t* table) {
  const unsigned t = threads.thread();
  const std::uint32_t byte = bitmap_byte(threads, plan.widths);
  const bool marked = byte != 0 && t % 8 == 0;
  const auto rank = threads.scan(std::uint32_t{marked});
  const auto mark_bytes = static_cast<std::uint32_t>(sparse_bitmap_bytes(blocks, 0));
  if (marked) table[mark_bytes + rank.before] = static_cast<std::uint8_t>(byte);
  shared.two_bit_entries[t] = marked;
  const std::uint32_t entries = collect_entries(threads, shared, plan);
  if (t < mark_bytes) {
    std::uint32_t marks = 0;
    for (unsigned i = 0; i < 8; ++i) marks |= shared.two_bit_entries[64 * t + 8 * i] << i;
    table[t] = static_cast<std::uint8_t>(marks);
  }
  write_entries(threads, table + mark_bytes + rank.total, entries, plan.coded_count,
                (plan.table_flags & byte_widths) != 0);
}

// As write_table() of record_writer.hpp. Takes two barriers if the table has names or a sparse bitmap.
template <class Threads>
TAUT_DEVICE void write_table(Threads& threads, NamedShared& shared, const NamedPlan& plan,
                             std::uint32_t blocks, std::uint32_t* record) {
  const TableForm form = table_form(plan.table_flags);
  if (form != TableForm::names && form != TableForm::sparse_bitmap)
    return write_table(threads, static_cast<PlanesShared&>(shared), static_cast<const PlanesPlan&>(plan),
                       blocks, record);
  auto* const bytes = reinterpret_cast<std::uint8_t*>(record);
  const std::uint32_t used = plan.head_bytes + plan.plane_bytes + plan.table_bytes;
  std::uint8_t* const table = bytes + plan.head_bytes + plan.plane_bytes;
  if (form == TableForm::names)
    write_named(threads, shared, plan, blocks, table);
  else
    write_sparse(threads, shared, plan, blocks, table);
  if (used + threads.thread() < plan.bytes()) bytes[used + threads.thread()] = 0;
}

}  // namespace taut::planes::cuda
