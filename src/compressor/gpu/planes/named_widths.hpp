// Writes tables of widths that name the three most common ones, in frames with references (spec.md, "Names").
// A thread has one block.
#pragma once

#include "compressor/gpu/planes/record_writer.hpp"

namespace taut::planes::cuda {

struct NamedPlan : PlanesPlan {
  std::uint32_t names = 0;  // of a table with two_bits: three widths, a nibble each

  // Returns the entry of a width: that of its first name, or 3.
  TAUT_DEVICE unsigned entry_of(std::uint32_t width) const {
    return width == (names & 15) ? 0 : width == (names >> 4 & 15) ? 1 : width == (names >> 8 & 15) ? 2 : 3;
  }
};

struct NamedShared : PlanesShared {
  std::uint32_t counts[warp_lanes];  // of the blocks of each width below 16
  std::uint8_t two_bit_entries[chunk_blocks];
};

// Counts the blocks of each width below 16. Takes two barriers.
template <class Threads>
TAUT_DEVICE void count_widths(const Threads& threads, NamedShared& shared, std::uint32_t width,
                              std::uint32_t blocks) {
  const unsigned t = threads.thread();
  if (t < warp_lanes) shared.counts[t] = 0;
  threads.simt().barrier();
  if (t < blocks && width < 16) threads.simt().atomic_add(&shared.counts[width], std::uint32_t{1});
  threads.simt().barrier();
}

// Returns the plan with the shorter form of the table, for `blocks` blocks. Takes two barriers.
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
  if (bytes >= plan.table_bytes) return named;
  named.table_flags = form;
  named.table_bytes = bytes;
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

// As write_table() of record_writer.hpp. Takes two barriers if the table has names.
template <class Threads>
TAUT_DEVICE void write_table(Threads& threads, NamedShared& shared, const NamedPlan& plan,
                             std::uint32_t blocks, std::uint32_t* record) {
  if ((plan.table_flags & two_bits) == 0)
    return write_table(threads, static_cast<PlanesShared&>(shared), static_cast<const PlanesPlan&>(plan),
                       blocks, record);
  const unsigned t = threads.thread();
  const unsigned entry = t < blocks ? plan.entry_of(plan.widths) : 0;
  const bool other = entry == named_widths;
  shared.two_bit_entries[t] = static_cast<std::uint8_t>(entry);
  const auto rank = threads.scan(std::uint32_t{other});
  if (other) shared.entries[rank.before] = static_cast<std::uint8_t>(plan.widths);
  threads.simt().barrier();
  auto* const bytes = reinterpret_cast<std::uint8_t*>(record);
  const std::uint32_t used = plan.head_bytes + plan.plane_bytes + plan.table_bytes;
  std::uint8_t* const table = bytes + plan.head_bytes + plan.plane_bytes;
  if (t < names_bytes) table[t] = static_cast<std::uint8_t>(plan.names >> (8 * t));
  write_two_bits(threads, shared.two_bit_entries, blocks, table + names_bytes);
  write_entries(threads, table + names_bytes + two_bit_bytes(blocks), t < rank.total ? shared.entries[t] : 0u,
                rank.total, (plan.table_flags & byte_widths) != 0);
  if (used + t < plan.bytes()) bytes[used + t] = 0;
}

}  // namespace taut::planes::cuda
