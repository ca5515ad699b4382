// The portable kernels of the general path.
#include "codecs/planes/general/general_kernels.hpp"

#include "codecs/planes/format/block.hpp"
#include "codecs/planes/general/general_loops.hpp"

namespace taut::planes {
namespace {

// Quantises for the large range in double arithmetic. Values without an integer become `escaped`; returns
// false if there are any.
template <class T>
bool quantise_large(const T* values, std::size_t groups, const Quantiser<T>& z, std::int32_t* q) noexcept {
  const double scale = 1 / static_cast<double>(z.step), step = z.step, bound = z.bound;
  std::uint64_t failed = 0;
  for (std::size_t i = 0; i < groups * group_values; ++i) {
    const double x = static_cast<double>(values[i]), s = x * scale;
    const double shifted = s + 0x1.8p52, integer = shifted - 0x1.8p52;
    const double error = x - static_cast<double>(static_cast<T>(integer * step));
    std::uint64_t good = all_ones_if((integer < 0x1p22) & (integer >= -0x1p22) & (std::abs(error) <= bound));
    std::uint64_t bits = std::bit_cast<std::uint64_t>(shifted);
    if constexpr (std::is_same_v<T, float>) {  // small integers are quantised as in a small chunk
      const float rounded = values[i] * z.inverse + 0x1.8p23f;
      const std::uint32_t small_q =
          std::bit_cast<std::uint32_t>(rounded) - std::bit_cast<std::uint32_t>(0x1.8p23f);
      const std::uint64_t is_small = all_ones_if(small_q + (1u << small_bits) < 2u << small_bits);
      bits = (bits & ~is_small) | (small_q & is_small);
      good |= is_small;
    }
    failed |= ~good;
    q[i] = static_cast<std::int32_t>((bits & good) | (~good & std::uint64_t{1} << 31));
  }
  return failed == 0;
}

// Eight 64-bit integers; arithmetic is modulo 2^64.
struct WideBlock {
  std::uint64_t of[block_values];
};

template <class Op>
WideBlock each(const WideBlock& a, const WideBlock& b, Op op) noexcept {
  WideBlock result;
  for (std::size_t i = 0; i < block_values; ++i) result.of[i] = op(a.of[i], b.of[i]);
  return result;
}

struct Portable {
  template <class T>
  static Quantised quantise(const T* values, std::size_t groups, const Quantiser<T>& z, std::int32_t* q,
                            Marks& marks) noexcept {
    const bool complete = quantise_large(values, groups, z, q);
    mark_escaped<Portable>(q, groups * group_values, marks);
    std::int32_t seen = 0;
    for (std::size_t i = 0; i < groups * group_values; ++i)
      seen |= q[i] == escaped<std::int32_t> ? 0 : q[i] ^ (q[i] >> 31);
    return {complete, seen >> small_bits == 0};
  }

  // Returns the bits of the n <= 64 values that equal each other, bit for bit.
  template <class T>
  static std::uint64_t equal(const T* a, const T* b, std::size_t n) noexcept {
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < n; ++i) bits |= std::uint64_t{same_bits(a[i], b[i])} << i;
    return bits;
  }

  // Returns true if all of n <= 64 magnitudes are at most `limit`.
  template <class T>
  static bool below(const T* x, std::size_t n, ComputedIn<T> limit) noexcept {
    bool all = true;
    for (std::size_t i = 0; i < n; ++i) all &= std::abs(static_cast<ComputedIn<T>>(x[i])) <= limit;
    return all;
  }

  // values[i] <- value, for the bits i in `marks`.
  template <class T>
  static void put(T* values, std::uint64_t marks, T value) noexcept {
    for (; marks != 0; marks &= marks - 1) values[std::countr_zero(marks)] = value;
  }

  template <class Int>
  static void fill(Int* to, std::size_t n, Int value) noexcept {
    std::fill_n(to, n, value);
  }

  using Wide = WideBlock;
  static Wide load(const std::int64_t* from) noexcept {
    return taut::load<Wide>(reinterpret_cast<const std::byte*>(from));
  }
  static void store(std::int64_t* to, const Wide& v) noexcept { std::memcpy(to, v.of, sizeof v); }
  static Wide add(const Wide& a, const Wide& b) noexcept { return each(a, b, std::plus<>()); }
  static Wide subtract(const Wide& a, const Wide& b) noexcept { return each(a, b, std::minus<>()); }
  static Wide all(std::int64_t value) noexcept {
    Wide v;
    std::fill_n(v.of, block_values, static_cast<std::uint64_t>(value));
    return v;
  }

  // Returns, for each integer, the integer `back` before it; `before` is the block before.
  template <std::size_t back>
  static Wide behind(const Wide& v, const Wide& before) noexcept {
    Wide result;
    for (std::size_t i = 0; i < block_values; ++i)
      result.of[i] = i < back ? before.of[block_values + i - back] : v.of[i - back];
    return result;
  }

  // Returns the sums of each integer and those before it at multiples of the predictor's lag.
  template <Predictor P>
  static Wide scan(Wide v) noexcept {
    for (std::size_t i = lag(P); i < block_values; ++i) v.of[i] += v.of[i - lag(P)];
    return v;
  }

  // Returns, for each place, the last integer at a multiple of the predictor's lag from it.
  template <Predictor P>
  static Wide last(const Wide& v) noexcept {
    Wide result;
    for (std::size_t i = 0; i < block_values; ++i) result.of[i] = v.of[block_values - lag(P) + i % lag(P)];
    return result;
  }

  class WideWriter {
   public:
    WideWriter(std::byte* out, Widths& widths) noexcept : out_(out), at_(out), width_(widths.of) {}
    void next(const Wide& v) noexcept {
      const auto d = std::bit_cast<std::array<std::int64_t, block_values>>(v);
      *width_ = static_cast<std::uint8_t>(block_width(d.data()));
      at_ = write_block(at_, d.data(), *width_++);
    }
    std::size_t bytes() const noexcept { return static_cast<std::size_t>(at_ - out_); }

   private:
    std::byte *out_, *at_;
    std::uint8_t* width_;
  };

  // Reads no byte beyond the last block.
  class WideReader {
   public:
    WideReader() = default;
    explicit WideReader(const WidePlanes& in) noexcept : left_(in.bytes), width_(in.widths->of) {}
    Wide next() noexcept {
      const unsigned width = *width_++;
      std::array<std::int64_t, block_values> d;
      if (left_.size() >= width + 8) {
        read_block(left_.data(), width, d.data());
      } else {
        std::byte padded[sizeof d + 8] = {};
        if (width > 0) std::memcpy(padded, left_.data(), width);
        read_block(padded, width, d.data());
      }
      left_ = left_.subspan(width);
      return std::bit_cast<Wide>(d);
    }

   private:
    ConstBytes left_;
    const std::uint8_t* width_ = nullptr;
  };
};

}  // namespace

const GeneralKernels& scalar_general_kernels() noexcept {
  static constexpr auto set = general_kernels<Portable>();
  return set;
}

}  // namespace taut::planes
