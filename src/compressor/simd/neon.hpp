// Neon, an instruction set with vectors of 64 bytes in four registers of NEON, which every AArch64 processor
// has. compressor/simd/scalar.hpp explains the operations.
#pragma once

#include <arm_neon.h>

#include "compressor/simd/scalar.hpp"

namespace taut::simd {

struct Neon : BitPlanes<Neon> {
  using Register = uint8x16_t;
  using Bytes = uint8x16x4_t;
  static constexpr bool has_compress = false;

  // Returns the registers make(0) to make(3).
  template <class Make>
  static Bytes each(const Make& make) noexcept {
    return {{make(0), make(1), make(2), make(3)}};
  }

  static Bytes load(const std::byte* from) noexcept {
    return vld1q_u8_x4(reinterpret_cast<const std::uint8_t*>(from));
  }
  static void store(std::byte* to, const Bytes& v) noexcept {
    vst1q_u8_x4(reinterpret_cast<std::uint8_t*>(to), v);
  }
  static Bytes splat(std::uint8_t byte) noexcept {
    return each([=](int) { return vdupq_n_u8(byte); });
  }
  static Bytes bit_or(const Bytes& a, const Bytes& b) noexcept {
    return each([&](int i) { return vorrq_u8(a.val[i], b.val[i]); });
  }
  static Bytes shl(const Bytes& v, unsigned n) noexcept { return shift(v, static_cast<int>(n)); }
  static Bytes shr(const Bytes& v, unsigned n) noexcept { return shift(v, -static_cast<int>(n)); }
  template <int n>
  static Bytes rotl16(const Bytes& v) noexcept {
    return each([&](int i) {
      const auto x = vreinterpretq_u16_u8(v.val[i]);
      return vreinterpretq_u8_u16(vsriq_n_u16(vshlq_n_u16(x, n), x, 16 - n));
    });
  }

  static void unzip(const Bytes& a, const Bytes& b, Bytes& even, Bytes& odd) noexcept {
    const auto pair = [&](int i) -> const Register* { return (i < 2 ? a : b).val + i % 2 * 2; };
    const auto evens = [&](int i) { return vuzp1q_u8(pair(i)[0], pair(i)[1]); };
    const auto odds = [&](int i) { return vuzp2q_u8(pair(i)[0], pair(i)[1]); };
    const Bytes all_evens = each(evens);
    odd = each(odds);
    even = all_evens;
  }
  static void zip(const Bytes& even, const Bytes& odd, Bytes& a, Bytes& b) noexcept {
    const auto part = [&](int i) {
      const Register e = even.val[i / 2], o = odd.val[i / 2];
      return i % 2 == 0 ? vzip1q_u8(e, o) : vzip2q_u8(e, o);
    };
    a = each(part);
    b = each([&](int i) { return part(4 + i); });
  }

  static std::uint64_t nonzero_mask(const Bytes& v) noexcept {
    return mask_of(each([&](int i) { return vtstq_u8(v.val[i], v.val[i]); }));
  }
  static std::uint64_t bit_mask(const Bytes& v, unsigned k) noexcept {
    const Register bit = vdupq_n_u8(static_cast<std::uint8_t>(1u << k));
    return mask_of(each([&](int i) { return vtstq_u8(v.val[i], bit); }));
  }
  static Bytes select(std::uint64_t mask, std::uint8_t byte) noexcept {
    const Register bytes = vreinterpretq_u8_u64(vdupq_n_u64(mask)), bit = bit_of_each();
    const Register place = vcombine_u8(vdup_n_u8(0), vdup_n_u8(1));
    return each([=](int i) {
      const Register places = vaddq_u8(place, vdupq_n_u8(static_cast<std::uint8_t>(2 * i)));
      return vandq_u8(vtstq_u8(vqtbl1q_u8(bytes, places), bit), vdupq_n_u8(byte));
    });
  }

