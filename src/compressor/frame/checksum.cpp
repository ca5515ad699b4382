// CRC-32C, reflected polynomial 0x82F63B78: by table, or by the instruction of SSE 4.2 if the processor has
// it.
#include <array>
#include <cstring>

#include "compressor/frame/frame.hpp"

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace taut {
namespace {

// Tables of the method slicing-by-8: tables[k][b] is the checksum of byte b followed by k zero bytes.
using Tables = std::array<std::array<std::uint32_t, 256>, 8>;

constexpr Tables make_tables() {
  Tables t{};
  for (std::uint32_t b = 0; b < 256; ++b) {
    std::uint32_t crc = b;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82F63B78u : 0);
    t[0][b] = crc;
  }
  for (std::size_t k = 1; k < 8; ++k)
    for (std::size_t b = 0; b < 256; ++b) t[k][b] = (t[k - 1][b] >> 8) ^ t[0][t[k - 1][b] & 0xFF];
  return t;
}

constexpr Tables tables = make_tables();

std::uint32_t by_table(const std::byte* p, std::size_t n, std::uint32_t crc) noexcept {
  for (; n >= 8; n -= 8, p += 8) {
    std::uint64_t v;
    std::memcpy(&v, p, 8);
    v ^= crc;
    crc = 0;
    for (std::size_t k = 0; k < 8; ++k) crc ^= tables[7 - k][(v >> (8 * k)) & 0xFF];
  }
  for (; n > 0; --n, ++p) crc = (crc >> 8) ^ tables[0][(crc ^ static_cast<std::uint32_t>(*p)) & 0xFF];
  return crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) std::uint32_t by_instruction(const std::byte* p, std::size_t n,
                                                               std::uint32_t crc) noexcept {
  std::uint64_t wide = crc;
  for (; n >= 8; n -= 8, p += 8) {
    std::uint64_t v;
    std::memcpy(&v, p, 8);
    wide = _mm_crc32_u64(wide, v);
  }
  crc = static_cast<std::uint32_t>(wide);
  for (; n > 0; --n, ++p) crc = _mm_crc32_u8(crc, static_cast<unsigned char>(*p));
  return crc;
}

bool has_instruction() noexcept {
  static const bool has = __builtin_cpu_supports("sse4.2") != 0;
  return has;
}
#else
constexpr auto by_instruction = by_table;
constexpr bool has_instruction() noexcept { return false; }
#endif

}  // namespace

std::uint32_t crc32c(ConstBytes bytes, std::uint32_t seed) noexcept {
  const auto compute = has_instruction() ? by_instruction : by_table;
  return ~compute(bytes.data(), bytes.size(), ~seed);
}

}  // namespace taut
