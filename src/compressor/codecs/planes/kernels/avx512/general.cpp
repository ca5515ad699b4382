// Kernels of the general path for AVX-512, with the same extensions as kernel_set.cpp.
#include "compressor/codecs/planes/kernels/avx512/halves.hpp"
#include "compressor/codecs/planes/kernels/avx512/wide.hpp"
#include "compressor/codecs/planes/kernels/general_loops.hpp"

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
[[gnu::always_inline]] inline __m512i load_first(const T* from, std::size_t n) {
  if (n * sizeof(T) >= 64) return _mm512_loadu_si512(from);
  return _mm512_maskz_loadu_epi8(mask_of_first(n * sizeof(T)), from);
}

template <class T>
void store_marked(T* to, std::uint64_t marks, __m512i v) {
  if constexpr (sizeof(T) == 2) _mm512_mask_storeu_epi16(to, static_cast<__mmask32>(marks), v);
  if constexpr (sizeof(T) == 4) _mm512_mask_storeu_epi32(to, static_cast<__mmask16>(marks), v);
  if constexpr (sizeof(T) == 8) _mm512_mask_storeu_epi64(to, static_cast<__mmask8>(marks), v);
}

// Returns the bits of a mask, by way of a general register: GCC 12 may spill the mask as 4 bytes and load 8,
// of which the upper ones are then not 0.
inline std::uint64_t bits_of(std::uint32_t mask) {
  asm("" : "+r"(mask));
  return mask;
}

template <class T>
std::uint64_t equal_lanes(__m512i a, __m512i b) {
  if constexpr (sizeof(T) == 2) return bits_of(_mm512_cmpeq_epi16_mask(a, b));
  if constexpr (sizeof(T) == 4) return bits_of(_mm512_cmpeq_epi32_mask(a, b));
  if constexpr (sizeof(T) == 8) return bits_of(_mm512_cmpeq_epi64_mask(a, b));
}

// Returns the bits of the lanes that are NaN or whose magnitude is beyond `limit`.
std::uint64_t lanes_beyond(__m512i v, float limit, const float*) {
  return _mm512_cmp_ps_mask(_mm512_abs_ps(_mm512_castsi512_ps(v)), _mm512_set1_ps(limit), _CMP_NLE_UQ);
}
std::uint64_t lanes_beyond(__m512i v, double limit, const double*) {
  return _mm512_cmp_pd_mask(_mm512_abs_pd(_mm512_castsi512_pd(v)), _mm512_set1_pd(limit), _CMP_NLE_UQ);
}
template <class Half>
std::uint64_t lanes_beyond(__m512i v, float limit, const Half* type) {
  return lanes_beyond(_mm512_castps_si512(widened(_mm512_castsi512_si256(v), type)), limit, &limit);
}

// ---- Values to integers

// Rounds sixteen scaled values. NaN and values out of range become INT_MIN.
template <class T>
__m512i to_integers(const T* x, const Quantiser<T>& z) {
  if constexpr (sizeof(T) == 8) {
    return rounded_in_double(x, z.inverse);
  } else {
    return _mm512_cvt_roundps_epi32(_mm512_mul_ps(load_floats(x), _mm512_set1_ps(z.inverse)), to_nearest);
  }
}

// Returns the bits of the integers q with -2^bits <= q < 2^bits.
template <int bits>
std::uint64_t within_bits(__m512i q) {
  return _mm512_cmplt_epu32_mask(_mm512_add_epi32(q, _mm512_set1_epi32(1 << bits)),
                                 _mm512_set1_epi32(2 << bits));
}
template <int bits>
std::uint64_t group_within_bits(const std::int32_t* q) {
  std::uint64_t good = 0;
  for (unsigned i = 0; i < group_values; i += 16) good |= within_bits<bits>(_mm512_loadu_si512(q + i)) << i;
  return good;
}

// Returns the bits of the eight values that decode within the bound.
inline std::uint64_t eight_within_bound(const float* x, __m256i q, const Quantiser<float>& z) {
  const __m512d product = _mm512_mul_pd(_mm512_cvtepi32_pd(q), _mm512_set1_pd(static_cast<double>(z.step)));
  const __m512d back = _mm512_cvtps_pd(_mm512_cvtpd_ps(product));
  return _mm512_cmp_pd_mask(_mm512_abs_pd(_mm512_sub_pd(eight_doubles(x), back)), _mm512_set1_pd(z.bound),
                            _CMP_LE_OQ);
}

