// Kernels of the general path for AVX-512, with the same extensions as kernel_set.cpp.
#include "codecs/planes/general/general_loops.hpp"
#include "codecs/planes/kernels/avx512/halves.hpp"
#include "codecs/planes/kernels/avx512/wide.hpp"

namespace taut::planes {
namespace {

// ---- Registers of elements of 2, 4 or 8 bytes

template <class T>
inline constexpr std::size_t lanes = 64 / sizeof(T);

template <class T>
__m512i repeated(T value) {
  if constexpr (sizeof(T) == 2) return _mm512_set1_epi16(std::bit_cast<short>(value));
  if constexpr (sizeof(T) == 4) return _mm512_set1_epi32(std::bit_cast<int>(value));
  if constexpr (sizeof(T) == 8) return _mm512_set1_epi64(std::bit_cast<long long>(value));
}

// Loads the first n elements; the others are 0.
template <class T>
__m512i load_first(const T* from, std::size_t n) {
  return _mm512_maskz_loadu_epi8(first_places(std::min<std::size_t>(n * sizeof(T), 64)), from);
}

template <class T>
void store_marked(T* to, std::uint64_t marks, __m512i v) {
  if constexpr (sizeof(T) == 2) _mm512_mask_storeu_epi16(to, static_cast<__mmask32>(marks), v);
  if constexpr (sizeof(T) == 4) _mm512_mask_storeu_epi32(to, static_cast<__mmask16>(marks), v);
  if constexpr (sizeof(T) == 8) _mm512_mask_storeu_epi64(to, static_cast<__mmask8>(marks), v);
}

template <class T>
std::uint64_t equal_lanes(__m512i a, __m512i b) {
  if constexpr (sizeof(T) == 2) return _mm512_cmpeq_epi16_mask(a, b);
  if constexpr (sizeof(T) == 4) return _mm512_cmpeq_epi32_mask(a, b);
  if constexpr (sizeof(T) == 8) return _mm512_cmpeq_epi64_mask(a, b);
}

// Returns true if some magnitude is beyond `limit` or NaN.
bool beyond(__m512i v, float limit, const float*) {
  return _mm512_cmp_ps_mask(_mm512_abs_ps(_mm512_castsi512_ps(v)), _mm512_set1_ps(limit), _CMP_NLE_UQ) != 0;
}
bool beyond(__m512i v, double limit, const double*) {
  return _mm512_cmp_pd_mask(_mm512_abs_pd(_mm512_castsi512_pd(v)), _mm512_set1_pd(limit), _CMP_NLE_UQ) != 0;
}
template <class Half>
bool beyond(__m512i v, float limit, const Half* type) {
  return beyond(_mm512_castps_si512(widened(_mm512_castsi512_si256(v), type)), limit, &limit);
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

struct Avx512 : WideAvx512 {
  // Quantises for the large range. In the small range the margin of the step keeps every value within the
  // bound; beyond it each value is checked. NaN and numbers beyond 32 bits convert to INT_MIN.
  template <class T>
  static Quantised quantise(const T* values, std::size_t groups, const Quantiser<T>& z, std::int32_t* q,
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
        const __m256i high =
            _mm512_cvt_roundpd_epi32(_mm512_mul_pd(eight(values + i + 8), scale), to_nearest);
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

  template <class T>
  static std::uint64_t equal(const T* a, const T* b, std::size_t n) {
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < n; i += lanes<T>)
      bits |= equal_lanes<T>(load_first(a + i, n - i), load_first(b + i, n - i)) << i;
    return bits & first_places(n);
  }

  template <class T>
  static bool below(const T* x, std::size_t n, ComputedIn<T> limit) {
    constexpr std::size_t step = lanes<ComputedIn<T>>;
    for (std::size_t i = 0; i < n; i += step)
      if (beyond(load_first(x + i, std::min(n - i, step)), limit, x)) return false;
    return true;
  }

  template <class T>
  static void put(T* values, std::uint64_t marks, T value) {
    for (std::size_t i = 0; i < 64; i += lanes<T>) store_marked(values + i, marks >> i, repeated(value));
  }

  template <class Int>
  static void fill(Int* to, std::size_t n, Int value) {
    for (std::size_t i = 0; i < n; i += lanes<Int>)
      store_marked(to + i, first_places(std::min(n - i, lanes<Int>)), repeated(value));
  }
};

}  // namespace

const GeneralKernels& avx512_general_kernels() noexcept {
  static constexpr auto set = general_kernels<Avx512>();
  return set;
}

}  // namespace taut::planes
