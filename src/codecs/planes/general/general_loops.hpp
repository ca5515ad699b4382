// Plain loops of the general path, which the compiler vectorises for each kernel set.
#pragma once

#include "codecs/planes/general/general_kernels.hpp"
#include "codecs/planes/record/runs.hpp"

namespace taut::planes {
namespace {  // one copy for each kernel set, compiled with its instructions

template <class T>
std::size_t quantise_wide(const T* values, std::size_t n, const Quantiser<T>& z, std::int64_t* q) noexcept {
  constexpr double range = std::int64_t{1} << wide_bits;
  const double scale = 1 / static_cast<double>(z.step), step = z.step, bound = z.bound;
  std::uint64_t coded = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double x = static_cast<double>(values[i]);
    const double shifted = x * scale + 0x1.8p52, integer = shifted - 0x1.8p52;
    const double error = x - static_cast<double>(static_cast<T>(integer * step));
    const std::uint64_t good =
        all_ones_if((integer < range) & (integer >= -range) & (std::abs(error) <= bound));
    const std::uint64_t bits = std::bit_cast<std::uint64_t>(shifted) - std::bit_cast<std::uint64_t>(0x1.8p52);
    q[i] = static_cast<std::int64_t>((bits & good) |
                                     (~good & static_cast<std::uint64_t>(escaped<std::int64_t>)));
    coded -= good;
  }
  return coded;
}

template <class T>
void dequantise_wide(const std::int64_t* q, std::size_t n, const Quantiser<T>& z, T* values) noexcept {
  const double step = z.step;
  for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<T>(static_cast<double>(q[i]) * step);
}

// ---- Sums of a few numbers

struct TwoSum {  // sum + error is a + b (Knuth)
  double sum, error;
};
inline TwoSum two_sum(double a, double b) noexcept {
  const double sum = a + b, part = sum - a;
  return {sum, (a - (sum - part)) + (b - part)};
}

struct Halves {  // high + low is x, 26 bits each (Veltkamp)
  double high, low;
};
inline Halves halves(double x) noexcept {
  const double shifted = 0x1.000002p27 * x, high = shifted - (shifted - x);
  return {high, x - high};
}

// Computes the product as two doubles (Dekker).
inline void multiply(Strip& strip, const double* multiples, double step, std::size_t places) noexcept {
  const Halves s = halves(step);
  for (std::size_t i = 0; i < places; ++i) {
    const double product = multiples[i] * step;
    const Halves m = halves(multiples[i]);
    strip.sum[i] = product;
    strip.error[i] = ((m.high * s.high - product) + m.high * s.low + m.low * s.high) + m.low * s.low;
    strip.lost[i] = 0;
  }
}

template <class T>
void add_strip(Strip& strip, const T* values, std::size_t places) noexcept {
  for (std::size_t i = 0; i < places; ++i) {
    const TwoSum total = two_sum(strip.sum[i], static_cast<double>(values[i]));
    const TwoSum errors = two_sum(strip.error[i], total.error);
    strip.sum[i] = total.sum;
    strip.error[i] = errors.sum;
    strip.lost[i] += std::abs(errors.error);
  }
}

// Rounds the sums. sum + error is first brought to the form high + low with |low| <= ulp(high) / 2. Types
// shorter than double take that double rounded to odd. Double takes high, unless the lost part could carry
// low across half an ulp.
template <class T>
bool round_strip(Strip& strip, std::size_t places, T* values) noexcept {
  std::uint64_t all = ~std::uint64_t{0};
  for (std::size_t i = 0; i < places; ++i) {
    const TwoSum x = two_sum(strip.sum[i], strip.error[i]);
    const double high = std::abs(x.sum), low = std::abs(x.error), lost = 2 * strip.lost[i];
    std::uint64_t certain = all_ones_if(lost == 0);
    if constexpr (sizeof(T) == 8) {
      const double next = std::bit_cast<double>(std::bit_cast<std::uint64_t>(high) - 1);
      certain |= all_ones_if((low + lost) * (1 + 0x1p-50) < (high - next) / 2);
      values[i] = x.sum;
    } else {
      const std::uint64_t inexact = all_ones_if(low > 0), beyond = all_ones_if((x.error < 0) != (x.sum < 0));
      const std::uint64_t bits = std::bit_cast<std::uint64_t>(x.sum) + (inexact & beyond);  // minus 1
      values[i] = static_cast<T>(std::bit_cast<double>(bits | (inexact & 1)));
      certain |= all_ones_if(low > lost);
    }
    certain &= all_ones_if(high <= std::numeric_limits<double>::max());
    strip.certain[i] = certain;
    all &= certain;
  }
  return all != 0;
}

// ---- Runs

// Appends the positions of the set bits of mask word `w`, four at a time without a branch.
inline std::uint16_t* append_places(std::uint64_t bits, std::size_t w, std::uint16_t* to) noexcept {
  std::uint16_t* const end = to + std::popcount(bits);
  while (bits != 0) {
    for (int k = 0; k < 4; ++k) {
      to[k] = static_cast<std::uint16_t>(64 * w + static_cast<std::size_t>(std::countr_zero(bits)));
      bits &= bits - 1;
    }
    to += 4;
  }
  return end;
}

// Writes the runs of the marked values. `repeats` marks values that equal the value before, bit for bit.
// `fill` is std::fill.
template <class T, class Int, class Fill>
std::size_t take_runs(const T* values, const Marks& marks, const Marks& repeats, std::size_t most, Int* q,
                      std::byte* out, Fill fill) noexcept {
  constexpr std::size_t n_words = chunk_values / 64;
  std::uint64_t continues[n_words + 1], before = 0;
  std::size_t runs = 0;
  for (std::size_t w = 0; w < n_words; ++w) {
    continues[w] = marks.of[w] & (marks.of[w] << 1 | before >> 63) & repeats.of[w];
    before = marks.of[w];
    runs += static_cast<std::size_t>(std::popcount(marks.of[w] & ~continues[w]));
  }
  if (runs > most) return runs;
  continues[n_words] = 0;

  std::uint16_t starts[chunk_values + 4], lasts[chunk_values + 4], *start = starts, *last = lasts;
  for (std::size_t w = 0; w < n_words; ++w) {
    start = append_places(marks.of[w] & ~continues[w], w, start);
    last = append_places(marks.of[w] & ~(continues[w] >> 1 | continues[w + 1] << 63), w, last);
  }
  for (std::size_t r = 0; r < runs; ++r) {
    const std::size_t first = starts[r], length = lasts[r] + 1u - first;
    const Int hold = first == 0 ? 0 : q[first - 1];
    fill(q + first, length, hold);
    const auto place = static_cast<std::uint32_t>(first << 16 | length);
    out = write_run(out, Run<T>{place, hold, values[first]}, sizeof(Int) == 8);
  }
  return runs;
}

}  // namespace
}  // namespace taut::planes
