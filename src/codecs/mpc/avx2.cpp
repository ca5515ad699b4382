// AVX2 kernels; a vector is two registers.
#include "codecs/mpc/avx2_bytes.hpp"
#include "codecs/mpc/pipeline.hpp"

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
    const auto digits = [](Register d) { return _mm256_xor_si256(lanes_add(d, negabinary()), negabinary()); };
    return each(mirrored, gathered(each(digits, differences)));
  }
  static Vector differences(const Vector& planes) noexcept {
    const auto difference = [](Register digits) {
      return lanes_subtract(_mm256_xor_si256(digits, negabinary()), negabinary());
    };
    return each(difference, scattered(each(mirrored, planes)));
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

  static std::uint8_t eight(std::uint64_t mask, unsigned i) noexcept {
    return static_cast<std::uint8_t>(mask >> 8 * i);
  }

  static std::byte* keep(std::byte* out, const Vector& v, std::uint64_t mask) noexcept {
    out = keep_lane(out, _mm256_castsi256_si128(v.lo), eight(mask, 0), eight(mask, 1));
    out = keep_lane(out, _mm256_extracti128_si256(v.lo, 1), eight(mask, 2), eight(mask, 3));
    out = keep_lane(out, _mm256_castsi256_si128(v.hi), eight(mask, 4), eight(mask, 5));
    return keep_lane(out, _mm256_extracti128_si256(v.hi, 1), eight(mask, 6), eight(mask, 7));
  }

  static Vector restore(const std::byte* in, std::uint64_t mask) noexcept {
    const __m128i a = restore_lane(in, eight(mask, 0), eight(mask, 1));
    const __m128i b = restore_lane(in, eight(mask, 2), eight(mask, 3));
    const __m128i c = restore_lane(in, eight(mask, 4), eight(mask, 5));
    const __m128i d = restore_lane(in, eight(mask, 6), eight(mask, 7));
    return {_mm256_set_m128i(b, a), _mm256_set_m128i(d, c)};
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
        return within<2 * shift>(op.registers(v, shifted<shift>(v)), op);
      } else {
        return op.registers(v, last_words());
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

  // ---- Rounding

  static Vector round(const Vector& v, const Rounding& r) noexcept {
    const Register sign = all(std::uint64_t{1} << (8 * size - 1)), one = all(1);
    const Register half = all((std::uint64_t{1} << (r.dropped - 1)) - 1);
    const Register low = all((std::uint64_t{1} << r.dropped) - 1);
    const Register least = all(r.least_normal), range = all(r.range);
    const __m128i dropped = _mm_cvtsi32_si128(static_cast<int>(r.dropped));
    return each(
        [&](Register x) {
          const Register place = lanes_subtract(_mm256_andnot_si256(sign, x), least);
          const Register even = _mm256_and_si256(shift_right(x, dropped), one);
          const Register up = lanes_add(lanes_add(x, half), even);
          const Register rounds = greater(_mm256_xor_si256(range, sign), _mm256_xor_si256(place, sign));
          return _mm256_blendv_epi8(x, _mm256_andnot_si256(low, up), rounds);
        },
        v);
  }

  // ---- Operations on lanes of the word size

  static Register negabinary() noexcept { return _mm256_set1_epi8(static_cast<char>(0xAA)); }
  static Register all(std::uint64_t x) noexcept {
    if constexpr (size == 2) return _mm256_set1_epi16(static_cast<short>(x));
    if constexpr (size == 4) return _mm256_set1_epi32(static_cast<int>(x));
    return _mm256_set1_epi64x(static_cast<long long>(x));
  }
  static Register lanes_add(Register a, Register b) noexcept {
    if constexpr (size == 1) return _mm256_add_epi8(a, b);
    if constexpr (size == 2) return _mm256_add_epi16(a, b);
    if constexpr (size == 4) return _mm256_add_epi32(a, b);
    return _mm256_add_epi64(a, b);
  }
  static Register lanes_subtract(Register a, Register b) noexcept {
    if constexpr (size == 1) return _mm256_sub_epi8(a, b);
    if constexpr (size == 2) return _mm256_sub_epi16(a, b);
    if constexpr (size == 4) return _mm256_sub_epi32(a, b);
    return _mm256_sub_epi64(a, b);
  }
  static Register shift_right(Register a, __m128i by) noexcept {
    if constexpr (size == 2) return _mm256_srl_epi16(a, by);
    if constexpr (size == 4) return _mm256_srl_epi32(a, by);
    return _mm256_srl_epi64(a, by);
  }
  static Register greater(Register a, Register b) noexcept {
    if constexpr (size == 2) return _mm256_cmpgt_epi16(a, b);
    if constexpr (size == 4) return _mm256_cmpgt_epi32(a, b);
    return _mm256_cmpgt_epi64(a, b);
  }

  struct Add {
    static Register registers(Register a, Register b) noexcept { return lanes_add(a, b); }
  };
  struct ExclusiveOr {
    static Register registers(Register a, Register b) noexcept { return _mm256_xor_si256(a, b); }
  };
  static constexpr Add add{};
  static constexpr ExclusiveOr exclusive_or{};
  static Vector subtract(const Vector& a, const Vector& b) noexcept { return each(lanes_subtract, a, b); }
};

template <class Word>
constexpr Kernels kernels = {Pipeline<Avx2<Word>>::encode, Pipeline<Avx2<Word>>::decode,
                             Pipeline<Avx2<Word>>::round};
template <>
constexpr Kernels kernels<std::uint8_t> = {Pipeline<Avx2<std::uint8_t>>::encode,
                                           Pipeline<Avx2<std::uint8_t>>::decode, nullptr};

}  // namespace

const KernelSet& avx2_kernels() noexcept {
  static constexpr KernelSet set{
      "avx2",
      []() noexcept { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2"); },
      {kernels<std::uint8_t>, kernels<std::uint16_t>, kernels<std::uint32_t>, kernels<std::uint64_t>},
  };
  return set;
}

}  // namespace taut::mpc
