#include "compressor/codecs/zfp/piece.hpp"

#include <cmath>
#include <limits>

#include "compressor/codecs/zfp/classes.hpp"
#include "compressor/codecs/zfp/escapes.hpp"
#include "compressor/values/number_range.hpp"

namespace taut::zfp {
namespace {

// Returns true if holds(x) for every value x. The loop has no early exit, so that the compiler vectorises it.
template <class T, class Holds>
bool all(const View<const T>& box, Holds holds) noexcept {
  bool every = true;
  box.for_each_row([&](const T* row, std::size_t) {
    for (std::size_t i = 0; i < box.shape.extent[3]; ++i) every &= holds(row[i]);
  });
  return every;
}

template <class T>
void gather(const View<const T>& box, T* out) noexcept {
  box.for_each_row([&](const T* row, std::size_t at) { std::copy_n(row, box.shape.extent[3], out + at); });
}

// Copies the values. Each value that keep(x) rejects is replaced by the last value before it that was kept.
template <class T, class Keep>
void gather_kept(const View<const T>& box, T* out, Keep keep) noexcept {
  gather(box, out);
  T* const end = out + box.values();
  T* const first = std::find_if(out, end, keep);
  T last = first == end ? T(0) : *first;
  for (; out != end; ++out) keep(*out) ? last = *out : * out = last;
}

template <class T>
Piece store(const View<const T>& box, Bytes out) noexcept {
  if (out.size() < box.values() * sizeof(T)) return {};
  const std::size_t row_bytes = box.shape.extent[3] * sizeof(T);
  box.for_each_row(
      [&](const T* row, std::size_t at) { std::memcpy(out.data() + at * sizeof(T), row, row_bytes); });
  return {Form::stored, box.values() * sizeof(T)};
}

// ---- Under an absolute bound

// Returns the greatest value of the type that is not above the bound. If fl(|x - x'|) is below this value,
// then |x - x'| is not above the bound: rounding is monotone.
template <class T>
T not_above(double bound) noexcept {
  const T nearest = static_cast<T>(std::min<double>(bound, std::numeric_limits<T>::max()));
  return static_cast<double>(nearest) > bound ? std::nextafter(nearest, T(0)) : nearest;
}

// Returns the greatest magnitude that is given to zfp. zfp aligns the values of a block to the greatest of
// them and keeps 30 (62) bits. Values beyond the reach would push the other values of the block below their
// bound. At such sizes an ulp is a large part of the bound, so listing these values costs little.
template <class T>
T reach(double bound) noexcept {
  return static_cast<T>(
      std::min<double>(bound * (sizeof(T) == 4 ? 0x1p+24 : 0x1p+54), std::numeric_limits<T>::max()));
}

// Returns the size without trailing zeros, which need not be stored: a decoder finds zeros behind the stream.
std::size_t without_zeros(const std::byte* stream, std::size_t size) noexcept {
  while (size > 0 && stream[size - 1] == std::byte{0}) --size;
  return size;
}

template <class T>
Piece encode_within(double bound, const View<const T>& box, PackedBits bits, Scratch<T>& scratch,
                    Bytes out) noexcept {
  if (bound < least_bound<T>) return store(box, out);
  const T most = reach<T>(bound), limit = not_above<T>(bound);
  const bool exact = bits == PackedBits::exact;
  const auto tame = [=](T x) {  // false for NaN
    return (std::abs(x) <= most) & !(exact && is_packed(x));
  };
  const auto holds = [=](T x, T decoded) {
    return (std::abs(x - decoded) < limit) & !(exact && is_packed(x));
  };
  View<const T> source = box;
  if (!all(box, tame)) {
    gather_kept(box, scratch.source(), tame);
    source = dense<const T>(scratch.source(), box.shape);
  }
  ZfpStream& stream = scratch.stream();
  stream.set(accuracy(bound));
  const std::size_t raw = box.values() * sizeof(T), written = stream.compress(source);
  if (written == 0 || written >= raw) return store(box, out);
  const T* const decoded = scratch.decoded();
  if (!stream.decompress(dense(scratch.decoded(), box.shape))) return store(box, out);
  const std::size_t size = without_zeros(stream.data(), written);

  bool held = true;
  box.for_each_row([&](const T* row, std::size_t at) {
    for (std::size_t i = 0; i < box.shape.extent[3]; ++i) held &= holds(row[i], decoded[at + i]);
  });
  ByteWriter piece(out.first(raw));
  if (held) {
    piece.put(stream.data(), size);
    return {Form::coded, piece.bytes()};
  }
  const T* const values = scratch.source();
  gather(box, scratch.source());
  const auto stream_bytes = static_cast<std::uint32_t>(size);
  piece.put(&stream_bytes, sizeof stream_bytes);
  piece.put(stream.data(), size);
  write_escapes(
      values, box.values(), [&](std::size_t i) { return !holds(values[i], decoded[i]); }, piece);
  return piece.fits() ? Piece{Form::mended, piece.bytes()} : store(box, out);
}

template <class T>
bool decode_within(double bound, Form form, ConstBytes piece, ZfpStream& stream,
                   const View<T>& box) noexcept {
  if (bound < least_bound<T>) return false;
  stream.set(accuracy(bound));
  if (form == Form::coded) return stream.decompress(piece, box);
  std::uint32_t stream_bytes;
  if (piece.size() < sizeof stream_bytes) return false;
  std::memcpy(&stream_bytes, piece.data(), sizeof stream_bytes);
  piece = piece.subspan(sizeof stream_bytes);
  if (stream_bytes > piece.size() || !stream.decompress(piece.first(stream_bytes), box)) return false;
  return read_escapes<T>(piece.subspan(stream_bytes), box.values(), [&](std::size_t i, T x) { box[i] = x; });
}

// ---- At a fixed rate

template <class T>
Piece encode_at(double rate, const View<const T>& box, PackedBits packed, Scratch<T>& scratch,
                Bytes out) noexcept {
  const std::size_t count = box.values(), raw = count * sizeof(T), size = coded_bytes<T>(rate, box.shape);
  if (size >= raw) return store(box, out);
  if (packed == PackedBits::exact && !all(box, [](T x) { return !is_packed(x); })) return store(box, out);
  constexpr T greatest = std::numeric_limits<T>::max();
  const auto finite = [](T x) { return std::abs(x) <= greatest; };
  const auto usual = [](T x) {
    return (std::abs(x) <= greatest) & ((std::abs(x) >= least_at_a_rate<T>) | (x == 0));
  };
  View<const T> source = box;
  unsigned bits = block_bits<T>(rate, box.shape);
  std::byte* const map = reinterpret_cast<std::byte*>(scratch.decoded());  // smaller than the values
  std::size_t map_size = 0;
  if (!all(box, usual)) {
    T* const values = scratch.source();
    if (!all(box, finite)) {
      gather(box, values);
      map_size = write_classes(values, count, map);
      const std::size_t left = size - std::min(size, map_size);
      bits = static_cast<unsigned>(std::min<std::size_t>(bits, left * 8 / box.shape.blocks()));
      if (bits < least_block_bits<T>) return store(box, out);
    }
    gather_kept(box, values, finite);
    std::replace_if(
        values, values + count, [usual](T x) { return !usual(x); }, T(0));
    source = dense<const T>(values, box.shape);
  }
  ZfpStream& stream = scratch.stream();
  stream.set(zfp::rate(bits));
  const std::size_t stream_bytes = (box.shape.blocks() * bits + 7) / 8;
  if (stream.compress(source) < stream_bytes) return store(box, out);
  if (out.size() < size) return {};
  std::byte* const end = std::copy_n(stream.data(), stream_bytes, std::copy_n(map, map_size, out.data()));
  std::fill(end, out.data() + size, std::byte{0});
  return {map_size == 0 ? Form::coded : Form::mended, size};
}

// Clamps infinities: zfp may return an infinity for a value near the greatest finite value.
template <class T>
void make_finite(const View<T>& box) noexcept {
  constexpr T greatest = std::numeric_limits<T>::max();
  box.for_each_row([&](T* row, std::size_t) {
    for (std::size_t i = 0; i < box.shape.extent[3]; ++i) row[i] = std::clamp(row[i], -greatest, greatest);
  });
}

template <class T>
bool decode_at(double rate, Form form, ConstBytes piece, ZfpStream& stream, const View<T>& box) noexcept {
  if (piece.size() != coded_bytes<T>(rate, box.shape)) return false;
  unsigned bits = block_bits<T>(rate, box.shape);
  const std::byte* const map = piece.data();
  if (form == Form::mended) {
    const std::size_t map_size = map_bytes(piece, box.values());
    if (map_size > piece.size()) return false;
    piece = piece.subspan(map_size);
    bits = static_cast<unsigned>(std::min<std::size_t>(bits, piece.size() * 8 / box.shape.blocks()));
  }
  if (bits < least_block_bits<T>) return false;
  stream.set(zfp::rate(bits));
  if (!stream.decompress(piece, box)) return false;
  make_finite(box);
  if (form == Form::mended) read_classes<T>(map, box.values(), [&](std::size_t i, T x) { box[i] = x; });
  return true;
}

}  // namespace

template <class T>
unsigned block_bits(double rate, const Shape& box) noexcept {
  const double values = static_cast<double>(box.block_values());
  const double bits = std::floor(std::min<double>(rate, 8 * sizeof(T)) * values + 0.5);
  return std::max(static_cast<unsigned>(bits), least_block_bits<T>);
}

template <class T>
std::size_t coded_bytes(double rate, const Shape& box) noexcept {
  return (box.blocks() * block_bits<T>(rate, box) + 7) / 8;
}

template <class T>
Scratch<T>::Scratch(const Shape& largest)
    : count_(largest.values()),
      memory_(new std::uint64_t[(room_for<T>(largest) + 2 * count_ * sizeof(T)) / sizeof(std::uint64_t) + 2]),
      values_(reinterpret_cast<T*>(memory_.get() + room_for<T>(largest) / sizeof(std::uint64_t) + 1)),
      stream_(
          {reinterpret_cast<std::byte*>(memory_.get()), room_for<T>(largest) / sizeof(std::uint64_t) * 8}) {
  if (!stream_.ok()) throw std::bad_alloc();
}

template <class T>
Piece encode_piece(const View<const T>& box, const Bound& bound, PackedBits bits, Scratch<T>& scratch,
                   Bytes out) noexcept {
  return bound.kind == Bound::Kind::rate ? encode_at(bound.value, box, bits, scratch, out)
                                         : encode_within(bound.value, box, bits, scratch, out);
}

template <class T>
bool decode_piece(Form form, ConstBytes piece, const Bound& bound, Scratch<T>& scratch,
                  const View<T>& box) noexcept {
  const std::size_t raw = box.values() * sizeof(T);
  if (piece.size() > raw) return false;
  if (form != Form::stored)
    return bound.kind == Bound::Kind::rate ? decode_at(bound.value, form, piece, scratch.stream(), box)
                                           : decode_within(bound.value, form, piece, scratch.stream(), box);
  if (piece.size() != raw) return false;
  box.for_each_row([&](T* row, std::size_t at) {
    std::memcpy(row, piece.data() + at * sizeof(T), box.shape.extent[3] * sizeof(T));
  });
  return true;
}

template class Scratch<float>;
template class Scratch<double>;
template std::size_t coded_bytes<float>(double, const Shape&) noexcept;
template std::size_t coded_bytes<double>(double, const Shape&) noexcept;
template Piece encode_piece(const View<const float>&, const Bound&, PackedBits, Scratch<float>&,
                            Bytes) noexcept;
template Piece encode_piece(const View<const double>&, const Bound&, PackedBits, Scratch<double>&,
                            Bytes) noexcept;
template bool decode_piece(Form, ConstBytes, const Bound&, Scratch<float>&, const View<float>&) noexcept;
template bool decode_piece(Form, ConstBytes, const Bound&, Scratch<double>&, const View<double>&) noexcept;

}  // namespace taut::zfp
