// The table of block widths of a record: nibbles or bytes, for all blocks or only for those that a bitmap names.
#pragma once

#include "codecs/planes/format.hpp"

namespace taut::planes {

// Width of every block of a chunk; entries beyond the chunk's blocks are zero.
struct Widths {
  alignas(64) std::uint8_t of[chunk_blocks] = {};
};

struct WidthTable {
  std::uint8_t flags;  // dense, byte_widths
  std::size_t bytes;
};

// Facts about `blocks` widths that fix the table's form: the smaller one, dense when equal.
struct WidthFacts {
  std::size_t coded = 0;  // blocks with a width above 0
  std::uint8_t greatest = 0;
};

inline WidthFacts inspect(const Widths& widths, std::size_t blocks) noexcept {
  WidthFacts f;
  unsigned coded = 0;
  std::uint8_t greatest = 0;
  for (std::size_t i = 0; i < blocks; ++i) {
    coded += widths.of[i] != 0;
    greatest = std::max(greatest, widths.of[i]);
  }
  f.coded = coded;
  f.greatest = greatest;
  return f;
}

constexpr std::size_t entry_bytes(std::size_t entries, std::uint8_t flags) noexcept {
  return (flags & byte_widths) != 0 ? entries : (entries + 1) / 2;
}

constexpr WidthTable choose_table(WidthFacts facts, std::size_t blocks) noexcept {
  const std::uint8_t form = facts.greatest > 15 ? byte_widths : 0;
  const std::size_t all = entry_bytes(blocks, form), some = (blocks + 7) / 8 + entry_bytes(facts.coded, form);
  return all <= some ? WidthTable{static_cast<std::uint8_t>(form | dense), all} : WidthTable{form, some};
}

// Entry i of a list: appended in order, nibbles low half first.
inline void write_entries(std::byte* out, const std::uint8_t* entries, std::size_t n, bool as_bytes) noexcept {
  if (as_bytes) {
    std::memcpy(out, entries, n);
    return;
  }
  for (std::size_t i = 0; i + 1 < n; i += 2) out[i / 2] = std::byte(entries[i] | entries[i + 1] << 4);
  if (n % 2 != 0) out[n / 2] = std::byte(entries[n - 1]);
}

inline void write_widths(std::byte* out, const Widths& widths, std::size_t blocks, WidthTable table) noexcept {
  const bool as_bytes = (table.flags & byte_widths) != 0;
  if ((table.flags & dense) != 0) return write_entries(out, widths.of, blocks, as_bytes);
  const std::size_t map_bytes = (blocks + 7) / 8;
  std::uint8_t coded[chunk_blocks];
  std::size_t n = 0;
  for (std::size_t i = 0; i < map_bytes; ++i) {
    unsigned bits = 0;
    for (std::size_t j = 0; j < 8; ++j) {
      const std::uint8_t w = widths.of[8 * i + j];
      bits |= unsigned{w != 0} << j;
      coded[n] = w;
      n += w != 0;
    }
    out[i] = std::byte(bits);
  }
  write_entries(out + map_bytes, coded, n, as_bytes);
}

// Reads a table of at most `available` bytes; returns its size, or 0 when it does not fit or is inconsistent.
inline std::size_t read_widths(const std::byte* in, std::size_t available, std::size_t blocks, std::uint8_t flags,
                               Widths& widths) noexcept {
  const bool sparse = (flags & dense) == 0, as_bytes = (flags & byte_widths) != 0;
  const std::size_t map_bytes = sparse ? (blocks + 7) / 8 : 0;
  if (available < map_bytes) return 0;
  std::size_t entries = blocks;
  if (sparse) {
    entries = 0;
    for (std::size_t i = 0; i < map_bytes; ++i) entries += std::popcount(std::to_integer<unsigned>(in[i]));
    if (blocks % 8 != 0 && std::to_integer<unsigned>(in[map_bytes - 1]) >> (blocks % 8) != 0) return 0;
  }
  const std::size_t size = map_bytes + entry_bytes(entries, flags);
  if (available < size) return 0;

  std::uint8_t list[chunk_blocks + 2];
  std::uint8_t* const to = sparse ? list : widths.of;
  if (as_bytes) {
    std::memcpy(to, in + map_bytes, entries);
  } else {
    for (std::size_t i = 0; i < entries / 2; ++i) {
      const unsigned pair = std::to_integer<unsigned>(in[map_bytes + i]);
      to[2 * i] = pair & 15;
      to[2 * i + 1] = static_cast<std::uint8_t>(pair >> 4);
    }
    if (entries % 2 != 0) to[entries - 1] = std::to_integer<std::uint8_t>(in[map_bytes + entries / 2]) & 15;
  }
  if (sparse) {
    list[entries] = 0;
    std::size_t next = 0;
    for (std::size_t i = 0; i < blocks; ++i) {
      const unsigned present = std::to_integer<unsigned>(in[i / 8]) >> (i % 8) & 1;
      widths.of[i] = present != 0 ? list[next] : 0;
      next += present;
    }
  }
  std::memset(widths.of + blocks, 0, chunk_blocks - blocks);
  return size;
}

}  // namespace taut::planes
