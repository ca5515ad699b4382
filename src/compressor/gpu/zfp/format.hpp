// Constants of the zfp codec's format (codecs/zfp/spec.md) that kernels need. tile.hpp and frame_reader.hpp
// define the same constants, but include zfp.h; the tests compare the frames.
#pragma once

#include "compressor/codecs/zfp/classes.hpp"
#include "compressor/codecs/zfp/shape.hpp"
#include "compressor/gpu/simt/frame.hpp"

namespace taut::zfp::cuda {

using namespace taut::cuda;

inline constexpr std::uint8_t frame_id = 5;
inline constexpr std::size_t max_count = std::size_t{1} << 30;

// Values along an edge of a block, and values of a group of the map (classes.hpp), as 32-bit integers.
inline constexpr std::uint32_t edge = block_edge, group_size = class_group;

// Format of a floating-point type: the word for zfp's integers, and the fields of a number.
template <class T>
struct FloatFormat {
  using Bits = std::uint32_t;
  static constexpr unsigned exponent_bits = 8, bias = 127, fraction_bits = 23;
};
template <>
struct FloatFormat<double> {
  using Bits = std::uint64_t;
  static constexpr unsigned exponent_bits = 11, bias = 1023, fraction_bits = 52;
};
template <class T>
using WordOf = typename FloatFormat<T>::Bits;
template <class T>
inline constexpr unsigned word_bits = 8 * sizeof(T);

// Number of values of a block. D, here and in the other headers: number of dimensions of the field, 1 to 4.
template <unsigned D>
inline constexpr unsigned block_values = 1u << 2 * D;

// Limits of the number of bits of a block.
template <class T>
inline constexpr unsigned min_block_bits = 1 + FloatFormat<T>::exponent_bits;
template <class T, unsigned D>
inline constexpr unsigned max_block_bits = word_bits<T>* block_values<D>;

// Rate, in bits a value, from which on the size of a record does not depend on the values: even a tile of
// nothing but NaN and infinities fits with its map. Some tiles fit at lower rates too.
inline constexpr double min_fixed_rate = 7;

// Returns the number of bits of a block of `values` values.
template <class T>
constexpr unsigned block_bits(double rate, unsigned values) {
  constexpr unsigned least = min_block_bits<T>;
  const double most = word_bits<T>;
  const auto bits = static_cast<unsigned>((rate < most ? rate : most) * values + 0.5);
  return bits < least ? least : bits;  // std::max would take the address of a constant of the host: a trap
}
constexpr std::uint32_t stream_bytes(std::uint32_t blocks, unsigned bits) { return (blocks * bits + 7) / 8; }

// How a record stores its tile: as a zfp stream; as the values, unchanged; as a zfp stream and a map.
enum class Form : std::uint32_t { coded = 0, stored = 1, repaired = 2 };
// An entry of the index: form and size of the record of a tile.
struct IndexEntry {
  static constexpr unsigned form_shift = 30;
  std::uint32_t word;

  constexpr IndexEntry(std::uint32_t packed) : word(packed) {}
  constexpr IndexEntry(Form form, std::uint32_t bytes)
      : word(bytes | static_cast<std::uint32_t>(form) << form_shift) {}
  constexpr std::uint32_t bytes() const { return word & ((1u << form_shift) - 1); }
  constexpr Form form() const { return static_cast<Form>(word >> form_shift); }
};

// Returns the index entry of a tile. `map_bytes`: size of the map of its NaN and infinite values
// (classes.hpp); 0 if all values are finite.
template <class T>
constexpr IndexEntry entry_of(std::uint32_t values, std::uint32_t blocks, unsigned bits,
                              std::uint32_t map_bytes) {
  const auto raw = static_cast<std::uint32_t>(values * sizeof(T));
  const std::uint32_t bytes = stream_bytes(blocks, bits);
  if (bytes >= raw) return {Form::stored, raw};
  if (map_bytes == 0) return {Form::coded, bytes};
  const bool fits = map_bytes < bytes && (bytes - map_bytes) * 8 / blocks >= min_block_bits<T>;
  return fits ? IndexEntry(Form::repaired, bytes) : IndexEntry(Form::stored, raw);
}

// Returns the bits that are left for each block of a tile with a map.
constexpr unsigned repaired_bits(std::uint32_t bytes, std::uint32_t map_bytes, std::uint32_t blocks,
                                 unsigned bits) {
  const std::uint32_t left = (bytes - map_bytes) * 8 / blocks;
  return left < bits ? left : bits;
}

// Returns true if a tile has the same size whether its values are finite or not.
template <class T>
constexpr bool is_fixed(std::uint32_t values, std::uint32_t blocks, unsigned bits) {
  const std::size_t rest = values % class_group;
  const std::size_t map =
      mark_bytes(values) + values / class_group * class_bytes(class_group) + class_bytes(rest);
  return entry_of<T>(values, blocks, bits, static_cast<std::uint32_t>(map)).bytes() ==
         entry_of<T>(values, blocks, bits, 0).bytes();
}

// Return the number of words of a frame between header and index, which hold the extents, and the number of
// bytes between header and records.
constexpr unsigned extent_words(unsigned dims) { return dims > 1 ? dims : 0; }
constexpr std::uint64_t front_bytes(unsigned dims, std::uint64_t tiles) {
  return 4 * (extent_words(dims) + tiles);
}

}  // namespace taut::zfp::cuda