  static std::byte* compress(std::byte* out, const Bytes& v, std::uint64_t mask) noexcept {
    const std::uint64_t ends = running_counts(mask);
    auto* const to = reinterpret_cast<std::uint8_t*>(out);
#pragma GCC unroll 8
    for (unsigned i = 0; i < 8; ++i) {
      const Register lane = v.val[i / 2];
      const Register from = i % 2 == 0 ? lane : vextq_u8(lane, lane, 8);
      vst1_u8(to + bytes_before(ends, i), vqtbl1_u8(from, places_in(compressing(), mask, i)));
    }
    return out + (ends >> 56);
  }
  static Bytes expand(const std::byte* in, std::uint64_t mask) noexcept {
    const std::uint64_t ends = running_counts(mask);
    const auto* const from = reinterpret_cast<const std::uint8_t*>(in);
    const auto eight = [=](unsigned i) {
      return vtbl1_u8(vld1_u8(from + bytes_before(ends, i)), places_in(expanding(), mask, i));
    };
    return {{vcombine_u8(eight(0), eight(1)), vcombine_u8(eight(2), eight(3)),
             vcombine_u8(eight(4), eight(5)), vcombine_u8(eight(6), eight(7))}};
  }

  class Lookup16 {
   public:
    explicit Lookup16(const std::uint8_t* table) noexcept : table_(vld1q_u8(table)) {}
    Bytes operator()(const Bytes& v) const noexcept {
      return each([&](int i) { return vqtbl1q_u8(table_, v.val[i]); });
    }

   private:
    Register table_;
  };

  // A table of 256 bytes has 16 rows of 16 bytes. Rows that hold only `common` are left out.
  class Lookup256 {
   public:
    explicit Lookup256(const std::uint8_t* table, std::uint8_t common) noexcept
        : common_(vdupq_n_u8(common)) {
      for (unsigned row = 0; row < 16; ++row) {
        const Register entries = veorq_u8(vld1q_u8(table + 16 * row), common_);
        if (vmaxvq_u8(entries) == 0) continue;
        first_[rows_] = vdupq_n_u8(static_cast<std::uint8_t>(16 * row));
        entries_[rows_++] = entries;
      }
    }
    Bytes operator()(const Bytes& v) const noexcept {
      return each([&](int i) { return entries_of(v.val[i]); });
    }

   private:
    // A lookup in the row of another byte gives 0, because the index then exceeds 15.
    Register entries_of(Register v) const noexcept {
      Register found = common_;
      for (unsigned i = 0; i < rows_; ++i)
        found = veorq_u8(found, vqtbl1q_u8(entries_[i], veorq_u8(v, first_[i])));
      return found;
    }

    Register common_, first_[16], entries_[16];
    unsigned rows_ = 0;
  };

  template <class Word, class Op, class... R>
  static Register map_registers(const Op& op, R... r) noexcept {
    typedef Word Words __attribute__((vector_size(16)));
    return (Register)op((Words)r...);
  }
  template <class Word, class Op, class... V>
  static Bytes map_words(const Op& op, const V&... v) noexcept {
    return each([&](int i) { return map_registers<Word>(op, v.val[i]...); });
  }

  template <unsigned size>
  static Bytes words_to_planes(const Bytes& v) noexcept {
    const Bytes gathered = permute_blocks<size>(
        v, [](unsigned i) { return (7 - i % 8) * size + size - 1 - i % (8 * size) / 8; });
    return each([&](int i) { return mirror8x8(gathered.val[i]); });
  }
  template <unsigned size, std::uint8_t flip>
  static Bytes planes_to_words(const Bytes& planes) noexcept {
    const Bytes bytes = each([&](int i) { return mirror8x8(planes.val[i]); });
    const Bytes words = permute_blocks<size>(
        bytes, [](unsigned i) { return 8 * (size - 1 - i % size) + 7 - i % (8 * size) / size; });
    return each([&](int i) { return veorq_u8(words.val[i], vdupq_n_u8(flip)); });
  }

  // ---- 64 integers of 32 bits

  using Words = Bytes[4];

