// The kernels of the general path, built from the operations of an instruction set, `Isa`. Portable in
// general_kernels.cpp and PortableWide in wide_block.hpp show these operations. The compiler vectorises loops
// without Isa. Sets with conversions of halves have these operations as well:
//
//   halves_per_call                      number of halves that the next two process
//   add_halves(values, operand)          values <- values + operand
//   decoded_halves(values, z, to)        to <- as_decoded(values), without snapping or packed integers
#pragma once

#include "compressor/codecs/planes/format/runs.hpp"
#include "compressor/codecs/planes/kernels/general_kernels.hpp"
#include "compressor/values/add_values.hpp"

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

// Integer of a value, and `good`: all ones if it is in the range of T and decodes within the bound, else 0.
struct Rounded {
  double integer;
  std::uint64_t good;
};
template <class T>
Rounded rounded_within(double x, double scale, double step, double bound) noexcept {
  constexpr double range = std::int64_t{1} << value_bits<T>;
  const double integer = x * scale + 0x1.8p52 - 0x1.8p52;
  const double error = x - static_cast<double>(static_cast<T>(integer * step));
  return {integer, all_ones_if((integer < range) & (integer >= -range) & (std::abs(error) <= bound))};
}

// Returns how many of n values the operations on halves process: 0 if T is not a half or the set lacks these
// operations. The loop below them processes the rest.
template <class Isa, class T>
constexpr std::size_t vectorised_halves(std::size_t n) noexcept {
  if constexpr (is_half<T> && requires { Isa::halves_per_call; })
    return n / Isa::halves_per_call * Isa::halves_per_call;
  return 0;
}

// Returns the decoded forms of values that may have no integer. Halves are computed in float, where all
// products with a power of two are exact.
template <class Isa, class T>
void decoded_forms(const T* values, std::size_t n, const Quantiser<T>& z, T* to) noexcept {
  using Bits = BitsOf<T>;
  const auto choose = [](std::uint64_t all_ones, T yes, T no) {
    const auto mask = static_cast<Bits>(all_ones);
    return std::bit_cast<T>(
        static_cast<Bits>((std::bit_cast<Bits>(yes) & mask) | (std::bit_cast<Bits>(no) & ~mask)));
  };
  if (z.snaps || z.exact_bits) {
    for (std::size_t i = 0; i < n; ++i) to[i] = as_decoded(values[i], z);
  } else if constexpr (is_half<T>) {
    const std::size_t first = vectorised_halves<Isa, T>(n);
    if constexpr (requires { Isa::halves_per_call; })
      for (std::size_t i = 0; i < first; i += Isa::halves_per_call)
        Isa::decoded_halves(values + i, z, to + i);
    for (std::size_t i = first; i < n; ++i) {
      const float integer = static_cast<float>(values[i]) * z.inverse + 0x1.8p23f - 0x1.8p23f;
      const std::uint64_t good = all_ones_if((integer < 0x1p22f) & (integer >= -0x1p22f));
      to[i] = choose(good, static_cast<T>(integer * z.step), values[i]);
    }
  } else {
    const double scale = 1 / static_cast<double>(z.step), step = z.step, bound = z.bound;
    for (std::size_t i = 0; i < n; ++i) {
      const Rounded q = rounded_within<T>(static_cast<double>(values[i]), scale, step, bound);
      T decoded = choose(q.good, static_cast<T>(q.integer * step), values[i]);
      if constexpr (sizeof(T) == 4) {  // small integers are quantised as in a small chunk
        const float integer = values[i] * z.inverse + 0x1.8p23f - 0x1.8p23f;
        const std::uint64_t is_small = all_ones_if((integer < 0x1p14f) & (integer >= -0x1p14f));
        decoded = choose(is_small, integer * z.step, decoded);
      }
      to[i] = decoded;
    }
  }
}

// ---- Sums of a few numbers

// A sum of two numbers without loss: sum + error = a + b (Knuth).
struct TwoSum {
  double sum, error;
};
inline TwoSum two_sum(double a, double b) noexcept {
  const double sum = a + b, part = sum - a;
  return {sum, (a - (sum - part)) + (b - part)};
}

// A double as high + low, 26 bits each (Veltkamp).
struct SplitDouble {
  double high, low;
};
inline SplitDouble split(double x) noexcept {
  const double shifted = 0x1.000002p27 * x, high = shifted - (shifted - x);
  return {high, x - high};
}

// Computes multiples * step without loss, as two doubles (Dekker).
inline void multiply(CompensatedSums& compensated, const double* multiples, double step,
                     std::size_t positions) noexcept {
  const SplitDouble s = split(step);
  for (std::size_t i = 0; i < positions; ++i) {
    const double product = multiples[i] * step;
    const SplitDouble m = split(multiples[i]);
    compensated.sum[i] = product;
    compensated.error[i] = ((m.high * s.high - product) + m.high * s.low + m.low * s.high) + m.low * s.low;
    compensated.lost[i] = 0;
  }
}

