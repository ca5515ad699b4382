// Kernels of the general path for AVX2.
#include "compressor/codecs/planes/kernels/avx2/values.hpp"
#include "compressor/codecs/planes/kernels/general_loops.hpp"
#include "compressor/codecs/planes/kernels/wide_block.hpp"

namespace taut::planes {
namespace {

template <class T>
__m256i load(const T* from) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
}
template <class T>
__m128i half_load(const T* from) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
}

template <class T>
void store_half(T* to, __m128i v) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), v);
}

// Returns the sign bits of eight 32-bit or four 64-bit lanes.
inline std::uint64_t signs(__m256 v) { return static_cast<std::uint64_t>(_mm256_movemask_ps(v)); }
inline std::uint64_t signs(__m256d v) { return static_cast<std::uint64_t>(_mm256_movemask_pd(v)); }

// ---- Comparison of 64 values

// Returns a bit for each of eight pairs a[i], b[i]: 1 if the two are equal bit for bit.
template <class T>
std::uint64_t equal_eight(const T* a, const T* b) {
  if constexpr (sizeof(T) == 8) {
    const __m256i low = _mm256_cmpeq_epi64(load(a), load(b)),
                  high = _mm256_cmpeq_epi64(load(a + 4), load(b + 4));
    return signs(_mm256_castsi256_pd(low)) | signs(_mm256_castsi256_pd(high)) << 4;
  } else if constexpr (sizeof(T) == 4) {
    return signs(_mm256_castsi256_ps(_mm256_cmpeq_epi32(load(a), load(b))));
  } else {
    const __m128i same = _mm_cmpeq_epi16(half_load(a), half_load(b));
    return static_cast<std::uint64_t>(_mm_movemask_epi8(_mm_packs_epi16(same, _mm_setzero_si128())));
  }
}

// Returns the bits of eight values that are NaN or whose magnitude is beyond `limit`.
template <class T>
std::uint64_t eight_beyond(const T* x, float limit) {
  const __m256 magnitude = _mm256_andnot_ps(_mm256_set1_ps(-0.0F), load_floats(x));
  return signs(_mm256_cmp_ps(magnitude, _mm256_set1_ps(limit), _CMP_NLE_UQ));
}
inline std::uint64_t eight_beyond(const double* x, double limit) {
  const auto beyond = [=](const double* at) {
    const __m256d magnitude = _mm256_andnot_pd(_mm256_set1_pd(-0.0), _mm256_loadu_pd(at));
    return signs(_mm256_cmp_pd(magnitude, _mm256_set1_pd(limit), _CMP_NLE_UQ));
  };
  return beyond(x) | beyond(x + 4) << 4;
}

// Returns a bit for each of n <= 64 values: eight bits from take(i) for the values from i on, for the last
// values, fewer than eight, one(i) each.
template <class Eight, class One>
std::uint64_t bits_of(std::size_t n, Eight take, One one) {
  std::uint64_t bits = 0;
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8) bits |= take(i) << i;
  for (; i < n; ++i) bits |= std::uint64_t{one(i)} << i;
  return bits;
}

// ---- Values to integers

// Returns the bits of the integers q with -2^bits <= q < 2^bits.
template <int bits>
std::uint64_t within_bits(__m256i q) {
  return signs(_mm256_castsi256_ps(lanes_within<bits>(q)));
}

template <int bits>
std::uint64_t group_within_bits(const std::int32_t* q) {
  std::uint64_t good = 0;
  for (std::size_t i = 0; i < group_values; i += 8) good |= within_bits<bits>(load(q + i)) << i;
  return good;
}

// Returns the bits of four values that decode within the bound.
inline std::uint64_t four_within_bound(const float* x, __m128i q, const Quantiser<float>& z) {
  const __m256d product = _mm256_mul_pd(_mm256_cvtepi32_pd(q), _mm256_set1_pd(static_cast<double>(z.step)));
  const __m256d back = _mm256_cvtps_pd(_mm256_cvtpd_ps(product));
  const __m256d error = _mm256_andnot_pd(_mm256_set1_pd(-0.0), _mm256_sub_pd(load_doubles(x), back));
  return signs(_mm256_cmp_pd(error, _mm256_set1_pd(z.bound), _CMP_LE_OQ));
}
inline std::uint64_t eight_within_bound(const float* x, __m256i q, const Quantiser<float>& z) {
  return four_within_bound(x, _mm256_castsi256_si128(q), z) |
         four_within_bound(x + 4, _mm256_extracti128_si256(q, 1), z) << 4;
}

