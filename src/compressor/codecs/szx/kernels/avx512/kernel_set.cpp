// AVX-512 kernels with VBMI and GFNI: one instruction between two byte permutations converts a block of 64
// bytes to its bit planes.

#include "compressor/codecs/szx/kernel_set.hpp"
#include "compressor/codecs/szx/kernels/avx512/extremes.hpp"
#include "compressor/simd/avx512.hpp"

namespace taut::szx {
namespace {

using simd::Avx512;

// Position of value v among the bytes after two steps of packing, and in the order that the transposition
// expects.
constexpr std::size_t packed_byte(std::size_t v) noexcept { return v / 4 % 4 * 16 + v / 16 * 4 + v % 4; }
constexpr std::size_t reversed(std::size_t v) noexcept { return v / 8 * 8 + 7 - v % 8; }

// Position of value v among 16-bit numbers packed into two registers; `high` selects the upper byte.
constexpr std::size_t packed_half(std::size_t v, std::size_t high) noexcept {
  return v / 32 * 64 + (v / 4 % 4 * 8 + v / 16 % 2 * 4 + v % 4) * 2 + high;
}

// Writes the bit planes of bytes, each eight of which are in reverse order.
void store_planes(std::byte* to, __m512i reversed_bytes) noexcept {
  const __m512i by_planes = Avx512::bytes_by([](unsigned i) { return i % 8 * 8 + i / 8; });
  _mm512_storeu_si512(to, _mm512_permutexvar_epi8(by_planes, Avx512::transpose8x8(reversed_bytes)));
}

struct Avx512Blocks {
  using Offsets = __m512i[4];  // int32, in the order of the values

  template <class T>
  static void extremes(const T* x, std::size_t blocks, T* least, T* greatest) noexcept {
    using E = avx512::Extremes<T>;
    for (std::size_t b = 0; b < blocks; b += E::lanes) {
      const T* const from = x + b * block_values;
      const std::size_t n = std::min(E::lanes, blocks - b);
      if (n < E::lanes || !E::write(from, least + b, greatest + b))
        Portable::extremes(from, n, least + b, greatest + b);
    }
  }

  // Computes `offset` of grid.hpp, before it is clamped to the span.
  template <bool corrected>
  static void find(const float* x, float mu, const Grid<float>& grid, Offsets& o) noexcept {
    const __m512 from = _mm512_set1_ps(mu), inverse = _mm512_set1_ps(grid.inverse),
                 step = _mm512_set1_ps(grid.step);
    const __m512 half = _mm512_set1_ps(grid.step / 2), minus_half = _mm512_set1_ps(-grid.step / 2);
    for (std::size_t j = 0; j < 4; ++j) {
      const __m512 v = _mm512_loadu_ps(x + 16 * j);
      o[j] = _mm512_cvtps_epi32(_mm512_mul_ps(_mm512_sub_ps(v, from), inverse));
      if constexpr (corrected) {
        const __m512 rest =
            _mm512_sub_ps(v, _mm512_add_ps(from, _mm512_mul_ps(_mm512_cvtepi32_ps(o[j]), step)));
        const __m512i one = _mm512_set1_epi32(1);
        o[j] = _mm512_mask_add_epi32(o[j], _mm512_cmp_ps_mask(rest, half, _CMP_GT_OQ), o[j], one);
        o[j] = _mm512_mask_sub_epi32(o[j], _mm512_cmp_ps_mask(rest, minus_half, _CMP_LT_OQ), o[j], one);
      }
    }
  }

  template <bool>
  static void find(const double* x, double mu, const Grid<double>& grid, Offsets& o) noexcept {
    const __m512d from = _mm512_set1_pd(mu), inverse = _mm512_set1_pd(grid.inverse);
    const auto eight = [&](std::size_t i) {
      return _mm512_cvtpd_epi32(_mm512_mul_pd(_mm512_sub_pd(_mm512_loadu_pd(x + i), from), inverse));
    };
    for (std::size_t j = 0; j < 4; ++j)
      o[j] = _mm512_inserti64x4(_mm512_castsi256_si512(eight(16 * j)), eight(16 * j + 8), 1);
  }

  static void pack_narrow(const Offsets& o, std::uint32_t span, unsigned width, std::byte* to) noexcept {
    const __m512i packed =
        _mm512_packus_epi16(_mm512_packs_epi32(o[0], o[1]), _mm512_packs_epi32(o[2], o[3]));
    const __m512i bytes = _mm512_min_epu8(packed, _mm512_set1_epi8(static_cast<char>(span)));
    if (width == 8) {
      _mm512_storeu_si512(
          to, _mm512_permutexvar_epi8(Avx512::bytes_by([](std::size_t v) { return packed_byte(v); }), bytes));
    } else {
      store_planes(to, _mm512_permutexvar_epi8(
                           Avx512::bytes_by([](std::size_t v) { return packed_byte(reversed(v)); }), bytes));
    }
  }

