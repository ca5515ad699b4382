// The reference kernels: portable, one block of 8 values after the other.
#include "codecs/planes/block.hpp"
#include "codecs/planes/kernels.hpp"
#include "codecs/planes/large.hpp"

namespace taut::planes {
namespace {

using Block = std::int32_t[block_values];

// Rounds to nearest even by an addition that pushes the fraction out of the mantissa; |s| < 2^22.
std::int32_t round_to_int(float s) noexcept {
  return static_cast<std::int32_t>(std::bit_cast<std::uint32_t>(s + 0x1.8p23f) -
                                   std::bit_cast<std::uint32_t>(0x1.8p23f));
}
std::int32_t round_to_int(double s) noexcept {
  return static_cast<std::int32_t>(std::bit_cast<std::uint64_t>(s + 0x1.8p52));
}

// False when one of the eight leaves the small range or is no number.
template <class T>
bool quantise(const T* x, T inverse, Block& q) noexcept {
  bool small = true;
  for (std::size_t i = 0; i < block_values; ++i) {
    const T s = x[i] * inverse;
    small &= std::abs(s) < T{1 << (small_bits + 1)};
    q[i] = round_to_int(s);
  }
  std::int32_t seen = 0;
  for (std::size_t i = 0; i < block_values; ++i) seen |= q[i] ^ (q[i] >> 31);
  return small && seen >> small_bits == 0;
}

// q -> differences from the value before; `previous` moves on.
void difference(Block& q, std::int32_t& previous) noexcept {
  for (std::int32_t& v : q)
    v = static_cast<std::int32_t>(static_cast<std::uint32_t>(v) -
                                  static_cast<std::uint32_t>(std::exchange(previous, v)));
}

void prefix_sum(Block& d, std::int32_t& previous) noexcept {
  for (std::int32_t& v : d)
    v = previous =
        static_cast<std::int32_t>(static_cast<std::uint32_t>(previous) + static_cast<std::uint32_t>(v));
}

class BlockReader {
 public:
  explicit BlockReader(const PlanesIn& in) : at_(in.payload), widths_(in.widths->of) {}
  void next(Block& d) noexcept { at_ = read_block(at_, *widths_++, d); }

 private:
  const std::byte* at_;
  const std::uint8_t* widths_;
};

class BlockWriter {
 public:
  explicit BlockWriter(PlanesOut& out) : out_(out), at_(out.payload), widths_(out.widths.of) {}
  void next(const Block& d) noexcept {
    const unsigned width = block_width(d);
    at_ = write_block(at_, d, width);
    *widths_++ = static_cast<std::uint8_t>(width);
  }
  void finish() noexcept {
    out_.bytes = static_cast<std::size_t>(at_ - out_.payload);
    std::memset(widths_, 0, static_cast<std::size_t>(out_.widths.of + chunk_blocks - widths_));
  }

 private:
  PlanesOut& out_;
  std::byte* at_;
  std::uint8_t* widths_;
};

// Quantised values as differences; the first one goes to the base.
template <class T>
class ValueDifferences {
 public:
  ValueDifferences(const T* values, const Quantiser<T>& z, PlanesOut& out)
      : values_(values), z_(z), out_(out) {}

  bool next(Block& d) noexcept {
    if (!quantise(values_, z_.inverse, d)) return false;
    if (z_.predictor == Predictor::delta) {
      if (first_) out_.base += previous_ = d[0];
      difference(d, previous_);
    }
    first_ = false;
    values_ += block_values;
    return true;
  }

