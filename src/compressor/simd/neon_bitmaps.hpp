// Bitmaps of 64 bytes, and removal and restoration of bytes by a bitmap, on NEON registers: 8 bytes at a
// time, with tables indexed by 8 bits of the bitmap. Included by files of the NEON kernel sets only.
#pragma once

#include <arm_neon.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace taut {
namespace {  // one copy for each kernel set

// Four registers: 64 bytes.
using Bytes64 = uint8x16x4_t;

inline Bytes64 load_64(const std::byte* from) noexcept {
  return vld1q_u8_x4(reinterpret_cast<const std::uint8_t*>(from));
}
inline void store_64(std::byte* to, const Bytes64& v) noexcept {
  vst1q_u8_x4(reinterpret_cast<std::uint8_t*>(to), v);
}

template <class Of>
Bytes64 each_of_64(Of of) noexcept {
  return {{of(0), of(1), of(2), of(3)}};
}

// Returns a register with 1, 2, 4, ... 128, twice.
inline uint8x16_t bit_of_each() noexcept { return vreinterpretq_u8_u64(vdupq_n_u64(0x8040201008040201)); }

// Returns the bitmap of bytes that are all ones; other bytes are 0.
inline std::uint64_t bitmap_of(const Bytes64& masks) noexcept {
  const uint8x16_t bit = bit_of_each();
  const uint8x16_t low = vpaddq_u8(vandq_u8(masks.val[0], bit), vandq_u8(masks.val[1], bit)),
                   high = vpaddq_u8(vandq_u8(masks.val[2], bit), vandq_u8(masks.val[3], bit));
  const uint8x16_t quarters = vpaddq_u8(low, high);
  return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(quarters, quarters)), 0);
}

inline std::uint64_t nonzero_bitmap(const Bytes64& v) noexcept {
  return bitmap_of(each_of_64([&](int i) { return vtstq_u8(v.val[i], v.val[i]); }));
}

// Returns all ones in the bytes whose bit is set.
inline Bytes64 masks_of(std::uint64_t bitmap) noexcept {
  const uint8x16_t map = vreinterpretq_u8_u64(vdupq_n_u64(bitmap)), bit = bit_of_each();
  const uint8x16_t place = vcombine_u8(vdup_n_u8(0), vdup_n_u8(1));
  return each_of_64([=](int i) {
    const uint8x16_t places = vaddq_u8(place, vdupq_n_u8(static_cast<std::uint8_t>(2 * i)));
    return vtstq_u8(vqtbl1q_u8(map, places), bit);
  });
}

// Places for every 8-bit bitmap: the source byte of each output byte; 0x80 gives a byte of 0.
using Places = std::array<std::array<std::uint8_t, 8>, 256>;
constexpr Places kept = [] {
  Places places{};
  for (unsigned map = 0; map < 256; ++map)
    for (unsigned i = 0, n = 0; i < 8; ++i)
      if (map >> i & 1) places[map][n++] = static_cast<std::uint8_t>(i);
  return places;
}();
constexpr Places restored = [] {
  Places places{};
  for (unsigned map = 0; map < 256; ++map)
    for (unsigned i = 0, n = 0; i < 8; ++i)
      places[map][i] = map >> i & 1 ? static_cast<std::uint8_t>(n++) : 0x80;
  return places;
}();

// Byte i: the number of bits in the first i + 1 bytes of a bitmap.
inline std::uint64_t running_counts(std::uint64_t bitmap) noexcept {
  const std::uint64_t counts = vget_lane_u64(vreinterpret_u64_u8(vcnt_u8(vcreate_u8(bitmap))), 0);
  return counts * 0x0101010101010101;
}

inline uint8x8_t places_in(const Places& places, std::uint64_t bitmap, unsigned i) noexcept {
  return vld1_u8(places[static_cast<std::uint8_t>(bitmap >> 8 * i)].data());
}
inline std::size_t bytes_before(std::uint64_t ends, unsigned i) noexcept {
  return i == 0 ? 0 : static_cast<std::uint8_t>(ends >> (8 * i - 8));
}

// Writes the bytes that are in the bitmap, overwrites up to 64; returns the end.
inline std::byte* keep_bytes(std::byte* out, const Bytes64& v, std::uint64_t bitmap) noexcept {
  const std::uint64_t ends = running_counts(bitmap);
  auto* const to = reinterpret_cast<std::uint8_t*>(out);
#pragma GCC unroll 8
  for (unsigned i = 0; i < 8; ++i) {
    const uint8x16_t lane = v.val[i / 2];
    const uint8x16_t from = i % 2 == 0 ? lane : vextq_u8(lane, lane, 8);
    vst1_u8(to + bytes_before(ends, i), vqtbl1_u8(from, places_in(kept, bitmap, i)));
  }
  return out + (ends >> 56);
}

// The inverse: other bytes are 0. Reads 64 bytes.
inline Bytes64 restore_bytes(const std::byte* in, std::uint64_t bitmap) noexcept {
  const std::uint64_t ends = running_counts(bitmap);
  const auto* const from = reinterpret_cast<const std::uint8_t*>(in);
  const auto eight = [=](unsigned i) {
    return vtbl1_u8(vld1_u8(from + bytes_before(ends, i)), places_in(restored, bitmap, i));
  };
  return {{vcombine_u8(eight(0), eight(1)), vcombine_u8(eight(2), eight(3)), vcombine_u8(eight(4), eight(5)),
           vcombine_u8(eight(6), eight(7))}};
}

// Mirrors each quadword, an 8 x 8 bit matrix, at its antidiagonal: bit k of byte i becomes bit 7 - i of byte
// 7 - k.
inline uint8x16_t mirrored(uint8x16_t v) noexcept {
  uint64x2_t x = vreinterpretq_u64_u8(v);
  x = vbslq_u64(vdupq_n_u64(0xF0F0F0F00F0F0F0F), vsriq_n_u64(vshlq_n_u64(x, 36), x, 36), x);
  uint32x4_t y = vreinterpretq_u32_u64(x);
  y = vbslq_u32(vreinterpretq_u32_u64(vdupq_n_u64(0xCCCC3333CCCC3333)),
                vsriq_n_u32(vshlq_n_u32(y, 18), y, 18), y);
  uint16x8_t z = vreinterpretq_u16_u32(y);
  z = vbslq_u16(vdupq_n_u16(0xAA55), vsriq_n_u16(vshlq_n_u16(z, 9), z, 9), z);
  return vreinterpretq_u8_u16(z);
}

}  // namespace
}  // namespace taut