// Returns the bits of the values of a group that have an integer, and corrects the integers that are not
// small: those of floats have to be computed in double. In the large range, float and double differ by less
// than 1, so that integers beyond twice the range stay beyond it. Integers of up to unchecked_bits need no
// comparison with the bound. `small`: bits of the small integers.
template <class T>
std::uint64_t coded_in_group(const T* x, std::uint64_t small, const Quantiser<T>& z, std::int32_t* q) {
  if constexpr (!std::is_same_v<T, float>) {
    return group_within_bits<large_bits>(q);
  } else {
    if (group_within_bits<large_bits + 1>(q) == small) return small;
    const double scale = 1 / static_cast<double>(z.step);
    std::uint64_t coded = 0;
    for (unsigned i = 0; i < group_values; i += 16) {
      const __m512i in_float = _mm512_loadu_si512(q + i);
      const auto keep = static_cast<__mmask16>(within_bits<small_bits>(in_float));
      const __m512i both = _mm512_mask_mov_epi32(rounded_in_double(x + i, scale), keep, in_float);
      _mm512_storeu_si512(q + i, both);
      const std::uint64_t sure = within_bits<unchecked_bits<float>>(both);
      coded |= sure << i;
      if (const std::uint64_t left = within_bits<large_bits>(both) & ~sure; left != 0) {
        const std::uint64_t good = eight_within_bound(x + i, _mm512_castsi512_si256(both), z) |
                                   eight_within_bound(x + i + 8, _mm512_extracti64x4_epi64(both, 1), z) << 8;
        coded |= (left & good) << i;
      }
    }
    return coded;
  }
}

struct Avx512General : WideAvx512 {
  // NaN and numbers beyond 32 bits convert to INT_MIN.
  template <class T>
  static GroupMasks quantise_group(const T* x, const Quantiser<T>& z, std::int32_t* q) {
    std::uint64_t small = 0;
    for (unsigned i = 0; i < group_values; i += 16) {
      const __m512i integers = to_integers(x + i, z);
      _mm512_storeu_si512(q + i, integers);
      small |= within_bits<small_bits>(integers) << i;
    }
    if (small == ~std::uint64_t{0}) return {small, 0};
    const std::uint64_t coded = coded_in_group(x, small, z, q);
    return {coded, coded == small ? 0 : coded & ~group_within_bits<small_bits>(q)};
  }
  template <class T>
  static QuantisedChunk quantise(const T* values, std::size_t groups, const Quantiser<T>& z, std::int32_t* q,
                                 ChunkMask& marks) noexcept {
    return quantise_groups<Avx512General>(values, groups, z, q, marks);
  }

  static constexpr std::size_t halves_per_call = 32;

  template <class Half>
  static void add_halves(Half* values, const Half* operand) {
    const __m512 low = sixteen_sums(load_floats(values), load_floats(operand));
    store_halves(low, sixteen_sums(load_floats(values + 16), load_floats(operand + 16)), values);
  }

  // See general_loops.hpp. Values without an integer stay.
  template <class Half>
  static void decoded_halves(const Half* x, const Quantiser<Half>& z, Half* to) {
    const __m512 shift = _mm512_set1_ps(0x1.8p23f);
    std::uint64_t exact = 0;
    __m512 decoded[2];
    for (unsigned i = 0; i < 2; ++i) {
      const __m512 scaled = _mm512_mul_ps(load_floats(x + 16 * i), _mm512_set1_ps(z.inverse));
      const __m512 integer = _mm512_sub_ps(_mm512_add_ps(scaled, shift), shift);
      const std::uint64_t too_high = _mm512_cmp_ps_mask(integer, _mm512_set1_ps(0x1p22f), _CMP_NLT_UQ);
      const std::uint64_t too_low = _mm512_cmp_ps_mask(integer, _mm512_set1_ps(-0x1p22f), _CMP_NGE_UQ);
      exact |= (too_high | too_low) << 16 * i;
      decoded[i] = _mm512_mul_ps(integer, _mm512_set1_ps(z.step));
    }
    store_halves(decoded[0], decoded[1], to);
    store_marked(to, exact, _mm512_loadu_si512(x));
  }

  template <class T>
  [[gnu::always_inline]] static std::uint64_t equal(const T* a, const T* b, std::size_t n) {
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < n; i += lanes<T>)
      bits |= equal_lanes<T>(load_first(a + i, n - i), load_first(b + i, n - i)) << i;
    return bits & mask_of_first(n);
  }

  template <class T>
  [[gnu::always_inline]] static std::uint64_t beyond(const T* x, std::size_t n, ComputedIn<T> limit) {
    constexpr std::size_t step = lanes<ComputedIn<T>>;
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < n; i += step)
      bits |= lanes_beyond(load_first(x + i, std::min(n - i, step)), limit, x) << i;
    return bits;
  }

  template <class T>
  static void put(T* values, std::uint64_t marks, T value) {
    for (std::size_t i = 0; i < 64; i += lanes<T>) store_marked(values + i, marks >> i, repeated(value));
  }

  template <class Int>
  static void fill(Int* to, std::size_t n, Int value) {
    for (std::size_t i = 0; i < n; i += lanes<Int>)
      store_marked(to + i, mask_of_first(std::min(n - i, lanes<Int>)), repeated(value));
  }
};

}  // namespace

template <>
const GeneralKernels& general_kernels_with<simd::Avx512>() noexcept {
  static constexpr auto set = general_kernels<Avx512General>();
  return set;
}

}  // namespace taut::planes
