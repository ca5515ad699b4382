#include "compressor/codecs/planes/record/short_form.hpp"

#include <algorithm>
#include <array>

namespace taut::planes {
namespace {

// A block of width 2 is a mask of the values that are not 0, whose signs are in a list of bits.
// Nibbles hold widths below 15, or 15 and the rest.
constexpr unsigned signed_width = 2, most_nibble = 15, most_width = 2 * most_nibble, other = 3,
                   least_gain = 16;
constexpr std::size_t copied = 32;  // bytes copied for a block, whatever its width

// ---- Four bits of a mask: tables [mask][bits]

using Nibbles = std::array<std::array<std::uint8_t, 16>, 16>;

// gathered: the bits at the places of the mask, side by side. scattered: the lowest bits at these places.
struct BitTables {
  Nibbles gathered{}, scattered{};

  constexpr BitTables() noexcept {
    for (unsigned mask = 0; mask < 16; ++mask)
      for (unsigned bits = 0; bits < 16; ++bits)
        for (unsigned place = 0, n = 0; place < 4; ++place) {
          if ((mask >> place & 1) == 0) continue;
          gathered[mask][bits] |= static_cast<std::uint8_t>((bits >> place & 1) << n);
          scattered[mask][bits] |= static_cast<std::uint8_t>((bits >> n++ & 1) << place);
        }
  }
};
constexpr BitTables tables;
constexpr std::array<std::uint8_t, 16> ones{0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4};

unsigned count(unsigned mask) noexcept { return ones[mask & 15] + ones[mask >> 4]; }
unsigned gather(unsigned mask, unsigned bits) noexcept {
  return tables.gathered[mask & 15][bits & 15] | tables.gathered[mask >> 4][bits >> 4] << ones[mask & 15];
}
unsigned scatter(unsigned mask, unsigned bits) noexcept {
  return tables.scattered[mask & 15][bits & 15] | tables.scattered[mask >> 4][bits >> ones[mask & 15] & 15]
                                                      << 4;
}

// ---- Widths: codes of two bits for three widths from `low` on, and nibbles for the others

constexpr std::size_t code_bytes(std::size_t blocks) noexcept { return (blocks + 3) / 4; }
std::size_t stored_bytes(unsigned width) noexcept { return width - (width == signed_width); }

// Numbers of blocks by width, for the widths around the mean.
struct AroundMean {
  unsigned first;  // width
  std::array<std::size_t, 5> blocks{};

