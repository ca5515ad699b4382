// The reference kernels in portable code; they define the results of all other sets.
#include "compressor/codecs/exponents/loops.hpp"

namespace taut::exponents {
namespace {

struct Scalar : PlaneByPlane<Scalar> {
  using Bytes = std::array<std::uint8_t, 64>;

  static Bytes load(const std::byte* from) noexcept { return taut::load<Bytes>(from); }
  static void store(std::byte* to, const Bytes& v) noexcept { taut::store(to, v); }

  template <class Of>
  static Bytes each(const Of& of) noexcept {
    Bytes bytes;
    for (unsigned i = 0; i < 64; ++i) bytes[i] = static_cast<std::uint8_t>(of(i));
    return bytes;
  }
  template <class Of>
  static std::uint64_t bitmap(const Of& of) noexcept {
    std::uint64_t map = 0;
    for (unsigned i = 0; i < 64; ++i) map |= std::uint64_t{of(i) ? 1u : 0u} << i;
    return map;
  }

  static Bytes all(std::uint8_t byte) noexcept {
    return each([=](unsigned) { return byte; });
  }
  static Bytes either(const Bytes& a, const Bytes& b) noexcept {
    return each([&](unsigned i) { return a[i] | b[i]; });
  }
  static Bytes up(const Bytes& v, unsigned n) noexcept {
    return each([&](unsigned i) { return v[i] << n; });
  }
  static Bytes down(const Bytes& v, unsigned n) noexcept {
    return each([&](unsigned i) { return v[i] >> n; });
  }

  static void halves(const std::byte* values, Bytes& high, Bytes& low) noexcept {
    for (unsigned i = 0; i < 64; ++i) {
      const auto rotated = std::rotl(taut::load<std::uint16_t>(values + 2 * i), 1);
      high[i] = static_cast<std::uint8_t>(rotated >> 8);
      low[i] = static_cast<std::uint8_t>(rotated);
    }
  }
  static void merged(const Bytes& high, const Bytes& low, std::byte* values) noexcept {
    for (unsigned i = 0; i < 64; ++i)
      taut::store(values + 2 * i, std::rotr(static_cast<std::uint16_t>(high[i] << 8 | low[i]), 1));
  }

  static std::uint64_t plane(const Bytes& v, unsigned k) noexcept {
    return bitmap([&](unsigned i) { return (v[i] >> k & 1) != 0; });
  }
  static Bytes spread(std::uint64_t map, std::uint8_t byte) noexcept {
    return each([=](unsigned i) { return (map >> i & 1) != 0 ? byte : 0; });
  }
  static std::uint64_t zeros(const Bytes& v) noexcept {
    return bitmap([&](unsigned i) { return v[i] == 0; });
  }

  static std::byte* keep(std::byte* out, const Bytes& v, std::uint64_t map) noexcept {
    for (; map != 0; map &= map - 1) *out++ = std::byte{v[static_cast<unsigned>(std::countr_zero(map))]};
    return out;
  }
  static Bytes restore(const std::byte* in, std::uint64_t map) noexcept {
    Bytes v{};
    for (; map != 0; map &= map - 1)
      v[static_cast<unsigned>(std::countr_zero(map))] = std::to_integer<std::uint8_t>(*in++);
    return v;
  }

  struct Codes {
    const Book& book;
    Bytes operator()(const Bytes& symbols) const noexcept {
      return each([&](unsigned i) { return book.code[symbols[i]]; });
    }
  };
  struct Symbols {
    const Book& book;
    Bytes operator()(const Bytes& codes) const noexcept {
      return each([&](unsigned i) { return book.symbol[codes[i]]; });
    }
  };
};

}  // namespace

const KernelSet& KernelSet::scalar() noexcept {
  static constexpr auto set = kernel_set<Scalar>("scalar", []() noexcept { return true; });
  return set;
}

}  // namespace taut::exponents
