// The reference kernels in portable code; they define the results of all other sets.
#include <array>
#include <functional>

#include "compressor/codecs/mpc/pipeline.hpp"

namespace taut::mpc {
namespace {

template <class W>
struct Scalar {
  using Word = W;
  static constexpr std::size_t lanes = vector_bytes / sizeof(Word);
  static constexpr std::size_t planes_of_block = 8 * sizeof(Word);
  static constexpr Word negabinary = static_cast<Word>(0xAAAAAAAAAAAAAAAA);

  struct Vector {
    std::array<Word, lanes> word;
  };
  using Planes = std::array<std::byte, vector_bytes>;

  static Vector load(const std::byte* from) noexcept { return taut::load<Vector>(from); }
  static void store(std::byte* to, const Vector& v) noexcept { taut::store(to, v); }

  // An operation on two words or, word by word, on two vectors.
  template <class Op>
  struct Lanes {
    constexpr Word operator()(Word a, Word b) const noexcept { return static_cast<Word>(Op{}(a, b)); }
    Vector operator()(Vector a, const Vector& b) const noexcept {
      for (std::size_t i = 0; i < lanes; ++i) a.word[i] = (*this)(a.word[i], b.word[i]);
      return a;
    }
  };
  static constexpr Lanes<std::plus<>> add{};
  static constexpr Lanes<std::minus<>> subtract{};
  static constexpr Lanes<std::bit_xor<>> exclusive_or{};

  static Vector planes(const Vector& differences) noexcept {
    Planes planes{};
    for (std::size_t i = 0; i < lanes; ++i) {
      const Word digits = static_cast<Word>(differences.word[i] + negabinary) ^ negabinary;
      std::byte* block = planes.data() + i / block_words * planes_of_block;
      for (std::size_t p = 0; p < planes_of_block; ++p)
        block[p] |= static_cast<std::byte>((digits >> (planes_of_block - 1 - p) & 1) << i % block_words);
    }
    return std::bit_cast<Vector>(planes);
  }

  static Vector differences(const Vector& v) noexcept {
    const auto planes = std::bit_cast<Planes>(v);
    Vector differences;
    for (std::size_t i = 0; i < lanes; ++i) {
      const std::byte* block = planes.data() + i / block_words * planes_of_block;
      std::uint64_t digits = 0;
      for (std::size_t p = 0; p < planes_of_block; ++p)
        digits = digits << 1 | (std::to_integer<unsigned>(block[p]) >> i % block_words & 1);
      differences.word[i] = static_cast<Word>((digits ^ negabinary) - negabinary);
    }
    return differences;
  }

  static std::uint64_t nonzero(const Vector& v) noexcept {
    const auto bytes = std::bit_cast<Planes>(v);
    std::uint64_t mask = 0;
    for (std::size_t i = 0; i < vector_bytes; ++i)
      mask |= static_cast<std::uint64_t>(bytes[i] != std::byte{0}) << i;
    return mask;
  }

  static std::byte* keep(std::byte* out, const Vector& v, std::uint64_t mask) noexcept {
    const auto bytes = std::bit_cast<Planes>(v);
    for (; mask != 0; mask &= mask - 1) *out++ = bytes[static_cast<std::size_t>(std::countr_zero(mask))];
    return out;
  }

  static Vector restore(const std::byte* in, std::uint64_t mask) noexcept {
    Planes bytes{};
    for (; mask != 0; mask &= mask - 1) bytes[static_cast<std::size_t>(std::countr_zero(mask))] = *in++;
    return std::bit_cast<Vector>(bytes);
  }

  template <unsigned distance>
  class Scan {
   public:
    explicit Scan(const Vector& before) noexcept : before_(before) {}

    template <class Op>
    Vector operator()(Vector v, Op op) noexcept {
      for (std::size_t i = 0; i < lanes; ++i) {
        const Word back = i < distance ? before_.word[lanes + i - distance] : v.word[i - distance];
        v.word[i] = op(v.word[i], back);
      }
      return before_ = v;
    }

   private:
    Vector before_;
  };

  static Vector round(Vector v, const Rounding& rounding) noexcept {
    for (Word& word : v.word) word = rounded(word, rounding);
    return v;
  }
};

}  // namespace

const KernelSet& KernelSet::scalar() noexcept {
  static constexpr auto set = kernel_set<Scalar>("scalar", []() noexcept { return true; });
  return set;
}

}  // namespace taut::mpc
