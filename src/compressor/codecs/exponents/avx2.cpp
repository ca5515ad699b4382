// AVX2 kernels; 64 bytes are two registers.
#include "compressor/codecs/exponents/loops.hpp"
#include "compressor/simd/avx2_bitmaps.hpp"

namespace taut::exponents {
namespace {

using Register = __m256i;

inline Register byte_of(unsigned byte) noexcept { return _mm256_set1_epi8(static_cast<char>(byte)); }

inline std::uint64_t joined(int lo, int hi) noexcept {
  return std::uint64_t{static_cast<std::uint32_t>(hi)} << 32 | static_cast<std::uint32_t>(lo);
}

inline Register in_all_lanes(const std::uint8_t* sixteen) noexcept {
  return _mm256_broadcastsi128_si256(_mm_load_si128(reinterpret_cast<const __m128i*>(sixteen)));
}

struct Avx2 : PlaneByPlane<Avx2> {
  struct Bytes {
    Register lo, hi;
  };

  template <class Of>
  static Bytes each(const Of& of, const Bytes& v) noexcept {
    return {of(v.lo), of(v.hi)};
  }

  static Bytes load(const std::byte* from) noexcept {
    const auto* at = reinterpret_cast<const Register*>(from);
    return {_mm256_loadu_si256(at), _mm256_loadu_si256(at + 1)};
  }
  static void store(std::byte* to, const Bytes& v) noexcept {
    auto* at = reinterpret_cast<Register*>(to);
    _mm256_storeu_si256(at, v.lo);
    _mm256_storeu_si256(at + 1, v.hi);
  }
  static Bytes all(std::uint8_t byte) noexcept { return {byte_of(byte), byte_of(byte)}; }
  static Bytes either(const Bytes& a, const Bytes& b) noexcept {
    return {_mm256_or_si256(a.lo, b.lo), _mm256_or_si256(a.hi, b.hi)};
  }
  static Bytes up(const Bytes& v, unsigned n) noexcept {
    const auto shifted = [n](Register r) {
      return _mm256_and_si256(_mm256_slli_epi16(r, static_cast<int>(n)), byte_of(0xFFu << n));
    };
    return each(shifted, v);
  }
  static Bytes down(const Bytes& v, unsigned n) noexcept {
    const auto shifted = [n](Register r) {
      return _mm256_and_si256(_mm256_srli_epi16(r, static_cast<int>(n)), byte_of(0xFFu >> n));
    };
    return each(shifted, v);
  }

  static void halves(const std::byte* values, Bytes& high, Bytes& low) noexcept {
    const Bytes first = rotated(load(values)), second = rotated(load(values + 64));
    halves(first, high.lo, low.lo);
    halves(second, high.hi, low.hi);
  }
  static void merged(const Bytes& high, const Bytes& low, std::byte* values) noexcept {
    store(values, back(merged(high.lo, low.lo)));
    store(values + 64, back(merged(high.hi, low.hi)));
  }

  static std::uint64_t plane(const Bytes& v, unsigned k) noexcept {
    const auto tops = [k](Register r) {
      return _mm256_movemask_epi8(_mm256_sll_epi16(r, _mm_cvtsi32_si128(static_cast<int>(7 - k))));
    };
    return joined(tops(v.lo), tops(v.hi));
  }
  static Bytes spread(std::uint64_t map, std::uint8_t byte) noexcept {
    return {spread(static_cast<std::uint32_t>(map), byte),
            spread(static_cast<std::uint32_t>(map >> 32), byte)};
  }
  static std::uint64_t zeros(const Bytes& v) noexcept {
    const auto zero = [](Register r) {
      return _mm256_movemask_epi8(_mm256_cmpeq_epi8(r, _mm256_setzero_si256()));
    };
    return joined(zero(v.lo), zero(v.hi));
  }