template <class T>
void add_compensated(CompensatedSums& compensated, const T* values, std::size_t positions) noexcept {
  for (std::size_t i = 0; i < positions; ++i) {
    const TwoSum total = two_sum(compensated.sum[i], static_cast<double>(values[i]));
    const TwoSum errors = two_sum(compensated.error[i], total.error);
    compensated.sum[i] = total.sum;
    compensated.error[i] = errors.sum;
    compensated.lost[i] += std::abs(errors.error);
  }
}

// Rounds the sums. sum + error is first brought to the form high + low with |low| <= ulp(high) / 2. A double
// is rounded to high, which is certain unless the lost part could carry low across half an ulp. Shorter types
// round high + low to odd as a double, and then to the type.
template <class T>
bool round_compensated(CompensatedSums& compensated, std::size_t positions, T* values) noexcept {
  std::uint64_t all = ~std::uint64_t{0};
  for (std::size_t i = 0; i < positions; ++i) {
    const TwoSum x = two_sum(compensated.sum[i], compensated.error[i]);
    const double high = std::abs(x.sum), low = std::abs(x.error), lost = 2 * compensated.lost[i];
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
    compensated.certain[i] = certain;
    all &= certain;
  }
  return all != 0;
}

// ---- Masks of values

// Calls visit(first, count) for each word of a mask: `count` values from position `first` on. The compiler
// sees the constant 64 for all words but the last.
template <class Visit>
void for_mask_words(std::size_t n, Visit visit) noexcept {
  std::size_t first = 0;
  for (; first + 64 <= n; first += 64) visit(first, 64);
  if (first < n) visit(first, n - first);
}

// Sets each word of a mask to word(first, count), and the words behind them to 0.
template <class Word>
void mark(std::size_t n, ChunkMask& marks, Word word) noexcept {
  for_mask_words(n, [&](std::size_t first, std::size_t left)
                        [[gnu::always_inline]] { marks.words[first / 64] = word(first, left); });
  std::fill(marks.words + (n + 63) / 64, std::end(marks.words), 0);
}

template <class Isa, class Int>
void mark_escaped(const Int* q, std::size_t n, ChunkMask& marks) noexcept {
  alignas(64) Int wanted[64];
  std::fill_n(wanted, 64, escaped<Int>);
  mark(n, marks, [&](std::size_t first, std::size_t left) { return Isa::equal(q + first, wanted, left); });
}

// Returns the bits of the values [first, first + n) that equal the value before, bit for bit. The first value
// of the chunk equals none.
template <class Isa, class T>
[[gnu::always_inline]] inline std::uint64_t repeats(const T* values, std::size_t first,
                                                    std::size_t n) noexcept {
  const T* const at = values + first;
  return first == 0 ? Isa::equal(at + 1, at, n - 1) << 1 : Isa::equal(at, at - 1, n);
}

template <class Isa, class T>
void mark_repeats(const T* values, std::size_t n, ChunkMask& marks) noexcept {
  mark(n, marks, [=](std::size_t first, std::size_t left) [[gnu::always_inline]] {
    return repeats<Isa>(values, first, left);
  });
}

template <class Isa, class T>
bool all_below(const T* values, std::size_t n, ComputedIn<T> limit) noexcept {
  for (std::size_t i = 0; i < n; i += 64)
    if (Isa::beyond(values + i, std::min<std::size_t>(n - i, 64), limit) != 0) return false;
  return true;
}

// Writes the decoded forms of n <= 64 values, of which `out` already holds the bits. `exact`: bits of the
// values without an integer. Up to 8 others, as among random values, are decoded one by one.
template <class Isa, class T>
void write_few_forms(const T* x, std::size_t n, std::uint64_t exact, const Quantiser<T>& z,
                     std::byte* out) noexcept {
  std::uint64_t left = ~exact & (~std::uint64_t{0} >> (64 - n));
  if (z.snaps || std::popcount(left) > 8) {
    alignas(64) T decoded[64];
    decoded_forms<Isa>(x, n, z, decoded);
    std::memcpy(out, decoded, n * sizeof(T));
    return;
  }
  for (; left != 0; left &= left - 1) {
    const auto i = static_cast<std::size_t>(std::countr_zero(left));
    store(out + i * sizeof(T), as_decoded(x[i], z));
  }
}