  AroundMean(const Widths& widths, std::size_t n, std::size_t sum) noexcept
      : first(std::clamp(static_cast<unsigned>((sum + n / 2) / n), 2U, most_nibble - 2U) - 2) {
    constexpr unsigned bits = 12;  // of each number
    static_assert(chunk_blocks < 1U << bits);
    constexpr auto ones_of = [] {
      std::array<std::uint64_t, 128> all{};
      for (unsigned k = 0; k < 5; ++k) all[64 + k] = std::uint64_t{1} << bits * k;
      return all;
    }();
    const std::uint64_t* const one = ones_of.data() + 64 - first;
    std::uint64_t even = 0, odd = 0;
    for (std::size_t i = 0; i < chunk_blocks; i += 2) {
      even += one[widths.of[i]];
      odd += one[widths.of[i + 1]];
    }
    for (unsigned k = 0; k < blocks.size(); ++k) blocks[k] = (even + odd) >> bits * k & ((1U << bits) - 1);
    if (first == 0) blocks[0] -= chunk_blocks - n;  // entries beyond the blocks are 0
  }
  std::size_t in_window(unsigned low) const noexcept {
    return blocks[low - first] + blocks[low - first + 1] + blocks[low - first + 2];
  }
  unsigned best_low() const noexcept {
    unsigned best = first;
    for (unsigned low = first + 1; low <= first + 2; ++low)
      if (in_window(low) > in_window(best)) best = low;
    return best;
  }
};

// Writes the codes of all blocks and the nibbles behind them.
std::byte* write_codes(std::byte* out, const Widths& widths, std::size_t blocks, unsigned low) noexcept {
  alignas(64) std::uint8_t codes[chunk_blocks];
  const std::size_t whole = (blocks + 3) / 4 * 4;
  for (std::size_t i = 0; i < whole; ++i)
    codes[i] = std::min<std::uint8_t>(static_cast<std::uint8_t>(widths.of[i] - low), other);
  std::fill(codes + blocks, codes + whole, std::uint8_t{0});
  std::byte* nibbles = out + code_bytes(blocks);
  bool half = false;
  const auto put = [&](unsigned nibble) {
    if (half)
      *nibbles++ |= static_cast<std::byte>(nibble << 4);
    else
      *nibbles = static_cast<std::byte>(nibble);
    half = !half;
  };
  for (std::size_t i = 0; i < whole; i += 4) {
    const auto four = load<std::uint32_t>(reinterpret_cast<const std::byte*>(codes + i));
    *out++ = static_cast<std::byte>(four | four >> 6 | four >> 12 | four >> 18);
    if ((four & four >> 1 & 0x01010101U) == 0) continue;
    for (std::size_t k = i; k < i + 4; ++k) {
      if (codes[k] != other) continue;
      const unsigned width = widths.of[k];
      put(std::min(width, most_nibble));
      if (width >= most_nibble) put(width - most_nibble);
    }
  }
  return nibbles + half;
}

// Reads what write_codes() writes. Returns the bytes read; 0 if `in` is too short or has codes for blocks
// that do not exist.
std::size_t read_codes(ConstBytes in, std::size_t blocks, unsigned low, Widths& widths) noexcept {
  const std::size_t bytes = code_bytes(blocks);
  if (in.size() < bytes) return 0;
  std::size_t taken = 0;
  const std::size_t there = 2 * (in.size() - bytes);
  const auto nibble = [&]() -> unsigned {
    if (taken >= there) return ++taken, 0;
    const auto two = static_cast<unsigned>(in[bytes + taken / 2]);
    return taken++ % 2 == 0 ? two & 15 : two >> 4;
  };
  for (std::size_t i = 0; i < bytes; ++i) {
    auto four = static_cast<std::uint32_t>(in[i]);
    four = (four | four << 12) & 0x000F000FU;
    four = (four | four << 6) & 0x03030303U;
    std::uint32_t all = four + low * 0x01010101U;
    std::memcpy(widths.of + 4 * i, &all, 4);
    if ((four & four >> 1 & 0x01010101U) == 0) continue;
    for (std::size_t k = 4 * i; k < 4 * i + 4; ++k) {
      if (widths.of[k] != low + other) continue;
      unsigned width = nibble();
      if (width == most_nibble) width += nibble();
      widths.of[k] = static_cast<std::uint8_t>(width);
    }
  }
  if (taken > there) return 0;
  if (blocks % 4 != 0 && std::to_integer<unsigned>(in[bytes - 1]) >> 2 * (blocks % 4) != 0) return 0;
  std::memset(widths.of + blocks, 0, sizeof widths.of - blocks);
  return bytes + (taken + 1) / 2;
}

// ---- Planes

// Planes in the short form, and signs.
struct ShortPlanes {
  alignas(64) std::byte planes[chunk_blocks * most_width + copied];
  std::byte signs[chunk_blocks + 8];
  std::size_t plane_bytes = 0, sign_bytes = 0;
  Widths widths;