  static void pack_medium(const Offsets& o, std::uint32_t span, unsigned width, std::byte* to) noexcept {
    const __m512i most = _mm512_set1_epi16(static_cast<short>(span));
    const __m512i a = _mm512_min_epu16(_mm512_packus_epi32(o[0], o[1]), most),
                  b = _mm512_min_epu16(_mm512_packus_epi32(o[2], o[3]), most);
    _mm512_storeu_si512(to, _mm512_permutex2var_epi8(
                                a, Avx512::bytes_by([](std::size_t v) { return packed_half(v, 0); }), b));
    if (width == 16) {
      _mm512_storeu_si512(
          to + 64,
          _mm512_permutex2var_epi8(a, Avx512::bytes_by([](std::size_t v) { return packed_half(v, 1); }), b));
    } else {
      store_planes(to + 64,
                   _mm512_permutex2var_epi8(
                       a, Avx512::bytes_by([](std::size_t v) { return packed_half(reversed(v), 1); }), b));
    }
  }

  static void pack_long(Offsets& o, std::uint32_t span, unsigned width, std::byte* to) noexcept {
    for (__m512i& v : o) {
      v = _mm512_max_epi32(v, _mm512_setzero_si512());
      v = _mm512_min_epi32(v, _mm512_set1_epi32(static_cast<int>(span)));
    }
    alignas(64) std::byte bytes[block_values];
    for (unsigned done = 0; done < width; done += 8, to += block_values) {
      for (std::size_t j = 0; j < 4; ++j) {
        _mm_store_si128(reinterpret_cast<__m128i*>(bytes + 16 * j), _mm512_cvtepi32_epi8(o[j]));
        o[j] = _mm512_srli_epi32(o[j], 8);
      }
      const __m512i all = _mm512_load_si512(bytes);
      if (width - done >= 8) {
        _mm512_storeu_si512(to, all);
      } else {
        store_planes(
            to, _mm512_permutexvar_epi8(Avx512::bytes_by([](std::size_t v) { return reversed(v); }), all));
      }
    }
  }

  static void write_offsets(Offsets& o, std::uint32_t span, unsigned width, std::byte* to) noexcept {
    if (width <= 8) return pack_narrow(o, span, width, to);
    if (width <= 16) return pack_medium(o, span, width, to);
    pack_long(o, span, width, to);
  }

  // Returns the 16 values of `bytes` from `first` on, each in byte `at` of an int32.
  static __m512i spread(__m512i bytes, std::size_t first, unsigned at) noexcept {
    const __m512i lanes = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    const __m512i index = _mm512_mullo_epi32(
        _mm512_add_epi32(lanes, _mm512_set1_epi32(static_cast<int>(first))), _mm512_set1_epi32(0x01010101));
    return _mm512_maskz_permutexvar_epi8(std::uint64_t{0x1111111111111111} << at, index, bytes);
  }

  template <unsigned whole>
  static void read(const std::byte* from, unsigned width, Offsets& o) noexcept {
    const __m512i top = Avx512::load_bit_planes(from + whole * block_values, width - 8 * whole);
    for (std::size_t j = 0; j < 4; ++j) o[j] = spread(top, 16 * j, whole);
    for (unsigned k = 0; k < whole; ++k) {
      const __m512i bytes = _mm512_loadu_si512(from + k * block_values);
      for (std::size_t j = 0; j < 4; ++j) o[j] = _mm512_or_si512(o[j], spread(bytes, 16 * j, k));
    }
  }

  template <bool add>
  static void write(const Offsets& o, std::int32_t low, const Grid<float>& grid, float* y) noexcept {
    const __m512 mu = _mm512_set1_ps(grid.value(low)), step = _mm512_set1_ps(grid.step);
    for (std::size_t j = 0; j < 4; ++j) {
      __m512 v = _mm512_fmadd_ps(_mm512_cvtepi32_ps(o[j]), step, mu);
      if constexpr (add) v = _mm512_add_ps(_mm512_loadu_ps(y + 16 * j), v);
      _mm512_storeu_ps(y + 16 * j, v);
    }
  }

  template <bool add>
  static void write(const Offsets& o, std::int64_t low, const Grid<double>& grid, double* y) noexcept {
    const __m512d mu = _mm512_set1_pd(grid.value(low)), step = _mm512_set1_pd(grid.step);
    const auto eight = [&](__m256i offsets, double* to) {
      __m512d v = _mm512_fmadd_pd(_mm512_cvtepi32_pd(offsets), step, mu);
      if constexpr (add) v = _mm512_add_pd(_mm512_loadu_pd(to), v);
      _mm512_storeu_pd(to, v);
    };
    for (std::size_t j = 0; j < 4; ++j) {
      eight(_mm512_castsi512_si256(o[j]), y + 16 * j);
      eight(_mm512_extracti64x4_epi64(o[j], 1), y + 16 * j + 8);
    }
  }

  template <bool add, class T>
  static void unpack_offsets(const std::byte* from, IntOf<T> low, unsigned width, const Grid<T>& grid,
                             T* y) noexcept {
    Offsets o;
    switch (width / 8) {
      case 0: read<0>(from, width, o); break;
      case 1: read<1>(from, width, o); break;
      case 2: read<2>(from, width, o); break;
      default: read<3>(from, width, o); break;
    }
    write<add>(o, low, grid, y);
  }
};

}  // namespace

template <>
const KernelSet& KernelSet::with<simd::Avx512>() noexcept {
  return kernel_set<simd::Avx512, Vectorised<Avx512Blocks>>();
}

}  // namespace taut::szx
