// Codes a block's coefficients as zfp does, in bit planes from the highest down. A coefficient is reached
// once it, or a later one, has had a 1. A plane begins with the bits of the coefficients that were reached in
// earlier planes. For the other coefficients, a bit tells if another 1 follows, and is followed by the zeros
// up to it. A coefficient is an unsigned number in negabinary. D: dimensions of a block.
#pragma once

#include "compressor/gpu/simt/bit_planes.hpp"
#include "compressor/gpu/zfp/bits.hpp"
#include "compressor/gpu/zfp/transform.hpp"

namespace taut::zfp::cuda {

// A plane of `Size` coefficients; the first coefficient's bit is the lowest.
template <unsigned Size>
using Plane = std::conditional_t<Size <= 32, std::uint32_t, std::uint64_t>;

// Removes and returns the top bits of all coefficients.
template <unsigned Size, class Word>
TAUT_DEVICE std::uint32_t take_plane(Word (&u)[Size]) {
  std::uint32_t plane = 0;
  for (unsigned i = Size; i-- > 0; u[i] <<= 1)
    plane = plane << 1 | static_cast<std::uint32_t>(u[i] >> (8 * sizeof(Word) - 1));
  return plane;
}
// Appends a bit to each coefficient.
template <unsigned Size, class Word>
TAUT_DEVICE void append_plane(Word (&u)[Size], std::uint32_t plane) {
  plane <<= 32 - Size;
  for (unsigned i = Size; i-- > 0; plane <<= 1) u[i] = u[i] << 1 | plane >> 31;
}

// Removes the top eight bits of four coefficients. Returns eight planes of four bits, the top plane in the
// lowest bits. A plane of four coefficients is a byte of its row with one nibble: the bytes are reversed
// (0x0123), then nibbles are joined in pairs, and every second byte is kept (0x6420).
template <class Word, class Simt>
TAUT_DEVICE std::uint32_t take_planes(const Simt& simt, Word (&u)[4]) {
  Word eight[matrix_side] = {};
  for (unsigned i = 0; i < 4; ++i) {
    eight[i] = u[i];
    u[i] <<= 8;
  }
  const PlaneRow row = to_planes(simt, byte_row(simt, eight, sizeof(Word) - 1));
  const std::uint32_t high = simt.permute_bytes(row.high, 0, 0x0123),
                      low = simt.permute_bytes(row.low, 0, 0x0123);
  return simt.permute_bytes(high | high >> 4, low | low >> 4, 0x6420);
}
// Inserts eight planes of four coefficients, as take_planes() returns them, below the `read` top planes. Each
// byte, two planes, is copied to two (0x0011, 0x2233), of which one keeps the low nibble and one the high
// nibble.
template <class Word, class Simt>
TAUT_DEVICE void insert_planes(const Simt& simt, Word (&u)[4], std::uint32_t planes, unsigned read) {
  const std::uint32_t high = simt.permute_bytes(planes, 0, 0x0011),
                      low = simt.permute_bytes(planes, 0, 0x2233);
  constexpr std::uint32_t even = 0x000F000F, odd = 0x0F000F00;
  const ByteRow bytes = to_bytes(simt, {(low >> 4 & even) | (low & odd), (high >> 4 & even) | (high & odd)});
  for (unsigned i = 0; i < 4; ++i) {
    const std::uint32_t byte = (i % 2 == 0 ? bytes.even : bytes.odd) >> 8 * (i / 2) & 0xFF;
    u[i] |= Word{byte} << (8 * sizeof(Word) - 8) >> read;
  }
}

// Eight planes of 64 coefficients, of each lane, the lowest first: blocks of 64 values pass them to the coder
// in memory, because they are transposed together.
struct EightPlanes {
  std::uint64_t plane[matrix_side][warp_lanes];
};

// Transposes a 4 x 4 matrix of bytes, whose rows are words: first within pairs of rows, then across the
// pairs. Digit k of a selector is the source of byte k: 0 to 3 in the first word, 4 to 7 in the second.
template <class Simt>
TAUT_DEVICE void transpose_bytes(const Simt& simt, std::uint32_t* rows) {
  const std::uint32_t a = simt.permute_bytes(rows[0], rows[1], 0x5140),
                      b = simt.permute_bytes(rows[2], rows[3], 0x5140);
  const std::uint32_t c = simt.permute_bytes(rows[0], rows[1], 0x7362),
                      d = simt.permute_bytes(rows[2], rows[3], 0x7362);
  rows[0] = simt.permute_bytes(a, b, 0x5410), rows[1] = simt.permute_bytes(a, b, 0x7632);
  rows[2] = simt.permute_bytes(c, d, 0x5410), rows[3] = simt.permute_bytes(c, d, 0x7632);
}

// Removes the top eight bits of all coefficients.
template <class Word, class Simt>
TAUT_DEVICE void take_planes(const Simt& simt, Word (&u)[64], EightPlanes& planes) {
  std::uint32_t words[2][matrix_side];  // plane k of the first and of the last 32 coefficients
  for (unsigned half = 0; half < 2; ++half) {
    for (unsigned g = 0; g < 4; ++g) {
      Word eight[matrix_side];
      for (unsigned i = 0; i < matrix_side; ++i) {
        eight[i] = u[32 * half + matrix_side * g + i];
        u[32 * half + matrix_side * g + i] <<= 8;
      }
      const PlaneRow row = to_planes(simt, byte_row(simt, eight, sizeof(Word) - 1));
      words[half][g] = row.low;
      words[half][4 + g] = row.high;
    }
    transpose_bytes(simt, words[half]);
    transpose_bytes(simt, words[half] + 4);
  }
  for (unsigned k = 0; k < matrix_side; ++k)
    planes.plane[k][simt.thread() % warp_lanes] = words[0][k] | std::uint64_t{words[1][k]} << 32;
}
// Appends eight bits to all coefficients, the inverse of take_planes().
template <class Word, class Simt>
TAUT_DEVICE void append_planes(const Simt& simt, Word (&u)[64], const EightPlanes& planes) {
  std::uint32_t words[2][matrix_side];
  for (unsigned k = 0; k < matrix_side; ++k) {
    const std::uint64_t plane = planes.plane[k][simt.thread() % warp_lanes];
    words[0][k] = static_cast<std::uint32_t>(plane);
    words[1][k] = static_cast<std::uint32_t>(plane >> 32);
  }
  for (unsigned half = 0; half < 2; ++half) {
    transpose_bytes(simt, words[half]);
    transpose_bytes(simt, words[half] + 4);
    for (unsigned g = 0; g < 4; ++g) {
      const ByteRow bytes = to_bytes(simt, {words[half][g], words[half][4 + g]});
      for (unsigned i = 0; i < matrix_side; ++i) {
        const std::uint32_t four = i % 2 == 0 ? bytes.even : bytes.odd;
        Word& v = u[32 * half + matrix_side * g + i];
        v = v << 8 | (four >> 8 * (i / 2) & 0xFF);
      }
    }
  }
}

// Writes a plane. `reached` is the number of coefficients reached so far, and is updated. The 1 of the last
// coefficient needs no bit. The bits of a plane of 16 coefficients, at most 31, are put together.
template <unsigned Size, class Simt>
TAUT_DEVICE void write_plane(const Simt& simt, std::uint32_t plane, unsigned& reached, BitWriter<Simt>& out) {
  std::uint32_t bits = low_bits(plane, reached);
  unsigned count = reached;
  plane >>= reached;
  TAUT_ROLLED
  while (reached < Size) {
    if (plane == 0) {
      ++count;
      break;
    }
    const unsigned next = trailing_zeros(simt, plane) + 1;
    reached += next;
    bits |= (reached == Size ? 1 : 1 | 1u << next) << count;
    count += reached == Size ? next : next + 1;
    plane >>= next;
  }
  out.put(bits, count);
}
template <unsigned Size, class Simt>
TAUT_DEVICE void write_plane(const Simt& simt, std::uint64_t plane, unsigned& reached, BitWriter<Simt>& out) {
  const unsigned low = reached < 32 ? reached : 32;
  out.put(low_bits(static_cast<std::uint32_t>(plane), low), low);
  if (reached > 32) out.put(low_bits(static_cast<std::uint32_t>(plane >> 32), reached - 32), reached - 32);
  plane = shifted_out(plane, reached);
  TAUT_ROLLED
  while (reached < Size && out.has_room()) {
    if (plane == 0) return out.put(0, 1);
    const unsigned zeros = trailing_zeros(simt, plane);
    reached += zeros + 1;
    out.put_next_one(zeros, reached == Size);
    plane = shifted_out(plane, zeros + 1);
  }
}

// Reads a plane, the inverse of write_plane().
template <unsigned Size, class Simt>
TAUT_DEVICE Plane<Size> read_plane(const Simt& simt, unsigned& reached, BitReader<Simt>& in) {
  if constexpr (Size <= 32) {
    std::uint32_t bits = in.peek(), plane = low_bits(bits, reached);
    unsigned count = reached;
    bits >>= reached;
    TAUT_ROLLED
    for (; reached < Size; bits >>= 1) {
      ++count;
      if ((bits & 1) == 0) break;
      bits >>= 1;
      const unsigned max_zeros = Size - 1 - reached;
      const unsigned zeros = min3(trailing_zeros(simt, bits), max_zeros, in.left() - static_cast<int>(count));
      reached += zeros + 1;
      plane |= 1u << (reached - 1);
      count += zeros;
      bits >>= zeros;
      if (zeros == max_zeros) break;
      ++count;
    }
    in.skip(count);
    return plane;
  } else {
    std::uint64_t plane = in.take(reached < 32 ? reached : 32);
    if (reached > 32) plane |= std::uint64_t{in.take(reached - 32)} << 32;
    TAUT_ROLLED
    while (reached < Size && in.take(1) != 0) {
      reached += in.take_zeros(Size - 1 - reached) + 1;
      plane |= std::uint64_t{1} << (reached - 1);
    }
    return plane;
  }
}

struct NoMemory {};
// Memory of a warp for the planes of blocks, which only blocks of 64 values use.
template <unsigned D>
using PlaneMemory = std::conditional_t<D == 3, EightPlanes, NoMemory>;

// Writes a block with this exponent, which is not 0. The values are finite, and each is 0 or at least
// min_magnitude_at_rate (codecs/zfp/tile.hpp) in magnitude.
template <unsigned D, class T, class Simt>
TAUT_DEVICE void write_block(const Simt& simt, PlaneMemory<D>& planes, const T (&x)[block_values<D>],
                             unsigned exponent, BitWriter<Simt>& out) {
  constexpr unsigned size = block_values<D>;
  out.put(2 * exponent + 1, FloatFormat<T>::exponent_bits + 1);
  const T scale = scale_up<T>(exponent);
  WordOf<T> integers[size], digits[size];
  for (unsigned i = 0; i < size; ++i) integers[i] = to_integer(x[i], scale);
  transform<D>(integers, digits);
  unsigned reached = 0, k = word_bits<T>;
  TAUT_ROLLED
  for (; k > 0 && out.has_room() && (D > 1 || reached < size); --k) {
    if constexpr (D < 3) {
      write_plane<size>(simt, take_plane(digits), reached, out);
    } else {
      if (k % matrix_side == 0) take_planes(simt, digits, planes);
      write_plane<size>(simt, planes.plane[(k - 1) % matrix_side][simt.thread() % warp_lanes], reached, out);
    }
  }
  if constexpr (D == 1) {  // all coefficients are reached: their planes follow without other bits
    TAUT_ROLLED
    for (; k > 0 && out.has_room(); k -= k < matrix_side ? k : matrix_side)
      out.put(take_planes(simt, digits), 32);
  }
}

// Returns the number of planes that zfp reads: planes down to 2^-1074, the least positive double, and as many
// more as zfp adds for its transform.
template <unsigned D, class T>
TAUT_DEVICE unsigned planes_to_read(unsigned exponent) {
  constexpr unsigned least_exponent = 1074, spare = 2 * D + 2;
  const unsigned planes = exponent + least_exponent + spare - FloatFormat<T>::bias;
  return planes < word_bits<T> ? planes : word_bits<T>;
}

// Returns a coefficient of which the `planes` highest bits were read; the lower bits are 0.
template <class Word>
TAUT_DEVICE Word with_zeros(Word digits, unsigned planes) {
  return planes == 0 ? 0 : digits << (8 * sizeof(Word) - planes);
}

// Reads a block, the inverse of write_block().
template <unsigned D, class T, class Simt>
TAUT_DEVICE void read_block(const Simt& simt, PlaneMemory<D>& planes, BitReader<Simt>& in,
                            T (&x)[block_values<D>]) {
  constexpr unsigned size = block_values<D>;
  WordOf<T> digits[size] = {}, integers[size];
  unsigned exponent = 0;
  if (in.take(1) != 0) {
    exponent = in.take(FloatFormat<T>::exponent_bits);
    unsigned reached = 0, read = 0;
    const unsigned max_planes = planes_to_read<D, T>(exponent);
    const auto has_plane = [&] { return read < max_planes && in.left() > 0; };
    TAUT_ROLLED
    while (has_plane() && (D > 1 || reached < size)) {
      if constexpr (D < 3) {
        append_plane(digits, read_plane<size>(simt, reached, in));
        ++read;
      } else {
        TAUT_ROLLED
        for (unsigned k = matrix_side; k-- > 0; ++read)
          planes.plane[k][simt.thread() % warp_lanes] = has_plane() ? read_plane<size>(simt, reached, in) : 0;
        append_planes(simt, digits, planes);
      }
    }
    for (unsigned i = 0; i < size; ++i) digits[i] = with_zeros(digits[i], read);
    if constexpr (D == 1) {
      TAUT_ROLLED
      for (; has_plane(); read += matrix_side)
        insert_planes(simt, digits, low_bits(in.take(32), size * (max_planes - read)), read);
    }
  }
  restore<D>(digits, integers);
  const T scale = scale_down<T>(exponent);
  for (unsigned i = 0; i < size; ++i) x[i] = to_value(integers[i], scale);
}

}  // namespace taut::zfp::cuda