 private:
  const T* values_;
  const Quantiser<T>& z_;
  PlanesOut& out_;
  std::int32_t previous_ = 0;
  bool first_ = true;
};

template <class T>
bool encode(const T* values, std::size_t groups, const Quantiser<T>& z, PlanesOut& out) noexcept {
  out.base = 0;
  ValueDifferences<T> differences(values, z, out);
  BlockWriter writer(out);
  for (std::size_t b = 0; b < groups * group_blocks; ++b) {
    Block d;
    if (!differences.next(d)) return false;
    writer.next(d);
  }
  writer.finish();
  return true;
}

template <class T>
bool accumulate(const PlanesIn& in, const T* values, std::size_t groups, const Quantiser<T>& z,
                PlanesOut& out) noexcept {
  out.base = in.base;
  ValueDifferences<T> differences(values, z, out);
  BlockReader reader(in);
  BlockWriter writer(out);
  for (std::size_t b = 0; b < groups * group_blocks; ++b) {
    Block d, e;
    if (!differences.next(d)) return false;
    reader.next(e);
    for (std::size_t i = 0; i < block_values; ++i) d[i] += e[i];
    writer.next(d);
  }
  writer.finish();
  return true;
}

template <class Sink>
void read(const PlanesIn& in, std::size_t groups, Predictor predictor, Sink sink) noexcept {
  BlockReader reader(in);
  std::int32_t previous = in.base;
  for (std::size_t b = 0; b < groups * group_blocks; ++b) {
    Block q;
    reader.next(q);
    if (predictor == Predictor::delta) prefix_sum(q, previous);
    sink(b * block_values, q);
  }
}

template <class T>
void decode(const PlanesIn& in, std::size_t groups, const Quantiser<T>& z, T* values) noexcept {
  read(in, groups, z.predictor, [&](std::size_t at, const Block& q) {
    for (std::size_t i = 0; i < block_values; ++i) values[at + i] = static_cast<T>(q[i]) * z.step;
  });
}

template <class T>
void decode_add(const PlanesIn& in, std::size_t groups, const Quantiser<T>& z, T* values) noexcept {
  read(in, groups, z.predictor, [&](std::size_t at, const Block& q) {
    for (std::size_t i = 0; i < block_values; ++i) values[at + i] += static_cast<T>(q[i]) * z.step;
  });
}

void pack(const std::int32_t* q, std::size_t groups, Predictor predictor, PlanesOut& out) noexcept {
  std::int32_t previous = out.base = predictor == Predictor::delta ? q[0] : 0;
  BlockWriter writer(out);
  for (std::size_t b = 0; b < groups * group_blocks; ++b) {
    Block d;
    std::memcpy(d, q + b * block_values, sizeof d);
    if (predictor == Predictor::delta) difference(d, previous);
    writer.next(d);
  }
  writer.finish();
}

void unpack(const PlanesIn& in, std::size_t groups, Predictor predictor, std::int32_t* q) noexcept {
  read(in, groups, predictor, [&](std::size_t at, const Block& b) { std::memcpy(q + at, b, sizeof b); });
}

void sum(const PlanesIn* in, std::size_t n, std::size_t groups, PlanesOut& out) noexcept {
  std::int32_t total[chunk_values] = {};
  out.base = 0;
  for (std::size_t k = 0; k < n; ++k) {
    out.base += in[k].base;
    read(in[k], groups, Predictor::none, [&](std::size_t at, const Block& d) {
      for (std::size_t i = 0; i < block_values; ++i) total[at + i] += d[i];
    });
  }
  BlockWriter writer(out);
  for (std::size_t b = 0; b < groups * group_blocks; ++b)
    writer.next(*reinterpret_cast<const Block*>(total + b * block_values));
  writer.finish();
}

// ---- Tables of widths
// ---------------------------------------------------------------------------------------------

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
  if ((flags & dense) != 0) return {inspect(widths), entry_bytes(blocks, flags)};
  if (names_blocks_beyond(table, blocks)) return {};
  return {inspect(widths), map_bytes(blocks) + entry_bytes(next, flags)};
}

}  // namespace

const KernelSet& scalar_kernels() noexcept {
  static constexpr KernelSet set{
      "scalar",
      []() noexcept { return true; },
      {encode<float>, accumulate<float>, quantise_large<float>, dequantise_large<float>, decode<float>,
       decode_add<float>},
      {encode<double>, accumulate<double>, quantise_large<double>, dequantise_large<double>, decode<double>,
       decode_add<double>},
      {pack, unpack, sum},
      {inspect, write_widths, read_widths},
  };
  return set;
}

}  // namespace taut::planes
