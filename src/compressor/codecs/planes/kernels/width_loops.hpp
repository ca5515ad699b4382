// The kernels that write and read the table of a record's block widths (format.hpp), built from the
// operations of a kernel set (Isa::Widths):
//   summarize, count                      sum, number and maximum of the widths; how often each width occurs
//   write_entries, read_entries           entries of a nibble or a byte each, from and to bytes; may read or
//                                         write 64 entries beyond the last
//   read_all_nibbles                      reads the most common table, a nibble for every block of a chunk
//   gather                                packs the widths above 0 (the coded ones), zeros behind them, and
//                                         sets the bitmap of their blocks; returns the number of these
//                                         widths
//   scatter                               the inverse
//   mask(widths)                          returns the bits of 64 widths that are above 0
#pragma once

#include "compressor/codecs/planes/format/format.hpp"

namespace taut::planes {
namespace {  // one copy for each kernel set, compiled with its instructions

using WidthMap = std::uint64_t[chunk_blocks / 64];

// The entries of a table with two bits a block: 0, 1 or 2 is the number of a width that the table names, 3
// stands for any other width, which the table has in a list behind the entries.
struct NamedWidths {
  static constexpr std::uint8_t other = named_widths;  // entry of a width without a name
  std::uint8_t name[named_widths];

  explicit NamedWidths(std::uint16_t names) noexcept {
    for (std::size_t k = 0; k < named_widths; ++k) name[k] = names >> (4 * k) & 15;
  }
  std::uint8_t entry(std::uint8_t width) const noexcept {
    return width == name[0] ? 0 : width == name[1] ? 1 : width == name[2] ? 2 : other;
  }
  std::uint8_t width(std::uint8_t entry) const noexcept {  // 0 for `other`
    return entry == 0 ? name[0] : entry == 1 ? name[1] : entry == 2 ? name[2] : 0;
  }
};

template <class Ops>
void write_named(std::byte* to, const Widths& widths, std::size_t blocks, WidthTable table) noexcept {
  const NamedWidths named(table.names);
  alignas(64) std::uint8_t entries[chunk_blocks + 64], pairs[chunk_blocks / 2 + 64];
  Widths others;  // of blocks without a named width: width + 1; of the other blocks 0
  for (std::size_t i = 0; i < chunk_blocks; ++i) {
    entries[i] = named.entry(widths.of[i]);
    others.of[i] = entries[i] == NamedWidths::other ? static_cast<std::uint8_t>(widths.of[i] + 1) : 0;
  }
  const std::size_t half = first_half(blocks);
  entries[blocks] = 0;
  std::memset(others.of + blocks, 0, chunk_blocks - blocks);
  for (std::size_t i = 0; i < half; ++i)
    pairs[i] = static_cast<std::uint8_t>(entries[i] | entries[i + half] << 2);
  pairs[half] = 0;
  Ops::write_entries(store(to, table.names), pairs, half, false);
  to += names_bytes + two_bit_bytes(blocks);
  alignas(64) std::uint8_t coded[chunk_blocks + 64];
  WidthMap map;
  const std::size_t n = Ops::gather(others, map, coded);
  for (std::size_t i = 0; i < n; ++i) --coded[i];
  Ops::write_entries(to, coded, n, (table.flags & byte_widths) != 0);
}

template <class Ops>
WidthsRead read_named(const std::byte* table, std::size_t blocks, std::uint8_t flags,
                      Widths& widths) noexcept {
  const auto names = load<std::uint16_t>(table);
  const NamedWidths named(names);
  const std::size_t half = first_half(blocks), padded = 2 * two_bit_bytes(blocks);
  alignas(64) std::uint8_t entries[chunk_blocks + 64], pairs[chunk_blocks / 2 + 64];
  Ops::read_entries(table + names_bytes, padded, false, pairs);
  for (std::size_t i = 0; i < half; ++i) {
    entries[i] = pairs[i] & 3;
    entries[i + half] = pairs[i] >> 2;
  }
  const bool beyond = (half < padded && pairs[half] != 0) || (blocks < 2 * half && entries[blocks] != 0);
  if (names >> (4 * named_widths) != 0 || beyond) return {};
  std::memset(entries + blocks, 0, chunk_blocks - blocks);
  Widths others;
  for (std::size_t i = 0; i < chunk_blocks; ++i) others.of[i] = entries[i] == NamedWidths::other;
  WidthMap map;
  std::size_t n = 0;
  for (std::size_t i = 0; i < chunk_blocks; i += 64)
    n += static_cast<std::size_t>(std::popcount(map[i / 64] = Ops::mask(others.of + i)));
  alignas(64) std::uint8_t coded[chunk_blocks + 64];
  const std::byte* const list = table + names_bytes + two_bit_bytes(blocks);
  Ops::read_entries(list, n, (flags & byte_widths) != 0, coded);
  Ops::scatter(coded, map, widths);
  for (std::size_t i = 0; i < chunk_blocks; ++i) widths.of[i] |= named.width(entries[i]);
  std::memset(widths.of + blocks, 0, chunk_blocks - blocks);
  return table_read(Ops::summarize(widths), names_bytes + two_bit_bytes(blocks) + entry_bytes(n, flags));
}

template <class Ops>
void write_widths(std::byte* to, const Widths& widths, std::size_t blocks, WidthTable table) noexcept {
  const bool as_bytes = (table.flags & byte_widths) != 0;
  if ((table.flags & two_bits) != 0) return write_named<Ops>(to, widths, blocks, table);
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
  if ((flags & two_bits) != 0) return read_named<Ops>(table, blocks, flags, widths);
  if ((flags & dense) != 0) {
    if (!as_bytes && blocks == chunk_blocks) return Ops::read_all_nibbles(table, widths);
    Ops::read_entries(table, blocks, as_bytes, widths.of);
    std::memset(widths.of + blocks, 0, chunk_blocks - blocks);
    return table_read(Ops::summarize(widths), entry_bytes(blocks, flags));
  }
  if (names_blocks_beyond(table, blocks)) return {};
  WidthMap map = {};
  std::memcpy(map, table, map_bytes(blocks));
  alignas(64) std::uint8_t coded[chunk_blocks + 64];
  Ops::read_entries(table + map_bytes(blocks), chunk_blocks, as_bytes, coded);
  const std::size_t n = Ops::scatter(coded, map, widths);
  return table_read(Ops::summarize(widths), map_bytes(blocks) + entry_bytes(n, flags));
}

// gather() and scatter() for instruction sets that have no instruction to compress bytes, by the mask() of
// Ops.
template <class Ops>
struct BitmapLoops {
  static std::size_t gather(const Widths& widths, WidthMap& map, std::uint8_t* coded) {
    std::size_t n = 0;
    for (std::size_t i = 0; i < chunk_blocks; i += 64)
      for (std::uint64_t rest = map[i / 64] = Ops::mask(widths.of + i); rest != 0; rest &= rest - 1)
        coded[n++] = widths.of[i + static_cast<std::size_t>(std::countr_zero(rest))];
    std::memset(coded + n, 0, 64);
    return n;
  }

