// NEON kernels of the codec szx. The instructions UZP1 and UZP2 extract bytes; ZIP1 and ZIP2 join bytes.
#include "compressor/codecs/szx/kernel_set.hpp"
#include "compressor/simd/neon.hpp"

namespace taut::szx {
namespace {

using simd::Neon;
using Bytes = Neon::Bytes;

constexpr std::size_t lanes = 4, registers = block_values / lanes;

struct NeonBlocks {
  using Offsets = int32x4_t[16];  // in the order of the values

  // The minimum of NaN and a number is NaN.
  static void extremes(const float* x, std::size_t blocks, float* least, float* greatest) noexcept {
    for (std::size_t b = 0; b < blocks; ++b, x += block_values) {
      float32x4_t low = vld1q_f32(x), high = low;
      for (std::size_t i = 4; i < block_values; i += 4) {
        low = vminq_f32(low, vld1q_f32(x + i));
        high = vmaxq_f32(high, vld1q_f32(x + i));
      }
      least[b] = vminvq_f32(low);
      greatest[b] = vmaxvq_f32(high);
    }
  }
  static void extremes(const double* x, std::size_t blocks, double* least, double* greatest) noexcept {
    for (std::size_t b = 0; b < blocks; ++b, x += block_values) {
      float64x2_t low = vld1q_f64(x), high = low;
      for (std::size_t i = 2; i < block_values; i += 2) {
        low = vminq_f64(low, vld1q_f64(x + i));
        high = vmaxq_f64(high, vld1q_f64(x + i));
      }
      least[b] = vminvq_f64(low);
      greatest[b] = vmaxvq_f64(high);
    }
  }

  static void write_offsets(Offsets& o, std::uint32_t span, unsigned width, std::byte* to) noexcept {
    const int32x4_t most = vdupq_n_s32(static_cast<std::int32_t>(span));
    for (int32x4_t& v : o) v = vminq_s32(vmaxq_s32(v, vdupq_n_s32(0)), most);
    write(bytes_of<0>(o), width, to);
    if (width > 8) write(bytes_of<1>(o), width - 8, to + block_values);
    if (width > 16) write(bytes_of<2>(o), width - 16, to + 2 * block_values);
    if (width > 24) write(bytes_of<3>(o), width - 24, to + 3 * block_values);
  }

  template <bool add, class T>
  static void unpack_offsets(const std::byte* from, IntOf<T> low, unsigned width, const Grid<T>& grid,
                             T* y) noexcept {
    const unsigned whole = width / 8;
    Bytes rows[4];
    for (unsigned k = 0; k < whole; ++k, from += block_values) rows[k] = Neon::load(from);
    rows[whole] = Neon::load_bit_planes(from, width % 8);
    const T mu = grid.value(low);
    for (std::size_t j = 0; j < 4; ++j) {
      const auto row = [&](unsigned k) { return k <= whole ? rows[k].val[j] : vdupq_n_u8(0); };
      const uint8x16_t first = row(0), second = row(1);
      const uint16x8_t lower[] = {words(vzip1q_u8(first, second)), words(vzip2q_u8(first, second))};
      if (whole < 2) {
        four_by_four(lower, vdupq_n_u16(0), vdupq_n_u16(0),
                     [&](std::size_t i, int32x4_t o) { write_values<add>(o, mu, grid, y + 16 * j + i); });
      } else {
        const uint8x16_t third = row(2), fourth = row(3);
        four_by_four(lower, words(vzip1q_u8(third, fourth)), words(vzip2q_u8(third, fourth)),
                     [&](std::size_t i, int32x4_t o) { write_values<add>(o, mu, grid, y + 16 * j + i); });
      }
    }
  }

