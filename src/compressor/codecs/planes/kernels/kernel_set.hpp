// The kernels of planes in portable code, one block of 8 values after the other: the set `scalar`, which is
// the reference, and every set that has no folder of its own here. Loops run over the whole chunk where they
// can, because compilers vectorise those.
#pragma once

#include "compressor/codecs/planes/format/block.hpp"
#include "compressor/codecs/planes/kernels/loops.hpp"
#include "compressor/codecs/planes/kernels/sources.hpp"
#include "compressor/values/add_values.hpp"
#include "compressor/values/reduction.hpp"

namespace taut::planes {
namespace {

// The integers, or the differences, of a chunk.
struct ChunkIntegers {
  alignas(64) std::int32_t data[chunk_values];
};

// Rounds to the nearest integer, ties to even, by an addition that shifts the fraction out of the mantissa.
// NaN and numbers from 2^22 on give integers outside the small range.
std::int32_t round_to_int(float s) noexcept {
  return static_cast<std::int32_t>(std::bit_cast<std::uint32_t>(s + 0x1.8p23f) -
                                   std::bit_cast<std::uint32_t>(0x1.8p23f));
}
std::int64_t round_to_int(double s) noexcept { return round_to_integer(s); }

// Computes differences from the integer before, or differences of these differences. Returns the first
// integer, for the base.
[[gnu::always_inline]] inline std::int32_t difference(const std::int32_t* q, std::size_t n,
                                                      Predictor predictor, ChunkIntegers& d) noexcept {
  const std::size_t back = predictor_distance(predictor);
  if (back == 0 || n == 0) {
    std::memcpy(d.data, q, n * sizeof *q);
    return 0;
  }
  for (std::size_t i = 0; i < back; ++i) d.data[i] = subtract_wrapping(q[i], q[0]);
  for (std::size_t i = back; i < n; ++i) d.data[i] = subtract_wrapping(q[i], q[i - back]);
  if (predictor == Predictor::second)
    for (std::size_t i = n; i-- > 1;) d.data[i] = subtract_wrapping(d.data[i], d.data[i - 1]);
  return q[0];
}

// Rounds a product to T. The rounding to bf16 is correct for all numbers but NaN, which no product is.
template <class T>
T decoded(ComputedIn<T> product) noexcept {
  if constexpr (std::is_same_v<T, bf16>) {
    const auto bits = std::bit_cast<std::uint32_t>(product);
    return bf16::of_bits(static_cast<std::uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16));
  } else {
    return static_cast<T>(product);
  }
}

void add_to(ChunkIntegers& total, const ChunkIntegers& d, std::size_t n) noexcept {
  for (std::size_t i = 0; i < n; ++i) total.data[i] = add_wrapping(total.data[i], d.data[i]);
}

// Returns the width of eight differences in zigzag form, which are combined two at a time.
unsigned zigzag_width(const std::uint32_t* zigzagged) noexcept {
  std::uint64_t pairs[block_values / 2];
  std::memcpy(pairs, zigzagged, sizeof pairs);
  const std::uint64_t any = pairs[0] | pairs[1] | pairs[2] | pairs[3];
  return static_cast<unsigned>(std::bit_width(static_cast<std::uint32_t>(any | any >> 32)));
}

// Writes the planes and widths of n differences.
void write_chunk(const ChunkIntegers& d, std::size_t n, PlanesOut& out) noexcept {
  alignas(64) std::uint32_t zigzagged[chunk_values];
  alignas(64) std::byte low[chunk_values];
  for (std::size_t i = 0; i < n; ++i) zigzagged[i] = zigzag(d.data[i]);
  for (std::size_t i = 0; i < n; ++i) low[i] = static_cast<std::byte>(d.data[i]);
  std::byte* at = out.payload;
  for (std::size_t i = 0; i < n; i += block_values) {
    const unsigned width = zigzag_width(zigzagged + i);
    at = width <= 8 ? write_planes(at, load<std::uint64_t>(low + i), width)
                    : write_block(at, d.data + i, width);
    out.widths.width[i / block_values] = static_cast<std::uint8_t>(width);
  }
  std::memset(out.widths.width + n / block_values, 0, chunk_blocks - n / block_values);
  out.bytes = static_cast<std::size_t>(at - out.payload);
}

// Reads n differences, or the integers of these.
void read_chunk(const PlanesIn& in, std::size_t n, ChunkIntegers& d) noexcept {
  const std::byte* at = in.payload;
  for (std::size_t i = 0; i < n; i += block_values)
    at = read_block(at, in.widths->width[i / block_values], d.data + i);
}

void read_integers(const PlanesIn& in, std::size_t n, Predictor predictor, ChunkIntegers& q) noexcept {
  const std::size_t back = predictor_distance(predictor);
  read_chunk(in, n, q);
  if (predictor == Predictor::second)
    for (std::size_t i = 1; i < n; ++i) q.data[i] = add_wrapping(q.data[i - 1], q.data[i]);
  for (std::size_t i = 0; i < back; ++i) q.data[i] = add_wrapping(in.base, q.data[i]);
  for (std::size_t i = back; back > 0 && i < n; ++i) q.data[i] = add_wrapping(q.data[i - back], q.data[i]);
}

// Operations of width_loops.hpp.
struct PortableWidths : BitmapLoops {
  static WidthSummary summarize(const Widths& widths) noexcept {
    WidthSummary summary;
    for (const std::uint8_t w : widths.width) {
      summary.sum += w;
      summary.coded += w != 0;
      summary.max_width = std::max<unsigned>(summary.max_width, w);
    }
    return summary;
  }