  static std::size_t scatter(const std::uint8_t* coded, const WidthMap& map, Widths& widths) {
    std::size_t n = 0;
    std::memset(widths.of, 0, sizeof widths.of);
    for (std::size_t i = 0; i < chunk_blocks; i += 64)
      for (std::uint64_t rest = map[i / 64]; rest != 0; rest &= rest - 1)
        widths.of[i + static_cast<std::size_t>(std::countr_zero(rest))] = coded[n++];
    return n;
  }
};

// The other operations, built from those of a register of widths:
//   load, store, greater(a, b), all(width); coded(v): number of widths above 0
//   differ(a, b): 0 where widths are equal
//   sums(v): sums of neighbouring widths, as wider numbers; add(a, b), total(v) of such numbers
//   greatest(v): the greatest width
//   nibbles(from), store_nibbles(to, v): conversion from and to nibbles
template <class Register>
struct RegisterLoops {
  static constexpr std::size_t lanes = sizeof(typename Register::Type);

  // Sum and maximum of all widths seen.
  struct Extent {
    typename Register::Type sums = Register::zero(), greatest = Register::zero();

    void see(typename Register::Type w) {
      sums = Register::add(sums, Register::sums(w));
      greatest = Register::greater(greatest, w);
    }
  };

  static WidthSummary summarize(const Widths& widths) noexcept {
    Extent extent;
    std::size_t coded = 0;
    for (std::size_t i = 0; i < chunk_blocks; i += lanes) {
      const auto w = Register::load(widths.of + i);
      extent.see(w);
      coded += Register::coded(w);
    }
    return {Register::total(extent.sums), coded, Register::greatest(extent.greatest)};
  }

  static WidthCounts count(const Widths& widths, unsigned greatest) noexcept {
    WidthCounts counts{};
    for (unsigned k = 0; k < counts.size() && k <= greatest; ++k) {
      const auto name = Register::all(k);
      std::size_t others = 0;
      for (std::size_t i = 0; i < chunk_blocks; i += lanes)
        others += Register::coded(Register::differ(Register::load(widths.of + i), name));
      counts[k] = static_cast<std::uint16_t>(chunk_blocks - others);
    }
    return counts;
  }

  static void write_entries(std::byte* to, const std::uint8_t* entries, std::size_t n, bool as_bytes) {
    for (std::size_t i = 0; i < n; i += lanes) {
      const auto w = Register::load(entries + i);
      as_bytes ? Register::store(to + i, w) : Register::store_nibbles(to + i / 2, w);
    }
  }

  static void read_entries(const std::byte* from, std::size_t n, bool as_bytes, std::uint8_t* entries) {
    for (std::size_t i = 0; i < n; i += lanes)
      Register::store(entries + i, as_bytes ? Register::load(from + i) : Register::nibbles(from + i / 2));
  }

  static WidthsRead read_all_nibbles(const std::byte* table, Widths& widths) {
    Extent extent;
    for (std::size_t i = 0; i < chunk_blocks; i += lanes) {
      const auto w = Register::nibbles(table + i / 2);
      extent.see(w);
      Register::store(widths.of + i, w);
    }
    return {Register::total(extent.sums), Register::greatest(extent.greatest), chunk_blocks / 2};
  }
};

}  // namespace
}  // namespace taut::planes
