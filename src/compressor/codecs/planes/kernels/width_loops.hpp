// The kernels that write and read the table of a record's block widths (format.hpp), built from the
// operations of a kernel set (Isa::Widths):
//   summarize, count                      sum and maximum of the widths, number of those above 0; number of
//                                         blocks of each width
//   write_entries, read_entries           entries of a nibble or a byte each, from and to bytes; may read or
//                                         write 64 entries beyond the last
//   read_all_nibbles                      reads the most common table, a nibble for every block of a chunk
//   mask(bytes)                           returns the bits of 64 aligned bytes that are above 0
//   compress(bytes, mask, to)             writes those of 64 bytes that the mask marks one after another; may
//                                         write 64 bytes
//   expand(from, mask, bytes)             sets 64 bytes: the inverse of compress, with 0 for bytes that are
//                                         not marked; may read 64 bytes
#pragma once

#include "compressor/codecs/planes/format/format.hpp"

namespace taut::planes {
namespace {  // one copy for each kernel set, compiled with its instructions

using BlockBitmap = std::uint64_t[chunk_blocks / 64];
static_assert(sizeof(BlockBitmap) == 64);  // mask() finds all bytes that are not 0

// Writes the widths above 0 one after another, with zeros behind, and the bitmap of their blocks. Returns
// their number.
template <class Ops>
std::size_t gather(const Widths& widths, BlockBitmap& bitmap, std::uint8_t* coded) noexcept {
  std::size_t n = 0;
  for (std::size_t i = 0; i < chunk_blocks; i += 64) {
    bitmap[i / 64] = Ops::mask(widths.width + i);
    Ops::compress(widths.width + i, bitmap[i / 64], coded + n);
    n += static_cast<std::size_t>(std::popcount(bitmap[i / 64]));
  }
  std::memset(coded + n, 0, 64);
  return n;
}

// The inverse of gather().
template <class Ops>
std::size_t scatter(const std::uint8_t* coded, const BlockBitmap& bitmap, Widths& widths) noexcept {
  std::size_t n = 0;
  for (std::size_t i = 0; i < chunk_blocks; i += 64) {
    Ops::expand(coded + n, bitmap[i / 64], widths.width + i);
    n += static_cast<std::size_t>(std::popcount(bitmap[i / 64]));
  }
  return n;
}

// Returns the number of bytes of the bitmap of coded blocks that are not 0.
template <class Ops>
std::size_t marked_bytes(const Widths& widths) noexcept {
  constexpr std::uint64_t highest = 0x8080808080808080;
  int n = 0;
  for (std::size_t i = 0; i < chunk_blocks; i += 64) {
    const std::uint64_t bits = Ops::mask(widths.width + i);
    n += std::popcount((((bits & ~highest) + ~highest) | bits) & highest);  // the addition carries into them
  }
  return static_cast<std::size_t>(n);
}

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

// Writes a table with names: the names, the entries of two blocks a nibble, and the list of other widths.
template <class Ops>
void write_named(std::byte* to, const Widths& widths, std::size_t blocks, WidthTable table) noexcept {
  const NamedWidths named(table.names);
  alignas(64) std::uint8_t entries[chunk_blocks + 64], pairs[chunk_blocks / 2 + 64];
  Widths others;  // width + 1 of blocks without a named width, else 0, which gather() leaves out
  for (std::size_t i = 0; i < chunk_blocks; ++i) {
    entries[i] = named.entry(widths.width[i]);
    others.width[i] = entries[i] == NamedWidths::other ? static_cast<std::uint8_t>(widths.width[i] + 1) : 0;
  }
  const std::size_t half = first_half(blocks);
  entries[blocks] = 0;
  std::memset(others.width + blocks, 0, chunk_blocks - blocks);
  for (std::size_t i = 0; i < half; ++i)
    pairs[i] = static_cast<std::uint8_t>(entries[i] | entries[i + half] << 2);
  pairs[half] = 0;
  Ops::write_entries(store(to, table.names), pairs, half, false);
  to += names_bytes + two_bit_bytes(blocks);
  alignas(64) std::uint8_t coded[chunk_blocks + 64];
  BlockBitmap bitmap;
  const std::size_t n = gather<Ops>(others, bitmap, coded);
  for (std::size_t i = 0; i < n; ++i) --coded[i];
  Ops::write_entries(to, coded, n, (table.flags & byte_widths) != 0);
}

// Reads such a table.
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
  for (std::size_t i = 0; i < chunk_blocks; ++i) others.width[i] = entries[i] == NamedWidths::other;
  BlockBitmap bitmap;
  std::size_t n = 0;
  for (std::size_t i = 0; i < chunk_blocks; i += 64)
    n += static_cast<std::size_t>(std::popcount(bitmap[i / 64] = Ops::mask(others.width + i)));
  alignas(64) std::uint8_t coded[chunk_blocks + 64];
  const std::byte* const list = table + names_bytes + two_bit_bytes(blocks);
  Ops::read_entries(list, n, (flags & byte_widths) != 0, coded);
  scatter<Ops>(coded, bitmap, widths);
  for (std::size_t i = 0; i < chunk_blocks; ++i) widths.width[i] |= named.width(entries[i]);
  std::memset(widths.width + blocks, 0, chunk_blocks - blocks);
  return widths_read(Ops::summarize(widths), names_bytes + two_bit_bytes(blocks) + entry_bytes(n, flags));
}

// Writes the marks of the bytes of a bitmap that are not 0, and these bytes. Returns their end.
template <class Ops>
std::byte* write_sparse_bitmap(std::byte* to, const BlockBitmap& bitmap, std::size_t blocks) noexcept {
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(bitmap);
  const std::uint64_t marks = Ops::mask(bytes);
  std::memcpy(to, &marks, sparse_bitmap_bytes(blocks, 0));
  to += sparse_bitmap_bytes(blocks, 0);
  Ops::compress(bytes, marks, reinterpret_cast<std::uint8_t*>(to));
  return to + std::popcount(marks);
}

// Reads them. Returns the number of bytes read; 0: a marked byte is 0 or beyond the bitmap.
template <class Ops>
std::size_t read_sparse_bitmap(const std::byte* table, std::size_t blocks, BlockBitmap& bitmap) noexcept {
  std::uint64_t marks = 0;
  std::memcpy(&marks, table, sparse_bitmap_bytes(blocks, 0));
  if (has_bits_beyond(table, bitmap_bytes(blocks))) return 0;
  auto* const bytes = reinterpret_cast<std::uint8_t*>(bitmap);
  const auto* const marked = reinterpret_cast<const std::uint8_t*>(table) + sparse_bitmap_bytes(blocks, 0);
  Ops::expand(marked, marks, bytes);
  if (Ops::mask(bytes) != marks) return 0;
  return sparse_bitmap_bytes(blocks, static_cast<std::size_t>(std::popcount(marks)));
}

// Write and read a table of any form.
template <class Ops>
void write_widths(std::byte* to, const Widths& widths, std::size_t blocks, WidthTable table) noexcept {
  const bool as_bytes = (table.flags & byte_widths) != 0;
  const TableForm form = table_form(table.flags);
  if (form == TableForm::names) return write_named<Ops>(to, widths, blocks, table);
  if (form == TableForm::all_blocks) return Ops::write_entries(to, widths.width, blocks, as_bytes);
  alignas(64) std::uint8_t coded[chunk_blocks + 64];
  alignas(64) BlockBitmap bitmap;
  const std::size_t n = gather<Ops>(widths, bitmap, coded);
  if (form == TableForm::sparse_bitmap) {
    to = write_sparse_bitmap<Ops>(to, bitmap, blocks);
  } else {
    std::memcpy(to, bitmap, bitmap_bytes(blocks));
    to += bitmap_bytes(blocks);
  }
  Ops::write_entries(to, coded, n, as_bytes);
}

template <class Ops>
WidthsRead read_widths(const std::byte* table, std::size_t blocks, std::uint8_t flags,
                       Widths& widths) noexcept {
  const bool as_bytes = (flags & byte_widths) != 0;
  const TableForm form = table_form(flags);
  if (form == TableForm::names) return read_named<Ops>(table, blocks, flags, widths);
  if (form == TableForm::all_blocks) {
    if (!as_bytes && blocks == chunk_blocks) return Ops::read_all_nibbles(table, widths);
    Ops::read_entries(table, blocks, as_bytes, widths.width);
    std::memset(widths.width + blocks, 0, chunk_blocks - blocks);
    return widths_read(Ops::summarize(widths), entry_bytes(blocks, flags));
  }
  alignas(64) BlockBitmap bitmap = {};
  std::size_t read = bitmap_bytes(blocks);
  if (form == TableForm::sparse_bitmap)
    read = read_sparse_bitmap<Ops>(table, blocks, bitmap);
  else
    std::memcpy(bitmap, table, read);
  if (read == 0 || has_bits_beyond(reinterpret_cast<const std::byte*>(bitmap), blocks)) return {};
  alignas(64) std::uint8_t coded[chunk_blocks + 64];
  Ops::read_entries(table + read, chunk_blocks, as_bytes, coded);
  const std::size_t n = scatter<Ops>(coded, bitmap, widths);
  return widths_read(Ops::summarize(widths), read + entry_bytes(n, flags));
}

// compress() and expand() for instruction sets that have no instructions for them.
struct BitmapLoops {
  static void compress(const std::uint8_t* bytes, std::uint64_t mask, std::uint8_t* to) {
    for (std::uint64_t rest = mask; rest != 0; rest &= rest - 1) *to++ = bytes[std::countr_zero(rest)];
  }