template <class Isa, class T>
std::size_t write_forms(const T* values, std::size_t n, ComputedIn<T> limit, const Quantiser<T>& z,
                        std::byte* out) noexcept {
  std::size_t lone = 0;
  for_mask_words(n, [&](std::size_t first, std::size_t left) [[gnu::always_inline]] {
    const T* const x = values + first;
    std::byte* const to = out + first * sizeof(T);
    const std::uint64_t beyond = Isa::beyond(x, left, limit);
    lone += static_cast<std::size_t>(std::popcount(beyond & ~repeats<Isa>(values, first, left)));
    std::memcpy(to, x, left * sizeof(T));
    if (z.snaps || ~beyond << (64 - left) != 0) write_few_forms<Isa>(x, left, beyond, z, to);
  });
  return lone;
}

// ---- Quantisation for the large range, a group at a time

// Masks of a group: the values that have an integer, and those whose integer is beyond the small range.
struct GroupMasks {
  std::uint64_t coded, large;
};

// Returns true if all values of a group repeat the value before the group.
template <class Isa, class T>
bool repeats_all(const T* x) noexcept {
  return same_bits(x[0], x[-1]) && same_bits(x[group_values - 1], x[0]) &&
         Isa::equal(x, x - 1, group_values) == ~std::uint64_t{0};
}

// Quantises by groups, for kernel sets with registers. Isa::quantise_group(values, z, q) -> GroupMasks writes
// the integers of a group; a value without an integer may get any.
template <class Isa, class T>
QuantisedChunk quantise_groups(const T* values, std::size_t groups, const Quantiser<T>& z, std::int32_t* q,
                               ChunkMask& marks) noexcept {
  std::uint64_t any_exact = 0, any_large = 0;
  for (std::size_t g = 0; g < groups; ++g, values += group_values, q += group_values) {
    if (g > 0 && repeats_all<Isa>(values)) {
      std::fill_n(q, group_values, q[-1]);
      marks.words[g] = all_ones_if(marks.words[g - 1] >> 63 != 0);
      continue;
    }
    const GroupMasks masks = Isa::quantise_group(values, z, q);
    marks.words[g] = ~masks.coded;
    any_exact |= ~masks.coded;
    any_large |= masks.large;
  }
  std::fill(marks.words + groups, std::end(marks.words), 0);
  return {any_exact == 0, any_large == 0};
}

template <class Isa, class T>
void put(T* values, std::size_t n, const ChunkMask& marks, T value) noexcept {
  for (std::size_t i = 0; i < n; i += 64)
    if (marks.words[i / 64] != 0) Isa::put(values + i, marks.words[i / 64], value);
}

template <class T>
void repeat(std::int32_t q, T value, std::size_t n, std::int32_t* to, T* values) noexcept {
  for (std::size_t i = 0; i < n; ++i) to[i] = q;
  fill(values, n, value);
}

template <class Isa, class T>
void add(T* __restrict values, const T* __restrict operand, std::size_t n) noexcept {
  const std::size_t first = vectorised_halves<Isa, T>(n);
  if constexpr (is_half<T> && requires { Isa::halves_per_call; })
    for (std::size_t i = 0; i < first; i += Isa::halves_per_call) Isa::add_halves(values + i, operand + i);
  add_values(values + first, operand + first, n - first);
}

// ---- Runs

