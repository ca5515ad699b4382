#include "compressor/codecs/zfp/tile.hpp"

#include <cmath>
#include <limits>

#include "compressor/codecs/zfp/classes.hpp"
#include "compressor/codecs/zfp/escapes.hpp"
#include "compressor/values/number_range.hpp"

namespace taut::zfp {
namespace {

// Returns true if holds(x) is true for every value x of the tile. The loop has no early exit, so that the
// compiler vectorises it.
template <class T, class Holds>
bool all(const View<const T>& tile, Holds holds) noexcept {
  bool every = true;
  tile.for_each_row([&](const T* row, std::size_t) {
    for (std::size_t i = 0; i < tile.shape.extent[3]; ++i) every &= holds(row[i]);
  });
  return every;
}

// Copies the values of a tile to contiguous memory.
template <class T>
void gather(const View<const T>& tile, T* out) noexcept {
  tile.for_each_row([&](const T* row, std::size_t at) { std::copy_n(row, tile.shape.extent[3], out + at); });
}

// Copies the values as gather() does. Each value for which keep(x) is false is replaced by the last value
// before it that was kept.
template <class T, class Keep>
void gather_kept(const View<const T>& tile, T* out, Keep keep) noexcept {
  gather(tile, out);
  T* const end = out + tile.values();
  T* const first = std::find_if(out, end, keep);
  T last = first == end ? T(0) : *first;
  for (; out != end; ++out) keep(*out) ? last = *out : * out = last;
}

// Writes a stored record.
template <class T>
Record store(const View<const T>& tile, Bytes out) noexcept {
  if (out.size() < tile.values() * sizeof(T)) return {};
  const std::size_t row_bytes = tile.shape.extent[3] * sizeof(T);
  tile.for_each_row(
      [&](const T* row, std::size_t at) { std::memcpy(out.data() + at * sizeof(T), row, row_bytes); });
  return {Form::stored, tile.values() * sizeof(T)};
}

// ---- Under an absolute bound

// Returns the bound, rounded down to the type. If the rounded difference of x and x' is below this value,
// then |x - x'| is not above the bound, because rounding is monotone.
template <class T>
T bound_rounded_down(double bound) noexcept {
  const T nearest = static_cast<T>(std::min<double>(bound, std::numeric_limits<T>::max()));
  return static_cast<double>(nearest) > bound ? std::nextafter(nearest, T(0)) : nearest;
}

// Returns the greatest magnitude that is given to zfp. zfp aligns the values of a block to the greatest of
// them and keeps 30 (float64: 62) bits: a greater value would cost the other values of its block so many bits
// that they miss the bound. Greater values are listed as escapes.
template <class T>
T max_coded_magnitude(double bound) noexcept {
  return static_cast<T>(
      std::min<double>(bound * (sizeof(T) == 4 ? 0x1p+24 : 0x1p+54), std::numeric_limits<T>::max()));
}

// Returns the size without trailing zeros, which need not be stored: a decoder finds zeros behind the stream.
std::size_t without_zeros(const std::byte* stream, std::size_t size) noexcept {
  while (size > 0 && stream[size - 1] == std::byte{0}) --size;
  return size;
}

// Encodes a tile under a bound: compresses it, decodes the stream, and lists the values that the stream does
// not give within the bound as escapes. Stores the tile if that is shorter.
template <class T>
Record encode_within(double bound, const View<const T>& tile, PackedBits bits, Scratch<T>& scratch,
                     Bytes out) noexcept {
  if (bound < min_bound<T>) return store(tile, out);
  const T max = max_coded_magnitude<T>(bound), limit = bound_rounded_down<T>(bound);
  const bool exact = bits == PackedBits::exact;
  const auto is_coded = [=](T x) {  // false for NaN
    return (std::abs(x) <= max) & !(exact && is_packed(x));
  };
  const auto holds = [=](T x, T decoded) {
    return (std::abs(x - decoded) < limit) & !(exact && is_packed(x));
  };
  View<const T> source = tile;
  if (!all(tile, is_coded)) {
    gather_kept(tile, scratch.source(), is_coded);
    source = dense<const T>(scratch.source(), tile.shape);
  }
  ZfpStream& stream = scratch.stream();
  stream.set(accuracy(bound));
  const std::size_t raw = tile.values() * sizeof(T), written = stream.compress(source);
  if (written == 0 || written >= raw) return store(tile, out);
  const T* const decoded = scratch.decoded();
  if (!stream.decompress(dense(scratch.decoded(), tile.shape))) return store(tile, out);
  const std::size_t size = without_zeros(stream.data(), written);

  bool held = true;
  tile.for_each_row([&](const T* row, std::size_t at) {
    for (std::size_t i = 0; i < tile.shape.extent[3]; ++i) held &= holds(row[i], decoded[at + i]);
  });
  ByteWriter record(out.first(raw));
  if (held) {
    record.put(stream.data(), size);
    return {Form::coded, record.bytes()};
  }
  const T* const values = scratch.source();
  gather(tile, scratch.source());
  const auto stream_bytes = static_cast<std::uint32_t>(size);
  record.put(&stream_bytes, sizeof stream_bytes);
  record.put(stream.data(), size);
  write_escapes(
      values, tile.values(), [&](std::size_t i) { return !holds(values[i], decoded[i]); }, record);
  return record.fits() ? Record{Form::repaired, record.bytes()} : store(tile, out);
}

// Decodes a record of encode_within() that is not stored.
template <class T>
bool decode_within(double bound, Form form, ConstBytes record, ZfpStream& stream,
                   const View<T>& tile) noexcept {
  if (bound < min_bound<T>) return false;
  stream.set(accuracy(bound));
  if (form == Form::coded) return stream.decompress(record, tile);
  std::uint32_t stream_bytes;
  if (record.size() < sizeof stream_bytes) return false;
  std::memcpy(&stream_bytes, record.data(), sizeof stream_bytes);
  record = record.subspan(sizeof stream_bytes);
  if (stream_bytes > record.size() || !stream.decompress(record.first(stream_bytes), tile)) return false;
  return read_escapes<T>(record.subspan(stream_bytes), tile.values(),
                         [&](std::size_t i, T x) { tile[i] = x; });
}

// ---- At a fixed rate

// Encodes a tile at a rate: replaces values that zfp cannot code, compresses, and writes a map of NaN and
// infinities in front of the stream. The blocks of the stream are shorter by the map, so that the record
// keeps its size.
template <class T>
Record encode_at(double rate, const View<const T>& tile, PackedBits packed, Scratch<T>& scratch,
                 Bytes out) noexcept {
  const std::size_t count = tile.values(), raw = count * sizeof(T), size = coded_bytes<T>(rate, tile.shape);
  if (size >= raw) return store(tile, out);
  if (packed == PackedBits::exact && !all(tile, [](T x) { return !is_packed(x); })) return store(tile, out);
  constexpr T greatest = std::numeric_limits<T>::max();
  const auto finite = [](T x) { return std::abs(x) <= greatest; };
  const auto is_coded = [](T x) {
    return (std::abs(x) <= greatest) & ((std::abs(x) >= min_magnitude_at_rate<T>) | (x == 0));
  };
  View<const T> source = tile;
  unsigned bits = block_bits<T>(rate, tile.shape);
  std::byte* const map = reinterpret_cast<std::byte*>(scratch.decoded());  // smaller than the values
  std::size_t map_size = 0;
  if (!all(tile, is_coded)) {
    T* const values = scratch.source();
    if (!all(tile, finite)) {
      gather(tile, values);
      map_size = write_classes(values, count, map);
      const std::size_t left = size - std::min(size, map_size);
      bits = static_cast<unsigned>(std::min<std::size_t>(bits, left * 8 / tile.shape.blocks()));
      if (bits < min_block_bits<T>) return store(tile, out);
    }
    gather_kept(tile, values, finite);
    std::replace_if(
        values, values + count, [is_coded](T x) { return !is_coded(x); }, T(0));
    source = dense<const T>(values, tile.shape);
  }
  ZfpStream& stream = scratch.stream();
  stream.set(zfp::rate(bits));
  const std::size_t stream_bytes = (tile.shape.blocks() * bits + 7) / 8;
  if (stream.compress(source) < stream_bytes) return store(tile, out);
  if (out.size() < size) return {};
  std::byte* const end = std::copy_n(stream.data(), stream_bytes, std::copy_n(map, map_size, out.data()));
  std::fill(end, out.data() + size, std::byte{0});
  return {map_size == 0 ? Form::coded : Form::repaired, size};
}

// Clamps infinities: zfp may return an infinity for a value near the greatest finite value.
template <class T>
void make_finite(const View<T>& tile) noexcept {
  constexpr T greatest = std::numeric_limits<T>::max();
  tile.for_each_row([&](T* row, std::size_t) {
    for (std::size_t i = 0; i < tile.shape.extent[3]; ++i) row[i] = std::clamp(row[i], -greatest, greatest);
  });
}

// Decodes a record of encode_at() that is not stored.
template <class T>
bool decode_at(double rate, Form form, ConstBytes record, ZfpStream& stream, const View<T>& tile) noexcept {
  if (record.size() != coded_bytes<T>(rate, tile.shape)) return false;
  unsigned bits = block_bits<T>(rate, tile.shape);
  const std::byte* const map = record.data();
  if (form == Form::repaired) {
    const std::size_t map_size = map_bytes(record, tile.values());
    if (map_size > record.size()) return false;
    record = record.subspan(map_size);
    bits = static_cast<unsigned>(std::min<std::size_t>(bits, record.size() * 8 / tile.shape.blocks()));
  }
  if (bits < min_block_bits<T>) return false;
  stream.set(zfp::rate(bits));
  if (!stream.decompress(record, tile)) return false;
  make_finite(tile);
  if (form == Form::repaired) read_classes<T>(map, tile.values(), [&](std::size_t i, T x) { tile[i] = x; });
  return true;
}

}  // namespace

template <class T>
unsigned block_bits(double rate, const Shape& tile) noexcept {
  const double values = static_cast<double>(tile.block_values());
  const double bits = std::floor(std::min<double>(rate, 8 * sizeof(T)) * values + 0.5);
  return std::max(static_cast<unsigned>(bits), min_block_bits<T>);
}

template <class T>
std::size_t coded_bytes(double rate, const Shape& tile) noexcept {
  return (tile.blocks() * block_bits<T>(rate, tile) + 7) / 8;
}

template <class T>
Scratch<T>::Scratch(const Shape& largest)
    : count_(largest.values()),
      memory_(
          new std::uint64_t[(stream_room<T>(largest) + 2 * count_ * sizeof(T)) / sizeof(std::uint64_t) + 2]),
      values_(reinterpret_cast<T*>(memory_.get() + stream_room<T>(largest) / sizeof(std::uint64_t) + 1)),
      stream_({reinterpret_cast<std::byte*>(memory_.get()),
               stream_room<T>(largest) / sizeof(std::uint64_t) * 8}) {
  if (!stream_.ok()) throw std::bad_alloc();
}

template <class T>
Record encode_tile(const View<const T>& tile, const Bound& bound, PackedBits bits, Scratch<T>& scratch,
                   Bytes out) noexcept {
  return bound.kind == Bound::Kind::rate ? encode_at(bound.value, tile, bits, scratch, out)
                                         : encode_within(bound.value, tile, bits, scratch, out);
}

template <class T>
bool decode_tile(Form form, ConstBytes record, const Bound& bound, Scratch<T>& scratch,
                 const View<T>& tile) noexcept {
  const std::size_t raw = tile.values() * sizeof(T);
  if (record.size() > raw) return false;
  if (form != Form::stored)
    return bound.kind == Bound::Kind::rate ? decode_at(bound.value, form, record, scratch.stream(), tile)
                                           : decode_within(bound.value, form, record, scratch.stream(), tile);
  if (record.size() != raw) return false;
  tile.for_each_row([&](T* row, std::size_t at) {
    std::memcpy(row, record.data() + at * sizeof(T), tile.shape.extent[3] * sizeof(T));
  });
  return true;
}

template class Scratch<float>;
template class Scratch<double>;
template std::size_t coded_bytes<float>(double, const Shape&) noexcept;
template std::size_t coded_bytes<double>(double, const Shape&) noexcept;
template Record encode_tile(const View<const float>&, const Bound&, PackedBits, Scratch<float>&,
                            Bytes) noexcept;
template Record encode_tile(const View<const double>&, const Bound&, PackedBits, Scratch<double>&,
                            Bytes) noexcept;
template bool decode_tile(Form, ConstBytes, const Bound&, Scratch<float>&, const View<float>&) noexcept;
template bool decode_tile(Form, ConstBytes, const Bound&, Scratch<double>&, const View<double>&) noexcept;

}  // namespace taut::zfp