  // vminq and vminvq return NaN if an operand is NaN.
  static void extremes(const float* x, std::size_t rows, float* least, float* greatest) noexcept {
    for (std::size_t row = 0; row < rows; ++row, x += 64) {
      float32x4_t low = vld1q_f32(x), high = low;
      for (std::size_t i = 4; i < 64; i += 4) {
        low = vminq_f32(low, vld1q_f32(x + i));
        high = vmaxq_f32(high, vld1q_f32(x + i));
      }
      least[row] = vminvq_f32(low);
      greatest[row] = vmaxvq_f32(high);
    }
  }
  static void extremes(const double* x, std::size_t rows, double* least, double* greatest) noexcept {
    for (std::size_t row = 0; row < rows; ++row, x += 64) {
      float64x2_t low = vld1q_f64(x), high = low;
      for (std::size_t i = 2; i < 64; i += 2) {
        low = vminq_f64(low, vld1q_f64(x + i));
        high = vmaxq_f64(high, vld1q_f64(x + i));
      }
      least[row] = vminvq_f64(low);
      greatest[row] = vmaxvq_f64(high);
    }
  }

  static Bytes nearest_floats(const Bytes& v) noexcept {
    return each([&](int i) { return vreinterpretq_u8_s32(vcvtnq_s32_f32(vreinterpretq_f32_u8(v.val[i]))); });
  }
  static Bytes nearest_doubles(const Bytes& a, const Bytes& b) noexcept {
    const auto two = [](Register r) {
      return vreinterpretq_s32_s64(vcvtnq_s64_f64(vreinterpretq_f64_u8(r)));
    };
    return each([&](int i) {
      const Register* const pair = (i < 2 ? a : b).val + i % 2 * 2;
      return vreinterpretq_u8_s32(vuzp1q_s32(two(pair[0]), two(pair[1])));
    });
  }
  static Bytes floats(const Bytes& v) noexcept {
    return each([&](int i) { return vreinterpretq_u8_f32(vcvtq_f32_s32(vreinterpretq_s32_u8(v.val[i]))); });
  }
  static void doubles(const Bytes& v, Bytes& a, Bytes& b) noexcept {
    const auto two = [&](int i) {
      const int32x4_t four = vreinterpretq_s32_u8(v.val[i / 2]);
      const int64x2_t wide = i % 2 == 0 ? vmovl_s32(vget_low_s32(four)) : vmovl_high_s32(four);
      return vreinterpretq_u8_f64(vcvtq_f64_s64(wide));
    };
    a = each(two);
    b = each([&](int i) { return two(4 + i); });
  }
  static Bytes load_halves(const std::byte* from) noexcept {
    return each([&](int i) {
      const uint8x8_t four = vld1_u8(reinterpret_cast<const std::uint8_t*>(from) + 8 * i);
      return vreinterpretq_u8_f32(vcvt_f32_f16(vreinterpret_f16_u8(four)));
    });
  }
  static void store_halves(std::byte* to, const Bytes& v) noexcept {
    for (int i = 0; i < 4; ++i)
      vst1_u8(reinterpret_cast<std::uint8_t*>(to) + 8 * i,
              vreinterpret_u8_f16(vcvt_f16_f32(vreinterpretq_f32_u8(v.val[i]))));
  }
  static Bytes narrow(const Bytes& a, const Bytes& b) noexcept {
    return each([&](int i) {
      const Register* const pair = (i < 2 ? a : b).val + i % 2 * 2;
      const float32x2_t low = vcvt_f32_f64(vreinterpretq_f64_u8(pair[0]));
      return vreinterpretq_u8_f32(vcvt_high_f32_f64(low, vreinterpretq_f64_u8(pair[1])));
    });
  }
  template <class T>
  static Bytes multiply_add(const Bytes& v, T a, T b) noexcept {
    return map_words<T>([=](auto x) { return x * a + b; }, v);
  }

