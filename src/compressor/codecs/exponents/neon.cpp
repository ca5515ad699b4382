// NEON kernels of the codec exponents. 64 bytes are four registers.
#include "compressor/codecs/exponents/loops.hpp"
#include "compressor/simd/neon_bitmaps.hpp"

namespace taut::exponents {
namespace {

using Register = uint8x16_t;

inline Register byte_of(unsigned byte) noexcept { return vdupq_n_u8(static_cast<std::uint8_t>(byte)); }

struct Neon : PlaneByPlane<Neon> {
  using Bytes = Bytes64;

  static Bytes load(const std::byte* from) noexcept { return load_64(from); }
  static void store(std::byte* to, const Bytes& v) noexcept { store_64(to, v); }
  static Bytes all(std::uint8_t byte) noexcept {
    return each_of_64([=](int) { return byte_of(byte); });
  }
  static Bytes either(const Bytes& a, const Bytes& b) noexcept {
    return each_of_64([&](int i) { return vorrq_u8(a.val[i], b.val[i]); });
  }
  static Bytes up(const Bytes& v, unsigned n) noexcept { return shifted(v, static_cast<int>(n)); }
  static Bytes down(const Bytes& v, unsigned n) noexcept { return shifted(v, -static_cast<int>(n)); }

  static void halves(const std::byte* values, Bytes& high, Bytes& low) noexcept {
    const Bytes first = rotated(load(values)), second = rotated(load(values + 64));
    const auto pair = [&](int i) -> const Register* { return (i < 2 ? first : second).val + i % 2 * 2; };
    low = each_of_64([&](int i) { return vuzp1q_u8(pair(i)[0], pair(i)[1]); });
    high = each_of_64([&](int i) { return vuzp2q_u8(pair(i)[0], pair(i)[1]); });
  }
  static void merged(const Bytes& high, const Bytes& low, std::byte* values) noexcept {
    const auto part = [&](int i) {
      const Register l = low.val[i / 2], h = high.val[i / 2];
      const auto v = vreinterpretq_u16_u8(i % 2 == 0 ? vzip1q_u8(l, h) : vzip2q_u8(l, h));
      return vreinterpretq_u8_u16(vsliq_n_u16(vshrq_n_u16(v, 1), v, 15));
    };
    store(values, each_of_64(part));
    store(values + 64, each_of_64([&](int i) { return part(4 + i); }));
  }

  static std::uint64_t plane(const Bytes& v, unsigned k) noexcept {
    const Register bit = byte_of(1u << k);
    return bitmap_of(each_of_64([&](int i) { return vtstq_u8(v.val[i], bit); }));
  }
  static Bytes spread(std::uint64_t map, std::uint8_t byte) noexcept {
    const Bytes masks = masks_of(map);
    return each_of_64([&](int i) { return vandq_u8(masks.val[i], byte_of(byte)); });
  }
  static std::uint64_t zeros(const Bytes& v) noexcept { return ~nonzero_bitmap(v); }

  static std::byte* keep(std::byte* out, const Bytes& v, std::uint64_t map) noexcept {
    return map == 0 ? out : keep_bytes(out, v, map);
  }
  static Bytes restore(const std::byte* in, std::uint64_t map) noexcept {
    return map == 0 ? all(0) : restore_bytes(in, map);
  }

  // Table of the symbols' codes, in rows of 16 symbols. Rows without a symbol of the book are left out.
  class Codes {
   public:
    explicit Codes(const Book& book) noexcept : escape_(byte_of(book.escape())) {
      for (unsigned row = 0; row < 16; ++row) {
        const Register codes = veorq_u8(vld1q_u8(book.code + 16 * row), escape_);
        if (vmaxvq_u8(codes) == 0) continue;
        first_[rows_] = byte_of(16 * row);
        codes_[rows_++] = codes;
      }
    }
    Bytes operator()(const Bytes& symbols) const noexcept {
      return each_of_64([&](int i) { return codes_of(symbols.val[i]); });
    }

   private:
    // Returns the codes of 16 symbols. A lookup in the row of another symbol gives 0, because the index then
    // exceeds 15.
    Register codes_of(Register symbols) const noexcept {
      Register codes = escape_;
      for (unsigned i = 0; i < rows_; ++i)
        codes = veorq_u8(codes, vqtbl1q_u8(codes_[i], veorq_u8(symbols, first_[i])));
      return codes;
    }

    Register escape_, first_[16], codes_[16];
    unsigned rows_ = 0;
  };

  class Symbols {
   public:
    explicit Symbols(const Book& book) noexcept : of_(vld1q_u8(book.symbol)) {}
    Bytes operator()(const Bytes& codes) const noexcept {
      return each_of_64([&](int i) { return vqtbl1q_u8(of_, codes.val[i]); });
    }

   private:
    Register of_;
  };

 private:
  static Bytes shifted(const Bytes& v, int by) noexcept {
    const int8x16_t n = vdupq_n_s8(static_cast<std::int8_t>(by));
    return each_of_64([&](int i) { return vshlq_u8(v.val[i], n); });
  }
  static Bytes rotated(const Bytes& v) noexcept {
    return each_of_64([&](int i) {
      const auto x = vreinterpretq_u16_u8(v.val[i]);
      return vreinterpretq_u8_u16(vsriq_n_u16(vshlq_n_u16(x, 1), x, 15));
    });
  }
};

}  // namespace

const KernelSet& KernelSet::neon() noexcept {
  static constexpr auto set = kernel_set<Neon>("neon", []() noexcept { return true; });
  return set;
}

}  // namespace taut::exponents
