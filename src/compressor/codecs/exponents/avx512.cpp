// AVX-512 kernels with VBMI and VBMI2.
#include <immintrin.h>

#include "compressor/codecs/exponents/loops.hpp"

namespace taut::exponents {
namespace {

// Returns a cleared register. On Zen 4 and Zen 5, byte compression and expansion depend on the old value of
// their target even when they zero it.
inline __m512i fresh_zero() noexcept {
  __m512i zero;
  asm("vpxord %0, %0, %0" : "=v"(zero));
  return zero;
}

struct Avx512 {
  using Bytes = __m512i;

  static Bytes load(const void* from) noexcept { return _mm512_loadu_si512(from); }
  static void store(void* to, Bytes v) noexcept { _mm512_storeu_si512(to, v); }
  static Bytes all(std::uint8_t byte) noexcept { return _mm512_set1_epi8(static_cast<char>(byte)); }
  static Bytes either(Bytes a, Bytes b) noexcept { return _mm512_or_si512(a, b); }
  static Bytes up(Bytes v, unsigned n) noexcept {
    return _mm512_and_si512(_mm512_slli_epi16(v, n), all(static_cast<std::uint8_t>(0xFF << n)));
  }
  static Bytes down(Bytes v, unsigned n) noexcept {
    return _mm512_and_si512(_mm512_srli_epi16(v, n), all(static_cast<std::uint8_t>(0xFF >> n)));
  }

  static Bytes matrix(std::uint64_t rows) noexcept { return _mm512_set1_epi64(static_cast<long long>(rows)); }

  template <class Of>
  static Bytes indices(Of) noexcept {
    alignas(64) static constexpr auto table = [] {
      std::array<std::uint8_t, 64> bytes{};
      for (unsigned i = 0; i < 64; ++i) bytes[i] = static_cast<std::uint8_t>(Of{}(i));
      return bytes;
    }();
    return _mm512_load_si512(table.data());
  }

  // Byte i of two registers is number i, below 128.
  static void halves(const std::byte* values, Bytes& high, Bytes& low) noexcept {
    const Bytes first = load(values), second = load(values + 64);
    const Bytes a = _mm512_shldi_epi16(first, first, 1), b = _mm512_shldi_epi16(second, second, 1);
    low = _mm512_permutex2var_epi8(a, indices([](unsigned i) { return 2 * i; }), b);
    high = _mm512_permutex2var_epi8(a, indices([](unsigned i) { return 2 * i + 1; }), b);
  }
  static void merged(Bytes high, Bytes low, std::byte* values) noexcept {
    const auto of_first = [](unsigned i) { return i / 2 + i % 2 * 64; };
    const auto of_second = [](unsigned i) { return 32 + i / 2 + i % 2 * 64; };
    const Bytes a = _mm512_permutex2var_epi8(low, indices(of_first), high),
                b = _mm512_permutex2var_epi8(low, indices(of_second), high);
    store(values, _mm512_shrdi_epi16(a, a, 1));
    store(values + 64, _mm512_shrdi_epi16(b, b, 1));
  }

  // Bytes of a plane are lanes of eight values: each 64-bit lane is a matrix of bits, transposed by
  // gf2p8affine. Its first byte counts as the last row, so bytes, or the bits in them, come out reversed.
  template <unsigned n>
  static std::uint64_t planes(Bytes v, std::byte* to) noexcept {
    const Bytes reversed = _mm512_gf2p8affine_epi64_epi8(matrix(0x8040201008040201), v, 0);
    const Bytes gathered =
        _mm512_permutexvar_epi8(indices([](unsigned i) { return i % 8 * 8 + i / 8; }), reversed);
    const Bytes planes = _mm512_gf2p8affine_epi64_epi8(gathered, matrix(0x8040201008040201), 0);
    _mm512_mask_storeu_epi64(to, (1u << n) - 1, planes);
    return _mm512_cmpeq_epi8_mask(either(v, all(static_cast<std::uint8_t>(0xFF << n))), all(0xFF));
  }
  template <unsigned n>
  static Bytes of_planes(const std::byte* from) noexcept {
    const auto rows = [](unsigned i) { return (7 - i % 8) * 8 + i / 8; };
    const Bytes planes =
        _mm512_permutexvar_epi8(indices(rows), _mm512_maskz_loadu_epi64((1u << n) - 1, from));
    return _mm512_gf2p8affine_epi64_epi8(matrix(0x8040201008040201), planes, 0);
  }
  static std::uint64_t zeros(Bytes v) noexcept { return _mm512_testn_epi8_mask(v, v); }

  static std::byte* keep(std::byte* out, Bytes v, std::uint64_t map) noexcept {
    store(out, _mm512_mask_compress_epi8(fresh_zero(), map, v));
    return out + _mm_popcnt_u64(map);
  }
  static Bytes restore(const std::byte* in, std::uint64_t map) noexcept {
    Bytes packed = load(in);
    asm("" : "+v"(packed));  // keeps the load separate: expansion from memory is microcoded on Zen
    return _mm512_mask_expand_epi8(fresh_zero(), map, packed);
  }

  class Codes {
   public:
    explicit Codes(const Book& book) noexcept
        : of_{load(book.code), load(book.code + 64), load(book.code + 128), load(book.code + 192)} {}
    Bytes operator()(Bytes symbols) const noexcept {
      const Bytes lower = _mm512_permutex2var_epi8(of_[0], symbols, of_[1]);
      const __mmask64 above = _mm512_movepi8_mask(symbols);
      if (above == 0) [[likely]]
        return lower;  // most values are below 2
      return _mm512_mask_mov_epi8(lower, above, _mm512_permutex2var_epi8(of_[2], symbols, of_[3]));
    }

   private:
    Bytes of_[4];
  };

  class Symbols {
   public:
    explicit Symbols(const Book& book) noexcept
        : of_(_mm512_broadcast_i32x4(_mm_load_si128(reinterpret_cast<const __m128i*>(book.symbol)))) {}
    Bytes operator()(Bytes codes) const noexcept { return _mm512_shuffle_epi8(of_, codes); }

   private:
    Bytes of_;
  };
};

}  // namespace

const KernelSet& KernelSet::avx512() noexcept {
  static constexpr auto set = kernel_set<Avx512>("avx512", has_avx512);
  return set;
}

}  // namespace taut::exponents