  static WidthCounts count(const Widths& widths, unsigned) noexcept {
    std::uint16_t all[256] = {};
    for (const std::uint8_t w : widths.width) ++all[w];
    WidthCounts counts;
    std::copy_n(all, counts.size(), counts.begin());
    return counts;
  }

  static std::uint64_t mask(const std::uint8_t* widths) noexcept {
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < 64; ++i) bits |= std::uint64_t{widths[i] != 0} << i;
    return bits;
  }

  static void write_entries(std::byte* to, const std::uint8_t* entries, std::size_t n, bool as_bytes) {
    if (as_bytes) std::memcpy(to, entries, n);
    for (std::size_t i = 0; !as_bytes && 2 * i < n; ++i)
      to[i] = static_cast<std::byte>(entries[2 * i] | entries[2 * i + 1] << 4);
  }

  static void read_entries(const std::byte* from, std::size_t n, bool as_bytes, std::uint8_t* entries) {
    if (as_bytes) std::memcpy(entries, from, n);
    for (std::size_t i = 0; !as_bytes && 2 * i < n; ++i) {
      entries[2 * i] = std::to_integer<std::uint8_t>(from[i] & std::byte{15});
      entries[2 * i + 1] = std::to_integer<std::uint8_t>(from[i] >> 4);
    }
  }

  static WidthsRead read_all_nibbles(const std::byte* table, Widths& widths) {
    read_entries(table, chunk_blocks, false, widths.width);
    return widths_read(summarize(widths), chunk_blocks / 2);
  }
};

// Operations of loops.hpp.
struct Portable {
  static constexpr std::size_t integers_per_load = chunk_values;
  // The n integers from `data` on.
  struct View {
    const std::int32_t* data;
    std::size_t n;
  };
  template <class T>
  using Values = ChunkValues<Portable, T>;
  using Residuals = ChunkResiduals;
  using Widths = PortableWidths;

  // Returns false if some integer leaves the small range: after 2^14 is added, bits beyond the 15th show it.
  template <class T>
  static bool quantise(const T* values, std::size_t groups, const Quantiser<T>& z, std::int32_t* q) noexcept {
    using Wide = decltype(round_to_int(ComputedIn<T>{}));
    std::make_unsigned_t<Wide> seen = 0;
    for (std::size_t i = 0; i < groups * group_values; ++i) {
      const Wide v = round_to_int(static_cast<ComputedIn<T>>(values[i]) * z.inverse);
      seen |= static_cast<std::make_unsigned_t<Wide>>(v) + (1u << small_bits);
      q[i] = static_cast<std::int32_t>(v);
    }
    return seen >> (small_bits + 1) == 0;
  }