// Appends the positions of the set bits of mask word `w`, four at a time without a branch.
inline std::uint16_t* append_positions(std::uint64_t bits, std::size_t w, std::uint16_t* to) noexcept {
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

// Writes the runs of the marked values. `continues`: marked values that equal the marked value before them,
// and therefore extend its run.
template <class Isa, class T, class Int>
std::size_t take_runs(const T* values, std::size_t n, const ChunkMask& marks, std::size_t max_runs, Int* q,
                      std::byte* out) noexcept {
  constexpr std::size_t n_words = chunk_values / 64;
  std::uint64_t continues[n_words + 1], before = 0;
  std::size_t runs = 0;
  for (std::size_t w = 0; w < n_words; ++w) {
    continues[w] = marks.words[w] & (marks.words[w] << 1 | before >> 63);
    if (continues[w] != 0)
      continues[w] &= repeats<Isa>(values, 64 * w, std::min<std::size_t>(n - 64 * w, 64));
    before = marks.words[w];
    runs += static_cast<std::size_t>(std::popcount(marks.words[w] & ~continues[w]));
  }
  if (runs > max_runs) return runs;
  continues[n_words] = 0;

  std::uint16_t starts[chunk_values + 4], lasts[chunk_values + 4], *start = starts, *last = lasts;
  for (std::size_t w = 0; w < n_words; ++w) {
    start = append_positions(marks.words[w] & ~continues[w], w, start);
    last = append_positions(marks.words[w] & ~(continues[w] >> 1 | continues[w + 1] << 63), w, last);
  }
  for (std::size_t r = 0; r < runs; ++r) {
    const std::size_t first = starts[r], length = lasts[r] + 1u - first;
    const Int hold = first == 0 ? 0 : q[first - 1];
    Isa::fill(q + first, length, hold);
    const auto place = static_cast<std::uint32_t>(first << 16 | length);
    out = write_run(out, Run<T>{place, hold, values[first]}, sizeof(Int) == 8);
  }
  return runs;
}

// ---- Planes of 64-bit integers, a block at a time

template <class Isa, Predictor P>
std::size_t pack_wide(const std::int64_t* q, std::size_t blocks, std::byte* out, Widths& widths) noexcept {
  typename Isa::WideWriter writer(out, widths);
  typename Isa::Wide before = Isa::splat(q[0]), difference_before = Isa::splat(std::int64_t{0});
  for (std::size_t b = 0; b < blocks; ++b) {
    const typename Isa::Wide v = Isa::load(q + b * block_values);
    typename Isa::Wide d = v;
    if constexpr (P != Predictor::none)
      d = Isa::subtract(v, Isa::template lagged<predictor_distance(P)>(v, before));
    before = v;
    if constexpr (P == Predictor::second) {
      const typename Isa::Wide first = d;
      d = Isa::subtract(first, Isa::template lagged<1>(first, difference_before));
      difference_before = first;
    }
    writer.next(d);
  }
  return writer.bytes();
}

template <class Isa>
std::size_t pack_wide(const std::int64_t* q, std::size_t blocks, Predictor predictor, std::byte* out,
                      Widths& widths) noexcept {
  return with_predictor(predictor, [&]<Predictor P>() { return pack_wide<Isa, P>(q, blocks, out, widths); });
}

// Returns the running sums of a block. `carry`: the last integers before the block, repeated over all lanes;
// on return, the last integers of the block.
template <class Isa, Predictor P>
typename Isa::Wide running_sums(const typename Isa::Wide& v, typename Isa::Wide& carry) noexcept {
  const typename Isa::Wide sums = Isa::add(Isa::template prefix_sum<P>(v), carry);
  carry = Isa::template broadcast_last<P>(sums);
  return sums;
}

template <class Isa, Predictor P>
void unpack_wide(const WidePlanes& in, std::size_t blocks, std::int64_t* q) noexcept {
  typename Isa::WideReader reader(in);
  typename Isa::Wide carry = Isa::splat(in.base), carried_difference = Isa::splat(std::int64_t{0});
  for (std::size_t b = 0; b < blocks; ++b, q += block_values) {
    typename Isa::Wide v = reader.next();
    if constexpr (P == Predictor::second) v = running_sums<Isa, P>(v, carried_difference);
    if constexpr (P != Predictor::none) v = running_sums<Isa, P>(v, carry);
    Isa::store(q, Isa::add(Isa::load(q), v));
  }
}

template <class Isa>
void unpack_add_wide(const WidePlanes& in, std::size_t blocks, Predictor predictor,
                     std::int64_t* q) noexcept {
  with_predictor(predictor, [&]<Predictor P>() { unpack_wide<Isa, P>(in, blocks, q); });
}

template <class Isa>
std::size_t sum_wide(const WidePlanes* in, std::size_t n, std::size_t blocks, std::byte* out,
                     Widths& widths) noexcept {
  typename Isa::WideReader readers[max_operands];
  for (std::size_t k = 0; k < n; ++k) readers[k] = typename Isa::WideReader(in[k]);
  typename Isa::WideWriter writer(out, widths);
  for (std::size_t b = 0; b < blocks; ++b) {
    typename Isa::Wide d = readers[0].next();
    for (std::size_t k = 1; k < n; ++k) d = Isa::add(d, readers[k].next());
    writer.next(d);
  }
  return writer.bytes();
}

template <class Isa>
constexpr GeneralKernels general_kernels() {
  return {ValueTypes::each([]<class T>() {
            return GeneralValueKernels<T>{Isa::template quantise<T>,
                                          quantise_wide<T>,
                                          dequantise_wide<T>,
                                          decoded_forms<Isa, T>,
                                          all_below<Isa, T>,
                                          write_forms<Isa, T>,
                                          take_runs<Isa, T, std::int32_t>,
                                          take_runs<Isa, T, std::int64_t>,
                                          repeat<T>,
                                          add<Isa, T>,
                                          put<Isa, T>,
                                          add_compensated<T>,
                                          round_compensated<T>};
          }),
          mark_repeats<Isa, std::int32_t>,
          mark_repeats<Isa, std::int64_t>,
          mark_escaped<Isa, std::int64_t>,
          multiply,
          pack_wide<Isa>,
          unpack_add_wide<Isa>,
          sum_wide<Isa>};
}

}  // namespace
}  // namespace taut::planes
