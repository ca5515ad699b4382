// AVX-512: bit planes of 64-bit integers; a block of eight integers is one register. Included by general.cpp
// only.
#pragma once

#include "compressor/codecs/planes/kernels/avx512/group.hpp"
#include "compressor/codecs/planes/kernels/general_kernels.hpp"

namespace taut::planes {
namespace {

// Returns a mask of the first n lanes.
inline std::uint64_t mask_of_first(std::size_t n) {
  return _bzhi_u64(~std::uint64_t{0}, static_cast<unsigned>(n));
}

// Byte permutations of a block. to_rows() gathers the top bytes of the eight integers, then the next lower
// ones, each row with the integers in reverse order; from_rows() is its inverse; identity() keeps all bytes.
inline __m512i to_rows() {
  return Avx512::bytes_by([](unsigned i) { return (7 - i % 8) * 8 + (7 - i / 8); });
}
inline __m512i from_rows() {
  return Avx512::bytes_by([](unsigned i) { return (7 - i % 8) * 8 + i / 8; });
}
inline __m512i identity() {
  return Avx512::bytes_by([](unsigned i) { return i; });
}

// Writes the planes of blocks one after another, and the width of each block.
class WideWriter {
 public:
  WideWriter(std::byte* out, Widths& widths) : out_(out), at_(out), width_(widths.width) {}

  void next(__m512i d) {
    const __m512i planes = to_planes(_mm512_permutexvar_epi8(to_rows_, d));
    // The first planes are left out as long as they equal the next lower one, since they repeat the sign. The
    // plane below the last one counts as zero.
    const __m512i below = _mm512_maskz_permutexvar_epi8(~std::uint64_t{0} >> 1, next_byte_, planes);
    const auto left_out = static_cast<unsigned>(_tzcnt_u64(_mm512_cmpneq_epi8_mask(planes, below)));
    const __m512i from = _mm512_add_epi8(identity_, _mm512_set1_epi8(static_cast<char>(left_out)));
    _mm512_storeu_si512(at_, _mm512_permutexvar_epi8(from, planes));
    *width_++ = static_cast<std::uint8_t>(64 - left_out);
    at_ += 64 - left_out;
  }
  std::size_t bytes() const { return static_cast<std::size_t>(at_ - out_); }

 private:
  std::byte *out_, *at_;
  std::uint8_t* width_;
  __m512i to_rows_ = to_rows(), identity_ = identity(),
          next_byte_ = _mm512_add_epi8(identity_, _mm512_set1_epi8(1));
};

// Reads what WideWriter writes.
class WideReader {
 public:
  WideReader() = default;
  explicit WideReader(const WidePlanes& in) : at_(in.bytes.data()), width_(in.widths->width) {}

  __m512i next() {
    const unsigned width = *width_++;
    // The `width` bytes become the last planes of the register; the planes before them are 0.
    const __m512i packed = _mm512_maskz_loadu_epi8(mask_of_first(width), at_);
    at_ += width;
    const __m512i from = _mm512_add_epi8(identity(), _mm512_set1_epi8(static_cast<char>(width)));
    const __m512i planes = _mm512_maskz_permutexvar_epi8(~mask_of_first(64 - width), from, packed);
    const __m512i u = _mm512_permutexvar_epi8(from_rows(), to_values(planes));
    // (u ^ sign) - sign extends the sign.
    const std::uint64_t top = width == 0 ? 0 : std::uint64_t{1} << (width - 1);
    const __m512i sign = _mm512_set1_epi64(static_cast<long long>(top));
    return _mm512_sub_epi64(_mm512_xor_si512(u, sign), sign);
  }

 private:
  const std::byte* at_ = nullptr;
  const std::uint8_t* width_ = nullptr;
};

// Operations of general_loops.hpp on 64-bit integers, as PortableWide in wide_block.hpp.
struct WideAvx512 {
  using Wide = __m512i;
  using WideWriter = planes::WideWriter;
  using WideReader = planes::WideReader;

  static Wide load(const std::int64_t* from) { return _mm512_loadu_si512(from); }
  static void store(std::int64_t* to, Wide v) { _mm512_storeu_si512(to, v); }
  static Wide add(Wide a, Wide b) { return _mm512_add_epi64(a, b); }
  static Wide subtract(Wide a, Wide b) { return _mm512_sub_epi64(a, b); }
  static Wide splat(std::int64_t value) { return _mm512_set1_epi64(value); }

  template <std::size_t back>
  static Wide lagged(Wide v, Wide before) {
    return _mm512_alignr_epi64(v, before, 8 - back);
  }

  template <Predictor P>
  static Wide prefix_sum(Wide v) {
    const Wide zero = _mm512_setzero_si512();
    if constexpr (P != Predictor::pairs) v = add(v, lagged<1>(v, zero));
    v = add(v, lagged<2>(v, zero));
    return add(v, lagged<4>(v, zero));
  }

  template <Predictor P>
  static Wide broadcast_last(Wide v) {
    return _mm512_permutexvar_epi64(
        P == Predictor::pairs ? _mm512_set_epi64(7, 6, 7, 6, 7, 6, 7, 6) : _mm512_set1_epi64(7), v);
  }
};

}  // namespace
}  // namespace taut::planes