  template <class Source>
  static bool write(const Source& source, Predictor predictor, std::size_t groups, PlanesOut& out) noexcept {
    ChunkIntegers room, d;
    const std::int32_t* const q = source.read(groups, room.data);
    if (q == nullptr) return false;
    out.base = difference(q, groups * group_values, predictor, d);
    write_chunk(d, groups * group_values, out);
    return true;
  }

  template <class Source>
  static bool add(const PlanesIn& in, const Source& source, Predictor predictor, std::size_t groups,
                  PlanesOut& out) noexcept {
    ChunkIntegers room, d;
    const std::int32_t* const q = source.read(groups, room.data);
    if (q == nullptr) return false;
    out.base = add_wrapping(in.base, difference(q, groups * group_values, predictor, d));
    read_chunk(in, groups * group_values, room);
    add_to(d, room, groups * group_values);
    write_chunk(d, groups * group_values, out);
    return true;
  }

  template <class Sink>
  static void read(const PlanesIn& in, std::size_t groups, Predictor predictor, Sink sink) noexcept {
    ChunkIntegers q;
    read_integers(in, groups * group_values, predictor, q);
    sink(0, load(q.data, groups));
  }

  static void sum(const PlanesIn* in, std::size_t n, std::size_t groups, PlanesOut& out) noexcept {
    ChunkIntegers total, other;
    read_chunk(in[0], groups * group_values, total);
    out.base = base_of_sum(in, n);
    for (std::size_t k = 1; k < n; ++k) {
      read_chunk(in[k], groups * group_values, other);
      add_to(total, other, groups * group_values);
    }
    write_chunk(total, groups * group_values, out);
  }

  static View load(const std::int32_t* from, std::size_t groups) noexcept {
    return {from, groups * group_values};
  }
  static void store(const View& q, std::int32_t* to) noexcept {
    if (q.data != to) std::memcpy(to, q.data, q.n * sizeof *to);
  }

  // Computes group by group, as no lag is shorter than a group, and returns the integers at `to`.
  static View predicted(const View& r, std::size_t begin, const EarlierIntegers& earlier,
                        std::int32_t* to) noexcept {
    for (std::size_t first = begin; first < begin + r.n; first += group_values) {
      const std::int32_t *const a = earlier.near + first, *const residual = r.data + (first - begin);
      std::int32_t group[group_values];
      if (earlier.far == nullptr) {
        for (std::size_t i = 0; i < group_values; ++i) group[i] = add_wrapping(residual[i], a[i]);
      } else {
        const std::int32_t *const b = earlier.far + first, *const both = earlier.both + first;
        for (std::size_t i = 0; i < group_values; ++i)
          group[i] = add_wrapping(residual[i], subtract_wrapping(add_wrapping(a[i], b[i]), both[i]));
      }
      std::memcpy(to + (first - begin), group, sizeof group);
    }
    return {to, r.n};
  }

  template <bool add, class T, class Step>
  static void put(const View& q, Step step, T* to) noexcept {
    for (std::size_t i = 0; i < q.n; ++i) {  // without a copy of a half, which GCC does not vectorise
      const auto product = static_cast<ComputedIn<T>>(q.data[i]) * step;
      if constexpr (add)
        to[i] = branchless_sum(to[i], decoded<T>(product));
      else
        to[i] = decoded<T>(product);
    }
  }

  // Computes with floats that round to the same halves as the integers: one sticky bit replaces the bits far
  // below the last bit of a half.
  template <class Half>
  static void put_large(const View& q, float step, Half* to) noexcept {
    for (std::size_t i = 0; i < q.n; ++i) {
      const std::int32_t v = q.data[i], jammed = (v & ~0xFF) | ((v & 0xFF) != 0 ? 0x80 : 0);
      to[i] = static_cast<Half>(static_cast<float>((v >= 1 << 24) | (v <= -(1 << 24)) ? jammed : v) * step);
    }
  }
};

}  // namespace

template <class Set>
const KernelSet& KernelSet::with() noexcept {
  static constexpr auto set = kernel_set<Set, Portable>(general_kernels_with<simd::Scalar>);
  return set;
}

}  // namespace taut::planes