// Returns the bits of the values of a group that have an integer, and corrects the integers that are not
// small: those of floats have to be computed in double. In the range of `large`, float and double differ by
// less than 1, so that integers beyond twice the range stay beyond it.
template <class T>
std::uint64_t coded_in_group(const T* x, const Quantiser<T>& z, std::int32_t* q) {
  if constexpr (!std::is_same_v<T, float>) {
    return group_within_bits<large_bits>(q);
  } else {
    if (group_within_bits<large_bits + 1>(q) == group_within_bits<small_bits>(q))
      return group_within_bits<small_bits>(q);
    const double scale = 1 / static_cast<double>(z.step);
    std::uint64_t coded = 0;
    for (std::size_t i = 0; i < group_values; i += 8) {
      const __m256i in_float = load(q + i), small = lanes_within<small_bits>(in_float);
      const __m256i integers = _mm256_blendv_epi8(rounded_in_double(x + i, scale), in_float, small);
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(q + i), integers);
      const std::uint64_t sure = within_bits<unchecked_bits<float>>(integers);
      coded |= sure << i;
      if (const std::uint64_t left = within_bits<large_bits>(integers) & ~sure; left != 0)
        coded |= (left & eight_within_bound(x + i, integers, z)) << i;
    }
    return coded;
  }
}

struct Avx2 : PortableWide {
  // NaN and numbers beyond 32 bits convert to INT_MIN.
  template <class T>
  static GroupMasks quantise_group(const T* x, const Quantiser<T>& z, std::int32_t* q) {
    std::uint64_t small = 0;
    for (std::size_t i = 0; i < group_values; i += 8) {
      const __m256i integers = rounded_to_ints(x + i, z.inverse);
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(q + i), integers);
      small |= within_bits<small_bits>(integers) << i;
    }
    if (small == ~std::uint64_t{0}) return {small, 0};
    const std::uint64_t coded = coded_in_group(x, z, q);
    return {coded, coded & ~group_within_bits<small_bits>(q)};
  }
  template <class T>
  static QuantisedChunk quantise(const T* values, std::size_t groups, const Quantiser<T>& z, std::int32_t* q,
                                 ChunkMask& marks) noexcept {
    return quantise_groups<Avx2>(values, groups, z, q, marks);
  }

  static constexpr std::size_t halves_per_call = 8;

  template <class Half>
  static void add_halves(Half* values, const Half* operand) {
    store_half(values, narrowed(eight_sums(load_floats(values), load_floats(operand)), values));
  }

  template <class Half>
  static void decoded_halves(const Half* x, const Quantiser<Half>& z, Half* to) {
    const __m256 shift = _mm256_set1_ps(0x1.8p23f);
    const __m256 scaled = _mm256_mul_ps(load_floats(x), _mm256_set1_ps(z.inverse));
    const __m256 integer = _mm256_sub_ps(_mm256_add_ps(scaled, shift), shift);
    const __m256i good =
        _mm256_castps_si256(_mm256_and_ps(_mm256_cmp_ps(integer, _mm256_set1_ps(0x1p22f), _CMP_LT_OQ),
                                          _mm256_cmp_ps(integer, _mm256_set1_ps(-0x1p22f), _CMP_GE_OQ)));
    const __m128i coded = _mm_packs_epi32(_mm256_castsi256_si128(good), _mm256_extracti128_si256(good, 1));
    const __m128i decoded = narrowed(_mm256_mul_ps(integer, _mm256_set1_ps(z.step)), to);
    store_half(to, _mm_blendv_epi8(half_load(x), decoded, coded));
  }

  template <class T>
  static std::uint64_t equal(const T* a, const T* b, std::size_t n) {
    return bits_of(
        n, [=](std::size_t i) { return equal_eight(a + i, b + i); },
        [=](std::size_t i) { return same_bits(a[i], b[i]); });
  }

  template <class T>
  static std::uint64_t beyond(const T* x, std::size_t n, ComputedIn<T> limit) {
    return bits_of(
        n, [=](std::size_t i) { return eight_beyond(x + i, limit); },
        [=](std::size_t i) { return !(std::abs(static_cast<ComputedIn<T>>(x[i])) <= limit); });
  }

  template <class T>
  static void put(T* values, std::uint64_t marks, T value) {
    if (marks == ~std::uint64_t{0}) {
      taut::fill(values, 64, value);
      return;
    }
    for (; marks != 0; marks &= marks - 1) values[std::countr_zero(marks)] = value;
  }

  template <class Int>
  static void fill(Int* to, std::size_t n, Int value) {
    std::fill_n(to, n, value);
  }
};

}  // namespace

template <>
const GeneralKernels& general_kernels_with<simd::Avx2>() noexcept {
  static constexpr auto set = general_kernels<Avx2>();
  return set;
}

}  // namespace taut::planes
