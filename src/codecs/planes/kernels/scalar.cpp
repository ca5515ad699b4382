// The reference kernels in portable code, one block of 8 values after the other.
#include "codecs/planes/format/block.hpp"
#include "codecs/planes/general/general_kernels.hpp"
#include "codecs/planes/general/large_range.hpp"
#include "codecs/planes/kernels/kernels.hpp"
#include "codecs/planes/lags/lag_loops.hpp"
#include "codecs/planes/packed_loops.hpp"
#include "core/reduction.hpp"

namespace taut::planes {
namespace {

// The integers, or differences, of a chunk. Loops run over the whole chunk, because compilers vectorise
// those.
struct Integers {
  alignas(64) std::int32_t of[chunk_values];
};

// Rounds to nearest even by an addition that shifts the fraction out of the mantissa. NaN and values beyond
// the reach of the addition give integers far outside the small range.
std::int32_t round_to_int(float s) noexcept {
  return static_cast<std::int32_t>(std::bit_cast<std::uint32_t>(s + 0x1.8p23f) -
                                   std::bit_cast<std::uint32_t>(0x1.8p23f));
}
std::int64_t round_to_int(double s) noexcept { return round_to_integer(s); }

// Returns false if some integer leaves the small range: after 2^14 is added, bits beyond the 15th show it.
template <class T>
bool quantise(const T* values, std::size_t n, ComputedIn<T> inverse, std::int32_t* q) noexcept {
  using Wide = decltype(round_to_int(ComputedIn<T>{}));
  std::make_unsigned_t<Wide> seen = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const Wide v = round_to_int(static_cast<ComputedIn<T>>(values[i]) * inverse);
    seen |= static_cast<std::make_unsigned_t<Wide>>(v) + (1u << small_bits);
    q[i] = static_cast<std::int32_t>(v);
  }
  return seen >> (small_bits + 1) == 0;
}

// Computes differences from the integer before, or differences of these differences. Returns the first
// integer, for the base.
[[gnu::always_inline]] inline std::int32_t difference(const std::int32_t* q, std::size_t n,
                                                      Predictor predictor, Integers& d) noexcept {
  const std::size_t back = lag(predictor);
  if (back == 0) {
    std::memcpy(d.of, q, n * sizeof *q);
    return 0;
  }
  for (std::size_t i = 0; i < back; ++i) d.of[i] = subtract_wrapping(q[i], q[0]);
  for (std::size_t i = back; i < n; ++i) d.of[i] = subtract_wrapping(q[i], q[i - back]);
  if (predictor == Predictor::second)
    for (std::size_t i = n; i-- > 1;) d.of[i] = subtract_wrapping(d.of[i], d.of[i - 1]);
  return q[0];
}

// Returns the width of eight differences with folded signs; the code combines them two at a time.
unsigned folded_width(const std::uint32_t* folded) noexcept {
  std::uint64_t pairs[block_values / 2];
  std::memcpy(pairs, folded, sizeof pairs);
  const std::uint64_t any = pairs[0] | pairs[1] | pairs[2] | pairs[3];
  return static_cast<unsigned>(std::bit_width(static_cast<std::uint32_t>(any | any >> 32)));
}

void write(const Integers& d, std::size_t n, PlanesOut& out) noexcept {
  alignas(64) std::uint32_t folded[chunk_values];
  alignas(64) std::byte low[chunk_values];
  for (std::size_t i = 0; i < n; ++i) folded[i] = fold_sign(d.of[i]);
  for (std::size_t i = 0; i < n; ++i) low[i] = static_cast<std::byte>(d.of[i]);
  std::byte* at = out.payload;
  for (std::size_t i = 0; i < n; i += block_values) {
    const unsigned width = folded_width(folded + i);
    at =
        width <= 8 ? write_planes(at, load<std::uint64_t>(low + i), width) : write_block(at, d.of + i, width);
    out.widths.of[i / block_values] = static_cast<std::uint8_t>(width);
  }
  std::memset(out.widths.of + n / block_values, 0, chunk_blocks - n / block_values);
  out.bytes = static_cast<std::size_t>(at - out.payload);
}

void read(const PlanesIn& in, std::size_t n, Integers& d) noexcept {
  const std::byte* at = in.payload;
  for (std::size_t i = 0; i < n; i += block_values)
    at = read_block(at, in.widths->of[i / block_values], d.of + i);
}

void read_integers(const PlanesIn& in, std::size_t n, Predictor predictor, Integers& q) noexcept {
  read(in, n, q);
  const std::size_t back = lag(predictor);
  if (back == 0) return;
  if (predictor == Predictor::second)
    for (std::size_t i = 1; i < n; ++i) q.of[i] = add_wrapping(q.of[i - 1], q.of[i]);
  for (std::size_t i = 0; i < back; ++i) q.of[i] = add_wrapping(in.base, q.of[i]);
  for (std::size_t i = back; i < n; ++i) q.of[i] = add_wrapping(q.of[i - back], q.of[i]);
}

template <class T>
bool quantise(const T* values, std::size_t groups, const Quantiser<T>& z, std::int32_t* q) noexcept {
  return quantise(values, groups * group_values, z.inverse, q);
}

template <class T>
bool encode(const T* values, std::size_t groups, const Quantiser<T>& z, PlanesOut& out) noexcept {
  const std::size_t n = groups * group_values;
  Integers q, d;
  if (!quantise(values, n, z.inverse, q.of)) return false;
  out.base = difference(q.of, n, z.predictor, d);
  write(d, n, out);
  return true;
}

template <class T>
bool accumulate(const PlanesIn& in, const T* values, std::size_t groups, const Quantiser<T>& z,
                PlanesOut& out) noexcept {
  const std::size_t n = groups * group_values;
  Integers q, d;
  if (!quantise(values, n, z.inverse, q.of)) return false;
  out.base = add_wrapping(in.base, difference(q.of, n, z.predictor, d));
  read(in, n, q);
  for (std::size_t i = 0; i < n; ++i) d.of[i] = add_wrapping(d.of[i], q.of[i]);
  write(d, n, out);
  return true;
}

template <class T>
T multiple(std::int32_t q, const Quantiser<T>& z) noexcept {
  return static_cast<T>(static_cast<ComputedIn<T>>(q) * z.step);
}

template <class T>
void decode(const PlanesIn& in, std::size_t groups, const Quantiser<T>& z, T* values) noexcept {
  Integers q;
  read_integers(in, groups * group_values, z.predictor, q);
  for (std::size_t i = 0; i < groups * group_values; ++i) values[i] = multiple(q.of[i], z);
}

template <class T>
void decode_add(const PlanesIn& in, std::size_t groups, const Quantiser<T>& z, T* values) noexcept {
  Integers q;
  read_integers(in, groups * group_values, z.predictor, q);
  for (std::size_t i = 0; i < groups * group_values; ++i)
    values[i] = combine(Reduction::sum, values[i], multiple(q.of[i], z));
}

void pack(const std::int32_t* q, std::size_t groups, Predictor predictor, PlanesOut& out) noexcept {
  Integers d;
  out.base = difference(q, groups * group_values, predictor, d);
  write(d, groups * group_values, out);
}

void unpack(const PlanesIn& in, std::size_t groups, Predictor predictor, std::int32_t* q) noexcept {
  Integers integers;
  read_integers(in, groups * group_values, predictor, integers);
  std::memcpy(q, integers.of, groups * group_values * sizeof *q);
}

void pack_lagged(const std::int32_t* q, std::size_t groups, const Prediction& p, PlanesOut& out) noexcept {
  Integers r;
  subtract_lagged(q, groups, p.lags, r.of);
  pack(r.of, groups, p.inner, out);
}

void unpack_lagged(const PlanesIn& in, std::size_t groups, const Prediction& p, std::int32_t* q) noexcept {
  Integers r;
  read_integers(in, groups * group_values, p.inner, r);
  add_lagged(r.of, groups, p.lags, q);
}

template <class T>
void decode_lagged(const PlanesIn& in, std::size_t groups, const Quantiser<T>& z, const Lags& lags,
                   std::int32_t* q, T* values) noexcept {
  unpack_lagged(in, groups, {z.predictor, lags}, q);
  for (std::size_t i = 0; i < groups * group_values; ++i) values[i] = multiple(q[i], z);
}

void add_lagged(const PlanesIn& in, const std::int32_t* q, std::size_t groups, const Prediction& p,
                PlanesOut& out) noexcept {
  const std::size_t n = groups * group_values;
  Integers r, d, other;
  subtract_lagged(q, groups, p.lags, r.of);
  out.base = add_wrapping(in.base, difference(r.of, n, p.inner, d));
  read(in, n, other);
  for (std::size_t i = 0; i < n; ++i) d.of[i] = add_wrapping(d.of[i], other.of[i]);
  write(d, n, out);
}

void sum(const PlanesIn* in, std::size_t n, std::size_t groups, PlanesOut& out) noexcept {
  const std::size_t values = groups * group_values;
  Integers total, other;
  read(in[0], values, total);
  out.base = in[0].base;
  for (std::size_t k = 1; k < n; ++k) {
    read(in[k], values, other);
    for (std::size_t i = 0; i < values; ++i) total.of[i] = add_wrapping(total.of[i], other.of[i]);
    out.base = add_wrapping(out.base, in[k].base);
  }
  write(total, values, out);
}

// ---- Tables of widths

WidthFacts inspect(const Widths& widths) noexcept {
  WidthFacts facts;
  for (const std::uint8_t w : widths.of) {
    facts.sum += w;
    facts.coded += w != 0;
    facts.greatest = std::max<unsigned>(facts.greatest, w);
  }
  return facts;
}

void write_widths(std::byte* to, const Widths& widths, std::size_t blocks, WidthTable table) noexcept {
  const std::uint8_t* entries = widths.of;
  std::uint8_t coded[chunk_blocks + 1];
  std::size_t n = blocks;
  if ((table.flags & dense) == 0) {
    n = 0;
    std::memset(to, 0, map_bytes(blocks));
    for (std::size_t i = 0; i < blocks; ++i) {
      if (widths.of[i] == 0) continue;
      to[i / 8] |= std::byte{1} << (i % 8);
      coded[n++] = widths.of[i];
    }
    entries = coded;
    to += map_bytes(blocks);
  }
  if ((table.flags & byte_widths) != 0) {
    std::memcpy(to, entries, n);
    return;
  }
  for (std::size_t i = 0; i < n; i += 2)
    to[i / 2] = std::byte(entries[i] | (i + 1 < n ? entries[i + 1] << 4 : 0));
}

WidthsRead read_widths(const std::byte* table, std::size_t blocks, std::uint8_t flags,
                       Widths& widths) noexcept {
  std::memset(widths.of, 0, sizeof widths.of);
  const std::byte* const entries = (flags & dense) != 0 ? table : table + map_bytes(blocks);
  std::size_t next = 0;
  for (std::size_t i = 0; i < blocks; ++i) {
    if ((flags & dense) == 0 && (table[i / 8] >> (i % 8) & std::byte{1}) == std::byte{0}) continue;
    const unsigned entry = std::to_integer<unsigned>(entries[(flags & byte_widths) != 0 ? next : next / 2]);
    widths.of[i] =
        static_cast<std::uint8_t>((flags & byte_widths) != 0 ? entry : entry >> (next % 2 * 4) & 15);
    ++next;
  }
  if ((flags & dense) != 0) return table_read(inspect(widths), entry_bytes(blocks, flags));
  if (names_blocks_beyond(table, blocks)) return {};
  return table_read(inspect(widths), map_bytes(blocks) + entry_bytes(next, flags));
}

template <class T>
constexpr Kernels<T> value_kernels{encode<T>, quantise<T>,   accumulate<T>,    dequantise_large<T>,
                                   decode<T>, decode_add<T>, decode_lagged<T>, find_tiny<T>};

}  // namespace

const KernelSet& scalar_kernels() noexcept {
  static constexpr KernelSet set{
      "scalar",
      []() noexcept { return true; },
      {value_kernels<float>, value_kernels<double>, value_kernels<f16>, value_kernels<bf16>},
      {pack, unpack, pack_lagged, unpack_lagged, add_lagged, sum},
      {inspect, write_widths, read_widths},
      scalar_general_kernels,
  };
  return set;
}

}  // namespace taut::planes
