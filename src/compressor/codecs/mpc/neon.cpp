// NEON kernels of the codec mpc. A vector is four registers.
#include "compressor/codecs/mpc/lanes.hpp"
#include "compressor/codecs/mpc/pipeline.hpp"
#include "compressor/simd/neon_bitmaps.hpp"

namespace taut::mpc {
namespace {

using Vector4 = Bytes64;

template <class W>
struct Neon {
  using Word = W;
  using Vector = Vector4;
  using InLanes = Lanes<Word, 16>;
  using Register = uint8x16_t;
  static constexpr unsigned size = sizeof(Word);

  static Vector load(const std::byte* from) noexcept { return load_64(from); }
  static void store(std::byte* to, const Vector& v) noexcept { store_64(to, v); }

  static Vector planes(const Vector& differences) noexcept {
    const Vector digits = each_of_64([&](int i) { return words(InLanes::digits, differences.val[i]); });
    const Vector gathered = moved<of_block>(digits);
    return each_of_64([&](int i) { return mirrored(gathered.val[i]); });
  }
  static Vector differences(const Vector& planes) noexcept {
    const Vector bytes = each_of_64([&](int i) { return mirrored(planes.val[i]); });
    const Vector digits = moved<of_words>(bytes);
    return each_of_64([&](int i) { return words(InLanes::number, digits.val[i]); });
  }

  // ---- ZE: zero elimination

  static std::uint64_t nonzero(const Vector& v) noexcept { return nonzero_bitmap(v); }
  static std::byte* keep(std::byte* out, const Vector& v, std::uint64_t mask) noexcept {
    return keep_bytes(out, v, mask);
  }
  static Vector restore(const std::byte* in, std::uint64_t mask) noexcept { return restore_bytes(in, mask); }

  // ---- Inverse of LNV: running sums, in doubling steps within a register, then over the registers

  template <unsigned distance>
  class Scan {
   public:
    explicit Scan(const Vector& before) noexcept : before_(before) {}

    template <class Op>
    Vector operator()(const Vector& v, Op op) noexcept {
      Register r[8] = {before_.val[0], before_.val[1], before_.val[2], before_.val[3]};
      r[4] = op(within<bytes>(v.val[0], op), last_words<4>(r));
      r[5] = op(within<bytes>(v.val[1], op), last_words<5>(r));
      r[6] = op(within<bytes>(v.val[2], op), last_words<6>(r));
      r[7] = op(within<bytes>(v.val[3], op), last_words<7>(r));
      return before_ = {{r[4], r[5], r[6], r[7]}};
    }

   private:
    static constexpr unsigned bytes = distance * size;

    template <unsigned shift, class Op>
    static Register within(Register v, Op op) noexcept {
      if constexpr (shift < 16) {
        return within<2 * shift>(op(v, vextq_u8(vdupq_n_u8(0), v, 16 - shift)), op);
      } else {
        return v;
      }
    }

    // Returns, for each position of register i, the last word in earlier registers at a multiple of
    // `distance` before it.
    template <unsigned i>
    static Register last_words(const Register* r) noexcept {
      if constexpr (bytes < 16) {
        return vqtbl1q_u8(r[i - 1], vld1q_u8(cycle.data()));
      } else if constexpr (bytes % 16 == 0) {
        return r[i - bytes / 16];
      } else {
        return vextq_u8(r[i - bytes / 16 - 1], r[i - bytes / 16], 16 - bytes % 16);
      }
    }
    static constexpr auto cycle = [] {
      std::array<std::uint8_t, 16> table{};
      for (unsigned i = 0; i < 16; ++i) table[i] = static_cast<std::uint8_t>(16 - bytes % 16 + i % bytes);
      return table;
    }();

    Vector before_;
  };

  // ---- Operations on the words

  static Vector round(const Vector& v, const Rounding& r) noexcept {
    return each_of_64([&](int i) { return words([&](auto x) { return InLanes::round(x, r); }, v.val[i]); });
  }
  static Vector subtract(const Vector& a, const Vector& b) noexcept {
    return each_of_64([&](int i) { return words(InLanes::subtract, a.val[i], b.val[i]); });
  }
  static Register add(Register a, Register b) noexcept { return words(InLanes::add, a, b); }
  static Register exclusive_or(Register a, Register b) noexcept { return veorq_u8(a, b); }

 private:
  // Applies an operation on words to registers of bytes.
  template <class Function, class... Bytes>
  static Register words(Function of, Bytes... v) noexcept {
    return (Register)of((typename InLanes::Register)v...);
  }

  // Source positions of bytes in a block of 8 words. of_block gathers bytes by their position in the word,
  // top byte and last word first; of_words is the inverse.
  static constexpr unsigned of_block(unsigned i) noexcept {
    return (7 - i % 8) * size + size - 1 - i % (8 * size) / 8;
  }
  static constexpr unsigned of_words(unsigned i) noexcept {
    return 8 * (size - 1 - i % size) + 7 - i % (8 * size) / size;
  }

  // Moves the bytes of each block: byte i of a block comes from `of(i)`.
  template <auto of>
  static Vector moved(const Vector& v) noexcept {
    alignas(16) static constexpr auto from = [] {
      std::array<std::uint8_t, 64> table{};
      for (unsigned i = 0; i < 64; ++i) table[i] = static_cast<std::uint8_t>(block_in_table(i) + of(i));
      return table;
    }();
    return each_of_64([&](int i) {
      const Register places = vld1q_u8(from.data() + 16 * i);
      if constexpr (size <= 2) return vqtbl1q_u8(v.val[i], places);
      if constexpr (size == 4) return vqtbl2q_u8({{v.val[i & 2], v.val[(i & 2) + 1]}}, places);
      return vqtbl4q_u8(v, places);
    });
  }
  // Returns the first byte of a byte's block among the registers that are looked up.
  static constexpr unsigned block_in_table(unsigned i) noexcept { return size == 1 ? i % 16 / 8 * 8 : 0; }
};

}  // namespace

const KernelSet& KernelSet::neon() noexcept {
  static constexpr auto set = kernel_set<Neon>("neon", []() noexcept { return true; });
  return set;
}

}  // namespace taut::mpc
