// AVX2 kernels of the szx codec: packing instructions extract bytes; the sign bits of bytes give bit planes.

#include "compressor/codecs/szx/kernel_set.hpp"
#include "compressor/simd/avx2.hpp"

namespace taut::szx {
namespace {

using simd::Avx2;
using Bytes = Avx2::Bytes;

// Returns the lowest bytes of 32 integers, which are below 2^15 after masking.
__m256i lowest_bytes(const __m256i* o, __m256i mask) noexcept {
  const __m256i a = _mm256_packs_epi32(_mm256_and_si256(o[0], mask), _mm256_and_si256(o[1], mask)),
                b = _mm256_packs_epi32(_mm256_and_si256(o[2], mask), _mm256_and_si256(o[3], mask));
  return _mm256_permutevar8x32_epi32(_mm256_packus_epi16(a, b), _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

float folded_least(__m256 v) noexcept {
  __m128 m = _mm_min_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
  m = _mm_min_ps(m, _mm_movehl_ps(m, m));
  return _mm_cvtss_f32(_mm_min_ss(m, _mm_movehdup_ps(m)));
}
float folded_greatest(__m256 v) noexcept {
  __m128 m = _mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
  m = _mm_max_ps(m, _mm_movehl_ps(m, m));
  return _mm_cvtss_f32(_mm_max_ss(m, _mm_movehdup_ps(m)));
}
double folded_least(__m256d v) noexcept {
  const __m128d m = _mm_min_pd(_mm256_castpd256_pd128(v), _mm256_extractf128_pd(v, 1));
  return _mm_cvtsd_f64(_mm_min_sd(m, _mm_unpackhi_pd(m, m)));
}
double folded_greatest(__m256d v) noexcept {
  const __m128d m = _mm_max_pd(_mm256_castpd256_pd128(v), _mm256_extractf128_pd(v, 1));
  return _mm_cvtsd_f64(_mm_max_sd(m, _mm_unpackhi_pd(m, m)));
}

struct Avx2Blocks {
  using Offsets = __m256i[8];  // int32, in the order of the values

  static void extremes(const float* x, std::size_t blocks, float* least, float* greatest) noexcept {
    for (std::size_t b = 0; b < blocks; ++b, x += block_values) {
      __m256 low = _mm256_loadu_ps(x), high = low, nan = _mm256_setzero_ps();
      for (std::size_t i = 0; i < block_values; i += 16) {
        const __m256 v = _mm256_loadu_ps(x + i), w = _mm256_loadu_ps(x + i + 8);
        nan = _mm256_or_ps(nan, _mm256_cmp_ps(v, w, _CMP_UNORD_Q));
        low = _mm256_min_ps(low, _mm256_min_ps(v, w));
        high = _mm256_max_ps(high, _mm256_max_ps(v, w));
      }
      least[b] = _mm256_movemask_ps(nan) != 0 ? std::numeric_limits<float>::quiet_NaN() : folded_least(low);
      greatest[b] = folded_greatest(high);
    }
  }

  static void extremes(const double* x, std::size_t blocks, double* least, double* greatest) noexcept {
    for (std::size_t b = 0; b < blocks; ++b, x += block_values) {
      __m256d low = _mm256_loadu_pd(x), high = low, nan = _mm256_setzero_pd();
      for (std::size_t i = 0; i < block_values; i += 8) {
        const __m256d v = _mm256_loadu_pd(x + i), w = _mm256_loadu_pd(x + i + 4);
        nan = _mm256_or_pd(nan, _mm256_cmp_pd(v, w, _CMP_UNORD_Q));
        low = _mm256_min_pd(low, _mm256_min_pd(v, w));
        high = _mm256_max_pd(high, _mm256_max_pd(v, w));
      }
      least[b] = _mm256_movemask_pd(nan) != 0 ? std::numeric_limits<double>::quiet_NaN() : folded_least(low);
      greatest[b] = folded_greatest(high);
    }
  }

  // Computes `offset` of grid.hpp, before it is clamped to the span.
  template <bool corrected>
  static void find(const float* x, float mu, const Grid<float>& grid, Offsets& o) noexcept {
    const __m256 from = _mm256_set1_ps(mu), inverse = _mm256_set1_ps(grid.inverse),
                 step = _mm256_set1_ps(grid.step);
    const __m256 half = _mm256_set1_ps(grid.step / 2), minus_half = _mm256_set1_ps(-grid.step / 2);
    for (std::size_t j = 0; j < 8; ++j) {
      const __m256 v = _mm256_loadu_ps(x + 8 * j);
      o[j] = _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_sub_ps(v, from), inverse));
      if constexpr (corrected) {
        const __m256 rest =
            _mm256_sub_ps(v, _mm256_add_ps(from, _mm256_mul_ps(_mm256_cvtepi32_ps(o[j]), step)));
        const __m256 above = _mm256_cmp_ps(rest, half, _CMP_GT_OQ),
                     below = _mm256_cmp_ps(rest, minus_half, _CMP_LT_OQ);
        o[j] = _mm256_sub_epi32(o[j], _mm256_castps_si256(above));  // a set mask is -1
        o[j] = _mm256_add_epi32(o[j], _mm256_castps_si256(below));
      }
    }
  }

  template <bool>
  static void find(const double* x, double mu, const Grid<double>& grid, Offsets& o) noexcept {
    const __m256d from = _mm256_set1_pd(mu), inverse = _mm256_set1_pd(grid.inverse);
    const auto four = [&](std::size_t i) {
      return _mm256_cvtpd_epi32(_mm256_mul_pd(_mm256_sub_pd(_mm256_loadu_pd(x + i), from), inverse));
    };
    for (std::size_t j = 0; j < 8; ++j) o[j] = _mm256_set_m128i(four(8 * j + 4), four(8 * j));
  }

  static void write_offsets(Offsets& o, std::uint32_t span, unsigned width, std::byte* to) noexcept {
    const __m256i most = _mm256_set1_epi32(static_cast<int>(span));
    for (__m256i& v : o) v = _mm256_min_epi32(_mm256_max_epi32(v, _mm256_setzero_si256()), most);
    const __m256i mask = _mm256_set1_epi32(0xFF);
    for (unsigned done = 0; done < width; done += 8, to += block_values) {
      const Bytes bytes{lowest_bytes(o, mask), lowest_bytes(o + 4, mask)};
      if (width - done >= 8) {
        Avx2::store(to, bytes);
        for (__m256i& v : o) v = _mm256_srli_epi32(v, 8);
      } else {
        Avx2::store_bit_planes(bytes, width - done, to);
      }
    }
  }

  // Returns the offsets of values 8 j .. 8 j + 7.
  static __m256i eight(const std::byte* from, const std::byte* top, unsigned whole, std::size_t j) noexcept {
    const auto bytes = [&](const std::byte* at) {
      return _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(at + 8 * j)));
    };
    __m256i o = bytes(top);
    for (unsigned k = whole; k-- > 0;)
      o = _mm256_or_si256(_mm256_slli_epi32(o, 8), bytes(from + k * block_values));
    return o;
  }

