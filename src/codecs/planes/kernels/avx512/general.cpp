// Kernels of the general path for AVX-512, with the same extensions as kernel_set.cpp.
#include "codecs/planes/general/general_loops.hpp"
#include "codecs/planes/kernels/avx512/halves.hpp"
#include "codecs/planes/kernels/avx512/wide.hpp"

namespace taut::planes {
namespace {

// ---- Marks

// Calls `word` for each 64 values, with the first value and the mask of the values that exist.
template <class Word>
void mark(std::size_t n, Marks& marks, Word word) noexcept {
  for (std::size_t first = 0; first < chunk_values; first += 64) {
    const std::size_t left = n > first ? n - first : 0;
    marks.of[first / 64] = left == 0 ? 0 : word(first, first_places(left < 64 ? left : 64));
  }
}

// Compares 64 elements of four or eight bytes for equality, where `mask` says that they exist.
std::uint64_t equal(const std::int32_t* a, const std::int32_t* b, std::uint64_t mask) {
  std::uint64_t bits = 0;
  for (unsigned r = 0; r < 4; ++r) {
    const auto here = static_cast<__mmask16>(mask >> (16 * r));
    const __m512i x = _mm512_maskz_loadu_epi32(here, a + 16 * r),
                  y = _mm512_maskz_loadu_epi32(here, b + 16 * r);
    bits |= std::uint64_t{_mm512_mask_cmpeq_epi32_mask(here, x, y)} << (16 * r);
  }
  return bits;
}
std::uint64_t equal(const std::int64_t* a, const std::int64_t* b, std::uint64_t mask) {
  std::uint64_t bits = 0;
  for (unsigned r = 0; r < 8; ++r) {
    const auto here = static_cast<__mmask8>(mask >> (8 * r));
    const __m512i x = _mm512_maskz_loadu_epi64(here, a + 8 * r),
                  y = _mm512_maskz_loadu_epi64(here, b + 8 * r);
    bits |= std::uint64_t{_mm512_mask_cmpeq_epi64_mask(here, x, y)} << (8 * r);
  }
  return bits;
}

std::uint64_t equal(const std::int16_t* a, const std::int16_t* b, std::uint64_t mask) {
  std::uint64_t bits = 0;
  for (unsigned r = 0; r < 2; ++r) {
    const auto here = static_cast<__mmask32>(mask >> (32 * r));
    const __m512i x = _mm512_maskz_loadu_epi16(here, a + 32 * r),
                  y = _mm512_maskz_loadu_epi16(here, b + 32 * r);
    bits |= std::uint64_t{_mm512_mask_cmpeq_epi16_mask(here, x, y)} << (32 * r);
  }
  return bits;
}

void mark_escaped(const std::int64_t* q, std::size_t n, Marks& marks) noexcept {
  alignas(64) std::int64_t wanted[64];
  std::fill_n(wanted, 64, escaped<std::int64_t>);
  mark(n, marks, [&](std::size_t first, std::uint64_t mask) { return equal(q + first, wanted, mask); });
}

template <class T>
void mark_repeats(const T* values, std::size_t n, Marks& marks) noexcept {
  using Int = std::make_signed_t<BitsOf<T>>;
  const Int* const bits = reinterpret_cast<const Int*>(values);
  mark(n, marks, [=](std::size_t first, std::uint64_t mask) {
    // The very first value has no value before it.
    return equal(bits + first, bits + first - 1, first == 0 ? mask & ~std::uint64_t{1} : mask);
  });
}

void put(float* values, std::size_t n, const Marks& marks, float value) noexcept {
  const __m512 x = _mm512_set1_ps(value);
  for (std::size_t i = 0; i < n; i += 16)
    _mm512_mask_storeu_ps(values + i, static_cast<__mmask16>(marks.of[i / 64] >> (i % 64)), x);
}
void put(double* values, std::size_t n, const Marks& marks, double value) noexcept {
  const __m512d x = _mm512_set1_pd(value);
  for (std::size_t i = 0; i < n; i += 8)
    _mm512_mask_storeu_pd(values + i, static_cast<__mmask8>(marks.of[i / 64] >> (i % 64)), x);
}

template <class Half>
void put(Half* values, std::size_t n, const Marks& marks, Half value) noexcept {
  const __m512i x = _mm512_set1_epi16(static_cast<short>(value.bits));
  for (std::size_t i = 0; i < n; i += 32)
    _mm512_mask_storeu_epi16(values + i, static_cast<__mmask32>(marks.of[i / 64] >> (i % 64)), x);
}

void fill(std::int32_t* to, std::size_t n, std::int32_t value) {
  const __m512i x = _mm512_set1_epi32(value);
  for (std::size_t i = 0; i < n; i += 16)
    _mm512_mask_storeu_epi32(to + i, static_cast<__mmask16>(first_places(std::min<std::size_t>(n - i, 16))),
                             x);
}
void fill(std::int64_t* to, std::size_t n, std::int64_t value) {
  const __m512i x = _mm512_set1_epi64(value);
  for (std::size_t i = 0; i < n; i += 8)
    _mm512_mask_storeu_epi64(to + i, static_cast<__mmask8>(first_places(std::min<std::size_t>(n - i, 8))), x);
}

template <class T, class Int>
std::size_t take_runs(const T* values, std::size_t n, const Marks& marks, std::size_t most, Int* q,
                      std::byte* out) noexcept {
  Marks repeats;
  mark_repeats(values, n, repeats);
  return take_runs(values, marks, repeats, most, q, out,
                   [](Int* to, std::size_t length, Int hold) { fill(to, length, hold); });
}

// ---- Values to integers

inline __m512d eight(const double* x) { return _mm512_loadu_pd(x); }
inline __m512d eight(const float* x) { return _mm512_cvtps_pd(_mm256_loadu_ps(x)); }
template <class Half>
__m512d eight(const Half* x) {
  const __m128i bits = _mm_loadu_si128(reinterpret_cast<const __m128i*>(x));
  return _mm512_cvtps_pd(_mm512_castps512_ps256(widened(_mm256_castsi128_si256(bits), x)));
}

// Returns the mask of the values, out of 64, that decode within the bound. Multiples for halves need no
// rounding.
template <class T>
std::uint64_t within_bound(const T* values, const std::int32_t* q, const Quantiser<T>& z) {
  const __m512d step = _mm512_set1_pd(static_cast<double>(z.step)), bound = _mm512_set1_pd(z.bound);
  std::uint64_t good = 0;
  for (unsigned i = 0; i < group_values; i += 8) {
    const __m256i integers = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(q + i));
    __m512d back = _mm512_mul_pd(_mm512_cvtepi32_pd(integers), step);
    if constexpr (std::is_same_v<T, float>) back = _mm512_cvtps_pd(_mm512_cvtpd_ps(back));
    const __m512d error = _mm512_abs_pd(_mm512_sub_pd(eight(values + i), back));
    good |= std::uint64_t{_mm512_cmp_pd_mask(error, bound, _CMP_LE_OQ)} << i;
  }
  return good;
}

// Quantises for the large range. In the small range the margin of the step keeps every value within the
// bound; beyond it each value is checked. NaN and numbers beyond 32 bits convert to INT_MIN.
template <class T>
Quantised quantise(const T* values, std::size_t groups, const Quantiser<T>& z, std::int32_t* q,
                   Marks& marks) noexcept {
  const __m512d scale = _mm512_set1_pd(1 / static_cast<double>(z.step));
  const __m512i half = _mm512_set1_epi32(1 << large_bits), range = _mm512_set1_epi32(2 << large_bits);
  const __m512i beyond = _mm512_set1_epi32(static_cast<int>(~0u << small_bits));
  std::uint64_t any = 0, any_large = 0;
  for (std::size_t g = 0; g < groups; ++g) {
    std::uint64_t good = 0, is_large = 0;
    for (unsigned r = 0; r < 4; ++r) {
      const std::size_t i = g * group_values + 16 * r;
      const __m256i low = _mm512_cvt_roundpd_epi32(_mm512_mul_pd(eight(values + i), scale), to_nearest);
      const __m256i high = _mm512_cvt_roundpd_epi32(_mm512_mul_pd(eight(values + i + 8), scale), to_nearest);
      __m512i both = _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
      if constexpr (std::is_same_v<T, float>) {  // small integers are quantised as in a small chunk
        const __m512 s = _mm512_mul_ps(_mm512_loadu_ps(values + i), _mm512_set1_ps(z.inverse));
        const __m512i q_small = _mm512_cvt_roundps_epi32(s, to_nearest);
        const __mmask16 is_small =
            _mm512_cmplt_epu32_mask(_mm512_add_epi32(q_small, _mm512_set1_epi32(1 << small_bits)),
                                    _mm512_set1_epi32(2 << small_bits));
        both = _mm512_mask_mov_epi32(both, is_small, q_small);
      }
      const __mmask16 in_range = _mm512_cmplt_epu32_mask(_mm512_add_epi32(both, half), range);
      const __m512i magnitude = _mm512_xor_si512(both, _mm512_srai_epi32(both, 31));
      good |= std::uint64_t{in_range} << (16 * r);
      is_large |= std::uint64_t{_mm512_mask_test_epi32_mask(in_range, magnitude, beyond)} << (16 * r);
      _mm512_storeu_si512(q + i, both);
    }
    if (is_large != 0) {
      good &= within_bound(values + g * group_values, q + g * group_values, z);
      any_large |= is_large & good;
    }
    marks.of[g] = ~good;
    any |= ~good;
  }
  std::fill(marks.of + groups, std::end(marks.of), 0);
  return {any == 0, any_large == 0};
}

std::uint64_t beyond(const float* x, float limit, std::uint64_t here) {
  std::uint64_t bits = 0;
  for (unsigned r = 0; r < 4; ++r) {
    const __m512 v =
        _mm512_abs_ps(_mm512_maskz_loadu_ps(static_cast<__mmask16>(here >> (16 * r)), x + 16 * r));
    bits |= _mm512_cmp_ps_mask(v, _mm512_set1_ps(limit), _CMP_NLE_UQ);
  }
  return bits;
}
std::uint64_t beyond(const double* x, double limit, std::uint64_t here) {
  std::uint64_t bits = 0;
  for (unsigned r = 0; r < 8; ++r) {
    const __m512d v = _mm512_abs_pd(_mm512_maskz_loadu_pd(static_cast<__mmask8>(here >> (8 * r)), x + 8 * r));
    bits |= _mm512_cmp_pd_mask(v, _mm512_set1_pd(limit), _CMP_NLE_UQ);
  }
  return bits;
}

template <class Half>
std::uint64_t beyond(const Half* x, float limit, std::uint64_t here) {
  std::uint64_t bits = 0;
  for (unsigned r = 0; r < 4; ++r) {
    const __m256i part = _mm256_maskz_loadu_epi16(static_cast<__mmask16>(here >> (16 * r)), x + 16 * r);
    bits |= _mm512_cmp_ps_mask(_mm512_abs_ps(widened(part, x)), _mm512_set1_ps(limit), _CMP_NLE_UQ);
  }
  return bits;
}

template <class T>
bool all_below(const T* values, std::size_t n, ComputedIn<T> limit) noexcept {
  for (std::size_t i = 0; i < n; i += 64)
    if (beyond(values + i, limit, first_places(std::min<std::size_t>(n - i, 64))) != 0) return false;
  return true;
}

template <class T>
constexpr GeneralValueKernels<T> value_kernels{quantise<T>,
                                               quantise_wide<T>,
                                               dequantise_wide<T>,
                                               all_below<T>,
                                               take_runs<T, std::int32_t>,
                                               take_runs<T, std::int64_t>,
                                               put,
                                               add_strip<T>,
                                               round_strip<T>};

}  // namespace

const GeneralKernels& avx512_general_kernels() noexcept {
  static constexpr GeneralKernels set{
      {value_kernels<float>, value_kernels<double>, value_kernels<f16>, value_kernels<bf16>},
      mark_repeats<std::int32_t>,
      mark_repeats<std::int64_t>,
      mark_escaped,
      multiply,
      pack,
      unpack_add,
      sum};
  return set;
}

}  // namespace taut::planes
