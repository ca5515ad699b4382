// The portable kernels of the general path.
#include "compressor/codecs/planes/kernels/general_kernels.hpp"

#include "compressor/codecs/planes/kernels/general_loops.hpp"
#include "compressor/codecs/planes/kernels/wide_block.hpp"

namespace taut::planes {
namespace {

// Quantises for the large range in double arithmetic. Values without an integer become `escaped`; returns
// false if there are any. Adding 0x1.8p52 rounds a double to an integer, adding 0x1.8p23 a float.
template <class T>
bool quantise_large(const T* values, std::size_t groups, const Quantiser<T>& z, std::int32_t* q) noexcept {
  const double scale = 1 / static_cast<double>(z.step), step = z.step, bound = z.bound;
  std::uint64_t failed = 0;
  for (std::size_t i = 0; i < groups * group_values; ++i) {
    const double x = static_cast<double>(values[i]), s = x * scale;
    const double shifted = s + 0x1.8p52, integer = shifted - 0x1.8p52;
    const double error = x - static_cast<double>(static_cast<T>(integer * step));
    std::uint64_t good = all_ones_if((integer < 0x1p22) & (integer >= -0x1p22) & (std::abs(error) <= bound));
    std::uint64_t bits = std::bit_cast<std::uint64_t>(shifted);
    if constexpr (std::is_same_v<T, float>) {  // small integers are quantised as in a small chunk
      const float rounded = values[i] * z.inverse + 0x1.8p23f;
      const std::uint32_t small_q =
          std::bit_cast<std::uint32_t>(rounded) - std::bit_cast<std::uint32_t>(0x1.8p23f);
      const std::uint64_t is_small = all_ones_if(small_q + (1u << small_bits) < 2u << small_bits);
      bits = (bits & ~is_small) | (small_q & is_small);
      good |= is_small;
    }
    failed |= ~good;
    q[i] = static_cast<std::int32_t>((bits & good) | (~good & std::uint64_t{1} << 31));
  }
  return failed == 0;
}

// Operations of general_loops.hpp.
struct Portable : PortableWide {
  template <class T>
  static QuantisedChunk quantise(const T* values, std::size_t groups, const Quantiser<T>& z, std::int32_t* q,
                                 ChunkMask& marks) noexcept {
    const bool all_have_integers = quantise_large(values, groups, z, q);
    mark_escaped<Portable>(q, groups * group_values, marks);
    std::int32_t seen = 0;
    for (std::size_t i = 0; i < groups * group_values; ++i)
      seen |= q[i] == escaped<std::int32_t> ? 0 : q[i] ^ (q[i] >> 31);
    return {all_have_integers, seen >> small_bits == 0};
  }

  // Returns a bit for each of n <= 64 pairs a[i], b[i]: 1 if the two are equal bit for bit.
  template <class T>
  static std::uint64_t equal(const T* a, const T* b, std::size_t n) noexcept {
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < n; ++i) bits |= std::uint64_t{same_bits(a[i], b[i])} << i;
    return bits;
  }

  // Returns the bits of the n <= 64 values that are NaN or whose magnitude is beyond `limit`.
  template <class T>
  static std::uint64_t beyond(const T* x, std::size_t n, ComputedIn<T> limit) noexcept {
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < n; ++i)
      bits |= std::uint64_t{!(std::abs(static_cast<ComputedIn<T>>(x[i])) <= limit)} << i;
    return bits;
  }

  // values[i] <- value, for the bits i in `marks`.
  template <class T>
  static void put(T* values, std::uint64_t marks, T value) noexcept {
    for (; marks != 0; marks &= marks - 1) values[std::countr_zero(marks)] = value;
  }

  template <class Int>
  static void fill(Int* to, std::size_t n, Int value) noexcept {
    std::fill_n(to, n, value);
  }
};

}  // namespace

template <>
const GeneralKernels& general_kernels_with<simd::Scalar>() noexcept {
  static constexpr auto set = general_kernels<Portable>();
  return set;
}

}  // namespace taut::planes
