// AVX2 kernels; a vector is two registers.
#include "compressor/codecs/mpc/avx2_bytes.hpp"
#include "compressor/codecs/mpc/lanes.hpp"
#include "compressor/codecs/mpc/pipeline.hpp"
#include "compressor/simd/avx2_bitmaps.hpp"

namespace taut::mpc {
namespace {

struct Vector2 {
  Register lo, hi;
};

template <class Function>
Vector2 each(Function of, const Vector2& v) noexcept {
  return {of(v.lo), of(v.hi)};
}
template <class Function>
Vector2 each(Function of, const Vector2& a, const Vector2& b) noexcept {
  return {of(a.lo, b.lo), of(a.hi, b.hi)};
}

template <class W>
struct Avx2 {
  using Word = W;
  using Vector = Vector2;
  using InLanes = Lanes<Word, 32>;
  static constexpr unsigned size = sizeof(Word);

  static Vector load(const std::byte* from) noexcept {
    const auto* at = reinterpret_cast<const Register*>(from);
    return {_mm256_loadu_si256(at), _mm256_loadu_si256(at + 1)};
  }
  static void store(std::byte* to, const Vector& v) noexcept {
    auto* at = reinterpret_cast<Register*>(to);
    _mm256_storeu_si256(at, v.lo);
    _mm256_storeu_si256(at + 1, v.hi);
  }

  static Vector planes(const Vector& differences) noexcept {
    return each(mirrored, gathered(each(InLanes::digits, differences)));
  }
  static Vector differences(const Vector& planes) noexcept {
    return each(InLanes::number, scattered(each(mirrored, planes)));
  }

  // Gathers the bytes of each block by their position in the word: top byte and last word first.
  static Vector gathered(const Vector& v) noexcept {
    if constexpr (size <= 2) {  // blocks of 8 or 16 bytes
      return each([](Register r) { return shuffled(r, [](unsigned i) { return block(i) + of_block(i); }); },
                  v);
    } else if constexpr (size == 4) {
      const Register order = _mm256_setr_epi32(4, 0, 5, 1, 6, 2, 7, 3);
      return each(
          [&](Register r) {
            const auto by_place = [](unsigned i) { return (3 - i % 4) * 4 + 3 - i / 4; };
            return _mm256_permutevar8x32_epi32(shuffled(r, by_place), order);
          },
          v);
    } else {
      const auto by_place = [](unsigned i) { return (1 - i % 2) * 8 + 7 - i / 2; };
      const Register a = shuffled(v.lo, by_place), b = shuffled(v.hi, by_place);
      const Register odd = _mm256_permute2x128_si256(b, a, 0x31),
                     even = _mm256_permute2x128_si256(b, a, 0x20);
      const Register order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
      return {_mm256_permutevar8x32_epi32(_mm256_unpacklo_epi16(odd, even), order),
              _mm256_permutevar8x32_epi32(_mm256_unpackhi_epi16(odd, even), order)};
    }
  }
  static Vector scattered(const Vector& v) noexcept {
    if constexpr (size <= 2) {
      return each([](Register r) { return shuffled(r, [](unsigned i) { return block(i) + of_words(i); }); },
                  v);
    } else if constexpr (size == 4) {
      const Register order = _mm256_setr_epi32(1, 3, 5, 7, 0, 2, 4, 6);
      return each(
          [&](Register r) {
            const auto by_word = [](unsigned i) { return (3 - i % 4) * 4 + 3 - i / 4; };
            return shuffled(_mm256_permutevar8x32_epi32(r, order), by_word);
          },
          v);
    } else {
      const Register order = _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7);
      const auto pairs = [](unsigned i) { return i % 8 / 2 * 4 + i / 8 * 2 + i % 2; };
      const Register top = shuffled(_mm256_permutevar8x32_epi32(v.lo, order), pairs),
                     low = shuffled(_mm256_permutevar8x32_epi32(v.hi, order), pairs);
      const Register odd = _mm256_unpacklo_epi64(top, low), even = _mm256_unpackhi_epi64(top, low);
      const auto by_word = [](unsigned i) { return (7 - i % 8) * 2 + 1 - i / 8; };
      return {shuffled(_mm256_permute2x128_si256(even, odd, 0x31), by_word),
              shuffled(_mm256_permute2x128_si256(even, odd, 0x20), by_word)};
    }
  }
  static constexpr unsigned block(unsigned i) noexcept { return i - i % (8 * size); }
  static constexpr unsigned of_block(unsigned i) noexcept {
    return (7 - i % 8) * size + size - 1 - i % (8 * size) / 8;
  }
  static constexpr unsigned of_words(unsigned i) noexcept {
    return 8 * (size - 1 - i % size) + 7 - i % (8 * size) / size;
  }