  static Bytes clamp8(const Words& w, std::uint32_t max) noexcept {
    const Register max_lanes = vdupq_n_u8(static_cast<std::uint8_t>(max));
    return each([&](int i) {
      const auto& four = w[i].val;
      const uint8x8_t low = vqmovn_u16(saturated(four[0], four[1]));
      return vminq_u8(vqmovn_high_u16(low, saturated(four[2], four[3])), max_lanes);
    });
  }
  static void clamp16(const Words& w, std::uint32_t max, Bytes& low, Bytes& high) noexcept {
    const uint16x8_t max_lanes = vdupq_n_u16(static_cast<std::uint16_t>(max));
    const auto clamped = [&](const Bytes& v, const Bytes& next) {
      return each([&](int i) {
        const Register* const pair = (i < 2 ? v : next).val + i % 2 * 2;
        return vreinterpretq_u8_u16(vminq_u16(saturated(pair[0], pair[1]), max_lanes));
      });
    };
    unzip(clamped(w[0], w[1]), clamped(w[2], w[3]), low, high);
  }
  static void clamp32(const Words& w, std::uint32_t max, Bytes (&rows)[4]) noexcept {
    const int32x4_t max_lanes = vdupq_n_s32(static_cast<std::int32_t>(max));
    const auto clamped = [&](const Bytes& v) {
      return each([&](int i) {
        const int32x4_t positive = vmaxq_s32(vreinterpretq_s32_u8(v.val[i]), vdupq_n_s32(0));
        return vreinterpretq_u8_s32(vminq_s32(positive, max_lanes));
      });
    };
    Bytes even[2], odd[2];
    unzip(clamped(w[0]), clamped(w[1]), even[0], odd[0]);
    unzip(clamped(w[2]), clamped(w[3]), even[1], odd[1]);
    unzip(even[0], even[1], rows[0], rows[2]);
    unzip(odd[0], odd[1], rows[1], rows[3]);
  }
  template <unsigned rows>
  static void join(const std::byte* from, const Bytes& top, Words& w) noexcept {
    Bytes all[4];
    for (unsigned k = 0; k < 4; ++k) all[k] = k < rows ? load(from + 64 * k) : k == rows ? top : splat(0);
    Bytes even[2], odd[2];
    zip(all[0], all[2], even[0], even[1]);
    zip(all[1], all[3], odd[0], odd[1]);
    zip(even[0], odd[0], w[0], w[1]);
    zip(even[1], odd[1], w[2], w[3]);
  }

  // A scan combines in doubling steps within a register, then over the registers.
  template <class Word, unsigned distance>
  class Scan {
   public:
    explicit Scan(const Bytes& before) noexcept : before_(before) {}

    template <class Op>
    Bytes operator()(const Bytes& v, const Op& op) noexcept {
      Register r[8] = {before_.val[0], before_.val[1], before_.val[2], before_.val[3]};
      r[4] = map_registers<Word>(op, within<bytes>(v.val[0], op), last_words<4>(r));
      r[5] = map_registers<Word>(op, within<bytes>(v.val[1], op), last_words<5>(r));
      r[6] = map_registers<Word>(op, within<bytes>(v.val[2], op), last_words<6>(r));
      r[7] = map_registers<Word>(op, within<bytes>(v.val[3], op), last_words<7>(r));
      return before_ = {{r[4], r[5], r[6], r[7]}};
    }

   private:
    static constexpr unsigned bytes = distance * sizeof(Word);

    template <unsigned shift, class Op>
    static Register within(Register v, const Op& op) noexcept {
      if constexpr (shift < 16) {
        return within<2 * shift>(map_registers<Word>(op, v, vextq_u8(vdupq_n_u8(0), v, 16 - shift)), op);
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

    Bytes before_;
  };

 private:
  static uint16x8_t saturated(Register a, Register b) noexcept {
    return vqmovun_high_s32(vqmovun_s32(vreinterpretq_s32_u8(a)), vreinterpretq_s32_u8(b));
  }
  static Bytes shift(const Bytes& v, int by) noexcept {
    const int8x16_t n = vdupq_n_s8(static_cast<std::int8_t>(by));
    return each([&](int i) { return vshlq_u8(v.val[i], n); });
  }

  // Returns a register with 1, 2, 4, ... 128, twice.
  static Register bit_of_each() noexcept { return vreinterpretq_u8_u64(vdupq_n_u64(0x8040201008040201)); }
  // Returns the mask of the bytes that are all ones; the other bytes are 0.
  static std::uint64_t mask_of(const Bytes& ones) noexcept {
    const Register bit = bit_of_each();
    const Register low = vpaddq_u8(vandq_u8(ones.val[0], bit), vandq_u8(ones.val[1], bit)),
                   high = vpaddq_u8(vandq_u8(ones.val[2], bit), vandq_u8(ones.val[3], bit));
    const Register quarters = vpaddq_u8(low, high);
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(quarters, quarters)), 0);
  }