  static std::byte* keep(std::byte* out, const Bytes& v, std::uint64_t map) noexcept {
    return map == 0 ? out : keep_bytes(out, v.lo, v.hi, map);
  }
  static Bytes restore(const std::byte* in, std::uint64_t map) noexcept {
    Bytes v = all(0);
    if (map != 0) restore_bytes(in, map, v.lo, v.hi);
    return v;
  }

  // Codes by rows of 16 symbols: few rows have a symbol of the book.
  class Codes {
   public:
    explicit Codes(const Book& book) noexcept : escape_(byte_of(book.escape())) {
      for (unsigned row = 0; row < 16; ++row) {
        const Register codes = _mm256_xor_si256(in_all_lanes(book.code + 16 * row), escape_);
        if (_mm256_testz_si256(codes, codes)) continue;
        first_[rows_] = byte_of(16 * row);
        codes_[rows_++] = codes;
      }
    }
    Bytes operator()(const Bytes& symbols) const noexcept {
      return each([this](Register r) { return codes_of(r); }, symbols);
    }

   private:
    // A shuffle gives 0 where the top bit of the place is set: after the addition, in all other rows.
    Register codes_of(Register symbols) const noexcept {
      Register codes = escape_;
      for (unsigned i = 0; i < rows_; ++i) {
        const Register place = _mm256_adds_epu8(_mm256_xor_si256(symbols, first_[i]), byte_of(0x70));
        codes = _mm256_xor_si256(codes, _mm256_shuffle_epi8(codes_[i], place));
      }
      return codes;
    }

    Register escape_, first_[16], codes_[16];
    unsigned rows_ = 0;
  };

  class Symbols {
   public:
    explicit Symbols(const Book& book) noexcept : of_(in_all_lanes(book.symbol)) {}
    Bytes operator()(const Bytes& codes) const noexcept {
      return each([this](Register r) { return _mm256_shuffle_epi8(of_, r); }, codes);
    }

   private:
    Register of_;
  };

 private:
  static Bytes rotated(const Bytes& v) noexcept {
    return each([](Register r) { return _mm256_or_si256(_mm256_slli_epi16(r, 1), _mm256_srli_epi16(r, 15)); },
                v);
  }
  static Bytes back(const Bytes& v) noexcept {
    return each([](Register r) { return _mm256_or_si256(_mm256_srli_epi16(r, 1), _mm256_slli_epi16(r, 15)); },
                v);
  }
  // Separates the bytes of 32 values, and merges them.
  static void halves(const Bytes& v, Register& high, Register& low) noexcept {
    const Register mask = _mm256_set1_epi16(0xFF);
    low = in_order(_mm256_packus_epi16(_mm256_and_si256(v.lo, mask), _mm256_and_si256(v.hi, mask)));
    high = in_order(_mm256_packus_epi16(_mm256_srli_epi16(v.lo, 8), _mm256_srli_epi16(v.hi, 8)));
  }
  static Bytes merged(Register high, Register low) noexcept {
    const Register h = in_order(high), l = in_order(low);
    return {_mm256_unpacklo_epi8(l, h), _mm256_unpackhi_epi8(l, h)};
  }
  // Exchanges the two inner quarters, because packing and unpacking work on half registers.
  static Register in_order(Register r) noexcept { return _mm256_permute4x64_epi64(r, 0xD8); }

  static Register spread(std::uint32_t map, std::uint8_t byte) noexcept {
    const Register places = _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
    const Register bits = _mm256_set1_epi64x(static_cast<long long>(0x8040201008040201));
    const Register copies = _mm256_shuffle_epi8(_mm256_set1_epi32(static_cast<int>(map)), places);
    const Register there = _mm256_cmpeq_epi8(_mm256_and_si256(copies, bits), bits);
    return _mm256_and_si256(there, byte_of(byte));
  }
};

}  // namespace

const KernelSet& KernelSet::avx2() noexcept {
  static constexpr auto set = kernel_set<Avx2>("avx2", has_avx2);
  return set;
}

}  // namespace taut::exponents