  static void expand(const std::uint8_t* from, std::uint64_t mask, std::uint8_t* bytes) {
    std::memset(bytes, 0, 64);
    for (std::uint64_t rest = mask; rest != 0; rest &= rest - 1) bytes[std::countr_zero(rest)] = *from++;
  }
};

// The other operations, built from those of a register of widths:
//   load, store, splat(width), max(a, b), bit_xor(a, b)
//   count_nonzero(v), reduce_max(v): number of widths above 0; the greatest width
//   partial_sums(v): sums of neighbouring widths, as wider numbers; add(a, b) and reduce_add(v) are for these
//   load_nibbles(from), store_nibbles(to, v): conversion from and to nibbles
template <class Register>
struct RegisterLoops {
  static constexpr std::size_t lanes = sizeof(typename Register::Type);

  // Sum and maximum of the widths given to see().
  struct Extent {
    typename Register::Type sums = Register::zero(), max_width = Register::zero();

    void see(typename Register::Type w) {
      sums = Register::add(sums, Register::partial_sums(w));
      max_width = Register::max(max_width, w);
    }
  };

  static WidthSummary summarize(const Widths& widths) noexcept {
    Extent extent;
    std::size_t coded = 0;
    for (std::size_t i = 0; i < chunk_blocks; i += lanes) {
      const auto w = Register::load(widths.width + i);
      extent.see(w);
      coded += Register::count_nonzero(w);
    }
    return {Register::reduce_add(extent.sums), coded, Register::reduce_max(extent.max_width)};
  }

  static WidthCounts count(const Widths& widths, unsigned max_width) noexcept {
    WidthCounts counts{};
    for (unsigned k = 0; k < counts.size() && k <= max_width; ++k) {
      const auto name = Register::splat(k);
      std::size_t others = 0;
      for (std::size_t i = 0; i < chunk_blocks; i += lanes)
        others += Register::count_nonzero(Register::bit_xor(Register::load(widths.width + i), name));
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
      Register::store(entries + i,
                      as_bytes ? Register::load(from + i) : Register::load_nibbles(from + i / 2));
  }

  static WidthsRead read_all_nibbles(const std::byte* table, Widths& widths) {
    Extent extent;
    for (std::size_t i = 0; i < chunk_blocks; i += lanes) {
      const auto w = Register::load_nibbles(table + i / 2);
      extent.see(w);
      Register::store(widths.width + i, w);
    }
    return {Register::reduce_add(extent.sums), Register::reduce_max(extent.max_width), chunk_blocks / 2};
  }
};

}  // namespace
}  // namespace taut::planes
