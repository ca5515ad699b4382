// The portable kernels of the general path.
#include "codecs/planes/general/general_kernels.hpp"

#include "codecs/planes/format/block.hpp"
#include "codecs/planes/general/general_loops.hpp"

namespace taut::planes {
namespace {

template <class Marked>
void mark(std::size_t n, Marks& marks, Marked marked) noexcept {
  for (std::size_t first = 0; first < chunk_values; first += 64) {
    std::uint64_t bits = 0;
    for (std::size_t i = first; i < std::min(n, first + 64); ++i)
      bits |= std::uint64_t{marked(i)} << (i - first);
    marks.of[first / 64] = bits;
  }
}

template <class Int>
void mark_escaped(const Int* q, std::size_t n, Marks& marks) noexcept {
  mark(n, marks, [=](std::size_t i) { return q[i] == escaped<Int>; });
}

template <class T>
void mark_repeats(const T* values, std::size_t n, Marks& marks) noexcept {
  mark(n, marks, [=](std::size_t i) { return i > 0 && same_bits(values[i], values[i - 1]); });
}

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

template <class T>
Quantised quantise(const T* values, std::size_t groups, const Quantiser<T>& z, std::int32_t* q,
                   Marks& marks) noexcept {
  const bool complete = quantise_large(values, groups, z, q);
  mark_escaped(q, groups * group_values, marks);
  std::int32_t seen = 0;
  for (std::size_t i = 0; i < groups * group_values; ++i)
    seen |= q[i] == escaped<std::int32_t> ? 0 : q[i] ^ (q[i] >> 31);
  return {complete, seen >> small_bits == 0};
}

template <class T, class Int>
std::size_t take_runs(const T* values, std::size_t n, const Marks& marks, std::size_t most, Int* q,
                      std::byte* out) noexcept {
  Marks repeats;
  mark_repeats(values, n, repeats);
  return take_runs(values, marks, repeats, most, q, out,
                   [](Int* to, std::size_t length, Int hold) { std::fill_n(to, length, hold); });
}

template <class T>
bool all_below(const T* values, std::size_t n, ComputedIn<T> limit) noexcept {
  bool all = true;
  for (std::size_t i = 0; i < n; ++i) all &= std::abs(static_cast<ComputedIn<T>>(values[i])) <= limit;
  return all;
}

template <class T>
void put(T* values, std::size_t n, const Marks& marks, T value) noexcept {
  for (std::size_t first = 0; first < n; first += 64) {
    for (std::uint64_t left = marks.of[first / 64]; left != 0; left &= left - 1)
      values[first + static_cast<std::size_t>(std::countr_zero(left))] = value;
  }
}

using WideBlock = std::int64_t[block_values];

std::int64_t plus(std::int64_t a, std::int64_t b) noexcept {  // modulo 2^64
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
std::int64_t minus(std::int64_t a, std::int64_t b) noexcept {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}

// Writes a block and its width; returns the end of the block.
std::byte* write_wide(std::byte* at, const WideBlock& d, std::uint8_t& width) noexcept {
  width = static_cast<std::uint8_t>(block_width(d));
  return write_block(at, d, width);
}

// Reads a sequence of blocks, and no byte beyond the last block.
class WideReader {
 public:
  explicit WideReader(const WidePlanes& in) : left_(in.bytes), width_(in.widths->of) {}
  void next(WideBlock& d) noexcept {
    const unsigned width = *width_++;
    if (left_.size() >= width + 8) {
      read_block(left_.data(), width, d);
    } else {
      std::byte padded[sizeof d + 8] = {};
      if (width > 0) std::memcpy(padded, left_.data(), width);
      read_block(padded, width, d);
    }
    left_ = left_.subspan(width);
  }

 private:
  ConstBytes left_;
  const std::uint8_t* width_;
};

std::size_t pack(const std::int64_t* q, std::size_t blocks, Predictor predictor, std::byte* out,
                 Widths& widths) noexcept {
  std::byte* at = out;
  const std::size_t back = lag(predictor);
  std::int64_t previous[2] = {q[0], q[0]}, previous_difference = 0;
  for (std::size_t b = 0; b < blocks; ++b) {
    WideBlock d;
    std::memcpy(d, q + b * block_values, sizeof d);
    for (std::size_t i = 0; back > 0 && i < block_values; ++i)
      d[i] = minus(d[i], std::exchange(previous[i % back], d[i]));
    for (std::size_t i = 0; predictor == Predictor::second && i < block_values; ++i)
      d[i] = minus(d[i], std::exchange(previous_difference, d[i]));
    at = write_wide(at, d, widths.of[b]);
  }
  return static_cast<std::size_t>(at - out);
}

void unpack_add(const WidePlanes& in, std::size_t blocks, Predictor predictor, std::int64_t* q) noexcept {
  WideReader reader(in);
  const std::size_t back = lag(predictor);
  std::int64_t previous[2] = {in.base, in.base}, difference = 0;
  for (std::size_t b = 0; b < blocks; ++b) {
    WideBlock d;
    reader.next(d);
    for (std::size_t i = 0; i < block_values; ++i) {
      if (predictor == Predictor::second) d[i] = difference = plus(difference, d[i]);
      if (back > 0) d[i] = previous[i % back] = plus(previous[i % back], d[i]);
      q[b * block_values + i] = plus(q[b * block_values + i], d[i]);
    }
  }
}

std::size_t sum(const WidePlanes* in, std::size_t n, std::size_t blocks, std::byte* out,
                Widths& widths) noexcept {
  alignas(64) std::int64_t total[chunk_values] = {};
  for (std::size_t k = 0; k < n; ++k) unpack_add(in[k], blocks, Predictor::none, total);
  return pack(total, blocks, Predictor::none, out, widths);
}

template <class T>
constexpr GeneralValueKernels<T> value_kernels{quantise<T>,
                                               quantise_wide<T>,
                                               dequantise_wide<T>,
                                               all_below<T>,
                                               take_runs<T, std::int32_t>,
                                               take_runs<T, std::int64_t>,
                                               put<T>,
                                               add_strip<T>,
                                               round_strip<T>};

}  // namespace

const GeneralKernels& scalar_general_kernels() noexcept {
  static constexpr GeneralKernels set{
      {value_kernels<float>, value_kernels<double>, value_kernels<f16>, value_kernels<bf16>},
      mark_repeats<std::int32_t>,
      mark_repeats<std::int64_t>,
      mark_escaped<std::int64_t>,
      multiply,
      pack,
      unpack_add,
      sum};
  return set;
}

}  // namespace taut::planes