  // ---- Compression and expansion: 8 bytes at a time, with tables indexed by 8 bits of the mask

  // Places for every 8-bit mask: the source byte of each output byte; 0x80 gives a byte of 0.
  using Places = std::array<std::array<std::uint8_t, 8>, 256>;
  static const Places& compressing() noexcept {
    static constexpr Places places = [] {
      Places all{};
      for (unsigned mask = 0; mask < 256; ++mask)
        for (unsigned i = 0, n = 0; i < 8; ++i)
          if (mask >> i & 1) all[mask][n++] = static_cast<std::uint8_t>(i);
      return all;
    }();
    return places;
  }
  static const Places& expanding() noexcept {
    static constexpr Places places = [] {
      Places all{};
      for (unsigned mask = 0; mask < 256; ++mask)
        for (unsigned i = 0, n = 0; i < 8; ++i)
          all[mask][i] = mask >> i & 1 ? static_cast<std::uint8_t>(n++) : 0x80;
      return all;
    }();
    return places;
  }
  static uint8x8_t places_in(const Places& places, std::uint64_t mask, unsigned i) noexcept {
    return vld1_u8(places[static_cast<std::uint8_t>(mask >> 8 * i)].data());
  }

  // Returns running counts: byte i is the number of bits in the first i + 1 bytes of a mask.
  static std::uint64_t running_counts(std::uint64_t mask) noexcept {
    const std::uint64_t counts = vget_lane_u64(vreinterpret_u64_u8(vcnt_u8(vcreate_u8(mask))), 0);
    return counts * 0x0101010101010101;
  }
  static std::size_t bytes_before(std::uint64_t ends, unsigned i) noexcept {
    return i == 0 ? 0 : static_cast<std::uint8_t>(ends >> (8 * i - 8));
  }

  // ---- Bit planes of words

  // Mirrors each quadword, an 8 x 8 matrix of bits, at its antidiagonal: bit k of byte i becomes bit 7 - i of
  // byte 7 - k.
  static Register mirror8x8(Register v) noexcept {
    uint64x2_t x = vreinterpretq_u64_u8(v);
    x = vbslq_u64(vdupq_n_u64(0xF0F0F0F00F0F0F0F), vsriq_n_u64(vshlq_n_u64(x, 36), x, 36), x);
    uint32x4_t y = vreinterpretq_u32_u64(x);
    y = vbslq_u32(vreinterpretq_u32_u64(vdupq_n_u64(0xCCCC3333CCCC3333)),
                  vsriq_n_u32(vshlq_n_u32(y, 18), y, 18), y);
    uint16x8_t z = vreinterpretq_u16_u32(y);
    z = vbslq_u16(vdupq_n_u16(0xAA55), vsriq_n_u16(vshlq_n_u16(z, 9), z, 9), z);
    return vreinterpretq_u8_u16(z);
  }

  // Permutes the bytes of each block of 8 words: byte i of a vector comes from byte rule(i) of its block.
  template <unsigned size, class Rule>
  static Bytes permute_blocks(const Bytes& v, Rule) noexcept {
    alignas(16) static constexpr auto from = [] {
      std::array<std::uint8_t, 64> table{};  // in the registers that are looked up
      for (unsigned i = 0; i < 64; ++i)
        table[i] = static_cast<std::uint8_t>((size == 1 ? i % 16 / 8 * 8 : 0) + Rule{}(i));
      return table;
    }();
    return each([&](int i) {
      const Register places = vld1q_u8(from.data() + 16 * i);
      if constexpr (size <= 2) return vqtbl1q_u8(v.val[i], places);
      if constexpr (size == 4) return vqtbl2q_u8({{v.val[i & 2], v.val[(i & 2) + 1]}}, places);
      return vqtbl4q_u8(v, places);
    });
  }
};

}  // namespace taut::simd