  // ---- ZE: zero elimination

  static std::uint64_t nonzero(const Vector& v) noexcept {
    const auto zeros = [](Register r) {
      const int mask = _mm256_movemask_epi8(_mm256_cmpeq_epi8(r, _mm256_setzero_si256()));
      return static_cast<std::uint64_t>(static_cast<std::uint32_t>(mask));
    };
    return ~(zeros(v.hi) << 32 | zeros(v.lo));
  }

  static std::byte* keep(std::byte* out, const Vector& v, std::uint64_t mask) noexcept {
    return keep_bytes(out, v.lo, v.hi, mask);
  }

  static Vector restore(const std::byte* in, std::uint64_t mask) noexcept {
    Vector v;
    restore_bytes(in, mask, v.lo, v.hi);
    return v;
  }

  // ---- Inverse of LNV: in doubling steps within a register, then from one register to the next

  template <unsigned distance>
  class Scan {
   public:
    explicit Scan(const Vector& before) noexcept : before_(before) {}

    template <class Op>
    Vector operator()(const Vector& v, Op op) noexcept {
      before_ = {before_.hi, within<bytes>(v.lo, op)};
      before_ = {before_.hi, within<bytes>(v.hi, op)};
      return before_;
    }

   private:
    static constexpr unsigned bytes = distance * size;

    template <unsigned shift, class Op>
    Register within(Register v, Op op) const noexcept {
      if constexpr (shift < 32) {
        return within<2 * shift>(op(v, shifted<shift>(v)), op);
      } else {
        return op(v, last_words());
      }
    }

    template <unsigned shift>
    static Register shifted(Register v) noexcept {
      const Register lower = _mm256_permute2x128_si256(v, v, 0x08);  // zeros | lower lane
      if constexpr (shift < 16) return _mm256_alignr_epi8(v, lower, 16 - shift);
      return _mm256_slli_si256(lower, shift % 16);
    }

    // Returns, for each position, the last earlier word at a multiple of `distance` before it.
    Register last_words() const noexcept {
      if constexpr (bytes <= 16) {
        const Register upper = _mm256_permute4x64_epi64(before_.hi, 0xEE);
        const auto places = _mm256_loadu_si256(reinterpret_cast<const Register*>(cycle.data()));
        return _mm256_shuffle_epi8(upper, places);
      } else {
        constexpr int n = bytes / 4;
        const Register order = _mm256_setr_epi32(-n, -n + 1 % n, -n + 2 % n, -n + 3 % n, -n + 4 % n,
                                                 -n + 5 % n, -n + 6 % n, -n + 7 % n);
        const Register last = _mm256_permutevar8x32_epi32(before_.hi, order);
        if constexpr (n <= 8) return last;
        constexpr int earlier = n <= 8 ? 0 : (1 << (n - 8)) - 1;
        return _mm256_blend_epi32(last, _mm256_permutevar8x32_epi32(before_.lo, order), earlier);
      }
    }
    static constexpr auto cycle = [] {
      std::array<std::uint8_t, 32> table{};
      for (unsigned i = 0; i < 32; ++i) table[i] = static_cast<std::uint8_t>(16 - bytes + i % bytes);
      return table;
    }();

    Vector before_;
  };

  // ---- Operations on the words

  static Vector round(const Vector& v, const Rounding& r) noexcept {
    return each([&](Register x) { return InLanes::round(x, r); }, v);
  }
  static Vector subtract(const Vector& a, const Vector& b) noexcept { return each(InLanes::subtract, a, b); }
  static Register add(Register a, Register b) noexcept { return InLanes::add(a, b); }
  static Register exclusive_or(Register a, Register b) noexcept { return _mm256_xor_si256(a, b); }
};

}  // namespace

const KernelSet& KernelSet::avx2() noexcept {
  static constexpr auto set = kernel_set<Avx2>("avx2", has_avx2);
  return set;
}

}  // namespace taut::mpc