  // Shortens planes of widths up to most_width. A block of width 2 that holds -2 becomes one of width 3.
  ShortPlanes(const std::byte* from, const Widths& usual, std::size_t blocks) noexcept : widths(usual) {
    std::byte *to = planes, *sign = signs;
    std::uint64_t pending = 0;
    unsigned n = 0;
    for (std::size_t i = 0; i < blocks; ++i) {
      const unsigned width = usual.of[i];
      const auto negative = std::to_integer<unsigned>(from[0]), low = std::to_integer<unsigned>(from[1]);
      if (width == signed_width && (negative & ~low) != 0) {
        const std::byte wider[]{from[0], from[0], from[1]};
        std::memcpy(to, wider, sizeof wider);
        widths.of[i] = sizeof wider;
        to += sizeof wider;
        from += width;
        continue;
      }
      const bool with_signs = width == signed_width;
      const unsigned mask = with_signs ? low : 0;
      std::memcpy(to, from + with_signs, copied);
      to += stored_bytes(width);
      from += width;
      pending |= std::uint64_t{gather(mask, negative)} << n;
      n += count(mask);
      store(sign, pending);
      sign += n / 8;
      pending >>= n / 8 * 8;
      n %= 8;
    }
    plane_bytes = static_cast<std::size_t>(to - planes);
    sign_bytes = static_cast<std::size_t>(sign - signs) + (n > 0);
  }
};

// Expands short planes to `to`. `signs`: 8 bytes beyond the last are readable. Returns the number of signs.
std::size_t expand(const std::byte* from, const std::byte* signs, const Widths& widths, std::size_t blocks,
                   std::byte* to) noexcept {
  std::size_t n = 0;
  for (std::size_t i = 0; i < blocks; ++i) {
    const unsigned width = widths.of[i];
    const bool with_signs = width == signed_width;
    const unsigned mask = with_signs ? std::to_integer<unsigned>(from[0]) : 0;
    const auto bits = static_cast<unsigned>(load<std::uint64_t>(signs + n / 8) >> n % 8) & 0xFF;
    to[0] = static_cast<std::byte>(scatter(mask, bits));
    std::memcpy(to + with_signs, from, copied);
    from += stored_bytes(width);
    to += width;
    n += count(mask);
  }
  return n;
}

// Returns the fewest bytes that the short form of these planes can have. `usual`: of the planes; `table`: of
// codes and nibbles for these widths.
std::size_t least_bytes(const std::byte* from, const Widths& widths, std::size_t blocks, std::size_t usual,
                        std::size_t table, unsigned low) noexcept {
  std::size_t with_signs = 0, wider = 0, signs = 0;
  for (std::size_t i = 0; i < blocks; ++i) {
    const unsigned width = widths.of[i], all = width == signed_width ? 0xFF : 0;
    const unsigned negative = std::to_integer<unsigned>(from[0]) & all,
                   nonzero = std::to_integer<unsigned>(from[1]) & all;
    const bool becomes_wider = (negative & ~nonzero) != 0;
    with_signs += width == signed_width;
    wider += becomes_wider;
    signs += becomes_wider ? 0 : count(nonzero);
    from += width;
  }
  if (low == signed_width + 1) table -= std::min(table, (wider + 1) / 2);  // their nibbles become codes
  return usual - with_signs + 2 * wider + (signs + 7) / 8 + table;
}

}  // namespace

std::size_t finish_short_planes(std::byte* out, RecordHeader header, const Widths& widths,
                                const WidthSummary& summary, std::size_t blocks) noexcept {
  if (summary.greatest > most_width) return 0;
  const AroundMean around(widths, blocks, summary.sum);
  const std::size_t usual_table = choose_table(summary, blocks).bytes, usual = summary.sum + usual_table;
  const unsigned low = around.best_low();
  const std::size_t table = code_bytes(blocks) + (blocks - around.in_window(low) + 1) / 2;
  const std::size_t with_signs =
      around.first <= signed_width ? around.blocks[signed_width - around.first] : 0;
  if (usual < table + summary.sum - with_signs + usual / least_gain) return 0;
  const std::byte* const planes = out + header.bytes();
  const bool doubtful = usual < table + summary.sum - 3 * with_signs / 8 + usual / least_gain;
  if (doubtful && least_bytes(planes, widths, blocks, summary.sum, table, low) + usual / least_gain > usual)
    return 0;

  const ShortPlanes made(planes, widths, blocks);
  alignas(64) std::byte codes[code_bytes(chunk_blocks) + chunk_blocks];
  const auto code_size = static_cast<std::size_t>(write_codes(codes, made.widths, blocks, low) - codes);
  const std::size_t bytes = made.plane_bytes + code_size + made.sign_bytes;
  if (bytes + usual / least_gain > usual) return 0;
  header.flags |= has_planes;
  header.form = static_cast<std::uint8_t>(1 + low);
  header.plane_bytes = static_cast<std::uint16_t>(made.plane_bytes);
  std::byte* at = write_record_header(out, header);
  const auto put = [&](const std::byte* from, std::size_t n) {
    std::memcpy(at, from, n);
    at += n;
  };
  put(made.planes, made.plane_bytes);
  put(codes, code_size);
  put(made.signs, made.sign_bytes);
  while ((at - out) % 4 != 0) *at++ = std::byte{0};
  return static_cast<std::size_t>(at - out);
}

ShortPlanesRead read_short_planes(ConstBytes in, const RecordHeader& header, std::size_t blocks,
                                  Widths& widths, std::byte* room) noexcept {
  ShortPlanesRead read;
  const std::size_t plane_bytes = header.plane_bytes;
  if (in.size() < plane_bytes) return {};
  ConstBytes rest = in.subspan(plane_bytes);
  const std::size_t codes = read_codes(rest, blocks, header.form - 1U, widths);
  if (codes == 0) return {};
  rest = rest.subspan(codes);
  std::size_t stored = 0;
  for (std::size_t i = 0; i < blocks; ++i) {
    read.plane_bytes += widths.of[i];
    stored += stored_bytes(widths.of[i]);
    read.greatest = std::max<unsigned>(read.greatest, widths.of[i]);
  }
  if (stored != plane_bytes) return {};
  std::size_t signs = 0;
  if (stored != read.plane_bytes) {
    std::byte planes[chunk_blocks * most_width + copied], of_signs[chunk_blocks + 8] = {};
    std::memcpy(planes, in.data(), plane_bytes);
    std::memcpy(of_signs, rest.data(), std::min(rest.size(), chunk_blocks));
    signs = (expand(planes, of_signs, widths, blocks, room) + 7) / 8;
    read.expanded = true;
  }
  if (signs > rest.size()) return {};
  read.bytes = plane_bytes + codes + signs;
  return read;
}

}  // namespace taut::planes