  template <bool add>
  static void write(__m256i o, float mu, const Grid<float>& grid, float* y) noexcept {
    __m256 v =
        _mm256_add_ps(_mm256_mul_ps(_mm256_cvtepi32_ps(o), _mm256_set1_ps(grid.step)), _mm256_set1_ps(mu));
    if constexpr (add) v = _mm256_add_ps(_mm256_loadu_ps(y), v);
    _mm256_storeu_ps(y, v);
  }
  template <bool add>
  static void write(__m256i o, double mu, const Grid<double>& grid, double* y) noexcept {
    const auto four = [&](__m128i offsets, double* to) {
      __m256d v = _mm256_mul_pd(_mm256_cvtepi32_pd(offsets), _mm256_set1_pd(grid.step));
      v = _mm256_add_pd(v, _mm256_set1_pd(mu));
      if constexpr (add) v = _mm256_add_pd(_mm256_loadu_pd(to), v);
      _mm256_storeu_pd(to, v);
    };
    four(_mm256_castsi256_si128(o), y);
    four(_mm256_extracti128_si256(o, 1), y + 4);
  }

  template <bool add, class T>
  static void unpack_offsets(const std::byte* from, IntOf<T> low, unsigned width, const Grid<T>& grid,
                             T* y) noexcept {
    const unsigned whole = width / 8;
    alignas(32) std::byte top[block_values];
    Avx2::store(top, Avx2::load_bit_planes(from + whole * block_values, width % 8));
    const T mu = grid.value(low);
    for (std::size_t j = 0; j < 8; ++j) write<add>(eight(from, top, whole, j), mu, grid, y + 8 * j);
  }
};

}  // namespace

template <>
const KernelSet& KernelSet::with<simd::Avx2>() noexcept {
  return kernel_set<simd::Avx2, Vectorised<Avx2Blocks>>();
}

}  // namespace taut::szx