  // Computes `offset` of grid.hpp, before it is clamped to the span.
  template <bool corrected>
  static void find(const float* x, float mu, const Grid<float>& grid, Offsets& o) noexcept {
    const float32x4_t from = vdupq_n_f32(mu), half = vdupq_n_f32(grid.step / 2), minus_half = vnegq_f32(half);
    for (std::size_t j = 0; j < registers; ++j) {
      const float32x4_t v = vld1q_f32(x + lanes * j);
      o[j] = vcvtnq_s32_f32(vmulq_n_f32(vsubq_f32(v, from), grid.inverse));
      if constexpr (corrected) {
        const float32x4_t rest = vsubq_f32(v, vaddq_f32(from, vmulq_n_f32(vcvtq_f32_s32(o[j]), grid.step)));
        o[j] = vsubq_s32(o[j], vreinterpretq_s32_u32(vcgtq_f32(rest, half)));  // a set mask is -1
        o[j] = vaddq_s32(o[j], vreinterpretq_s32_u32(vcltq_f32(rest, minus_half)));
      }
    }
  }
  template <bool>
  static void find(const double* x, double mu, const Grid<double>& grid, Offsets& o) noexcept {
    const auto two = [&](std::size_t i) {
      const float64x2_t distance = vsubq_f64(vld1q_f64(x + i), vdupq_n_f64(mu));
      return vreinterpretq_s32_s64(vcvtnq_s64_f64(vmulq_n_f64(distance, grid.inverse)));
    };
    for (std::size_t j = 0; j < registers; ++j) o[j] = vuzp1q_s32(two(4 * j), two(4 * j + 2));
  }

  static uint16x8_t words(uint8x16_t v) noexcept { return vreinterpretq_u16_u8(v); }

  // Returns byte k of each offset.
  template <unsigned k>
  static Bytes bytes_of(const Offsets& o) noexcept {
    const auto half = [&](int i) {
      const int16x8_t a = vreinterpretq_s16_s32(o[i]), b = vreinterpretq_s16_s32(o[i + 1]);
      return vreinterpretq_u8_s16(k < 2 ? vuzp1q_s16(a, b) : vuzp2q_s16(a, b));
    };
    return Neon::each([&](int i) {
      const uint8x16_t a = half(4 * i), b = half(4 * i + 2);
      return k % 2 == 0 ? vuzp1q_u8(a, b) : vuzp2q_u8(a, b);
    });
  }

  // Writes 64 bytes, or their lowest `width` bits as planes.
  static void write(const Bytes& bytes, unsigned width, std::byte* to) noexcept {
    if (width >= 8) return Neon::store(to, bytes);
    Neon::store_bit_planes(bytes, width, to);
  }

  // Calls visit(i, offsets) for offsets i to i + 3 of sixteen, joined from their lower and upper words.
  template <class Visit>
  static void four_by_four(const uint16x8_t (&lower)[2], uint16x8_t upper_first, uint16x8_t upper_second,
                           const Visit& visit) noexcept {
    const auto whole = [](uint16x8_t v) { return vreinterpretq_s32_u16(v); };
    visit(0, whole(vzip1q_u16(lower[0], upper_first)));
    visit(4, whole(vzip2q_u16(lower[0], upper_first)));
    visit(8, whole(vzip1q_u16(lower[1], upper_second)));
    visit(12, whole(vzip2q_u16(lower[1], upper_second)));
  }

  template <bool add>
  static void write_values(int32x4_t o, float mu, const Grid<float>& grid, float* y) noexcept {
    float32x4_t v = vaddq_f32(vmulq_n_f32(vcvtq_f32_s32(o), grid.step), vdupq_n_f32(mu));
    if constexpr (add) v = vaddq_f32(vld1q_f32(y), v);
    vst1q_f32(y, v);
  }
  template <bool add>
  static void write_values(int32x4_t o, double mu, const Grid<double>& grid, double* y) noexcept {
    const int64x2_t wide[] = {vmovl_s32(vget_low_s32(o)), vmovl_high_s32(o)};
    for (const int64x2_t& pair : wide) {
      float64x2_t v = vaddq_f64(vmulq_n_f64(vcvtq_f64_s64(pair), grid.step), vdupq_n_f64(mu));
      if constexpr (add) v = vaddq_f64(vld1q_f64(y), v);
      vst1q_f64(y, v);
      y += 2;
    }
  }
};

}  // namespace

template <>
const KernelSet& KernelSet::with<simd::Neon>() noexcept {
  return kernel_set<simd::Neon, Vectorised<NeonBlocks>>();
}

}  // namespace taut::szx
