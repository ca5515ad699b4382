// The runs of a record, as bytes: reading and writing. The functions of runs.hpp do the same on the host.
#pragma once

#include "compressor/gpu/planes/block_codec.hpp"
#include "compressor/gpu/planes/values.hpp"

namespace taut::planes::cuda {

// Returns the size of a run: start and length, hold, value. A hold is wide in a record of 64-bit integers.
template <class T>
constexpr std::uint32_t run_bytes_of(bool is_wide) {
  return 4 + (is_wide ? 8u : 4u) + static_cast<std::uint32_t>(sizeof(T));
}

// Stores a value at an even byte, as runs require.
template <class V>
TAUT_DEVICE void store_halves(std::uint16_t* to, V value) {
  const BitsOf<V> bits = bits_of(value);
  for (unsigned i = 0; i < sizeof(V) / 2; ++i) to[i] = static_cast<std::uint16_t>(bits >> (16 * i));
}

template <class V>
TAUT_DEVICE V load_bytes(const Words& in, std::uint32_t byte) {
  if constexpr (sizeof(V) == 2) {
    return std::bit_cast<V>(static_cast<std::uint16_t>(in.word(byte)));
  } else if constexpr (sizeof(V) == 4) {
    return std::bit_cast<V>(in.word(byte));
  } else {
    return std::bit_cast<V>(in.word(byte) | std::uint64_t{in.word(byte + 4)} << 32);
  }
}

// Returns the number of words of a record that consists of one raw layer of n values.
template <class T>
constexpr std::uint32_t layer_words(std::uint32_t n) {
  return static_cast<std::uint32_t>(whole_words(layer_head_bytes + n * sizeof(T)) / 4);
}

// Load and store value i of the layer in such a record, which is aligned to words only.
template <class T>
TAUT_DEVICE T load_layer_value(const std::uint32_t* record, std::uint32_t i) {
  const std::uint32_t* const layer = record + layer_head_bytes / 4;
  if constexpr (sizeof(T) == 2) {
    return reinterpret_cast<const T*>(layer)[i];
  } else if constexpr (sizeof(T) == 4) {
    return std::bit_cast<T>(layer[i]);
  } else {
    return std::bit_cast<T>(layer[2 * i] | std::uint64_t{layer[2 * i + 1]} << 32);
  }
}
template <class T>
TAUT_DEVICE void store_layer_value(std::uint32_t* record, std::uint32_t i, T value) {
  std::uint32_t* const layer = record + layer_head_bytes / 4;
  const BitsOf<T> bits = bits_of(value);
  if constexpr (sizeof(T) == 2) {
    reinterpret_cast<std::uint16_t*>(layer)[i] = bits;
  } else if constexpr (sizeof(T) == 4) {
    layer[i] = bits;
  } else {
    layer[2 * i] = static_cast<std::uint32_t>(bits);
    layer[2 * i + 1] = static_cast<std::uint32_t>(bits >> 32);
  }
}

// A run: equal values at consecutive places, and the integer that holds their places.
template <class T>
struct DecodedRun {
  std::uint32_t start_and_length;  // start << 16 | length, so that runs compare by start
  std::int64_t hold;
  T value;

  TAUT_DEVICE std::uint32_t start() const { return start_and_length >> 16; }
  TAUT_DEVICE std::uint32_t end() const { return start() + (start_and_length & 0xFFFF); }
  TAUT_DEVICE bool covers(std::uint32_t i) const { return start() <= i && i < end(); }
  TAUT_DEVICE bool operator<(const DecodedRun& b) const {  // order of runs in a record
    if (start_and_length != b.start_and_length) return start_and_length < b.start_and_length;
    return hold < b.hold || (hold == b.hold && bits_of(value) < bits_of(b.value));
  }
};

// The runs of a record.
template <class T>
struct RunsView {
  Words words;
  std::uint32_t first_byte = 0, count = 0;
  bool is_wide = false;

  TAUT_DEVICE DecodedRun<T> operator[](std::uint32_t i) const {
    const std::uint32_t from = first_byte + i * run_bytes_of<T>(is_wide), start_and_length = words.word(from);
    const std::int64_t hold =
        is_wide ? load_bytes<std::int64_t>(words, from + 4) : load_bytes<std::int32_t>(words, from + 4);
    // A record has u16 start, u16 length.
    return {start_and_length << 16 | start_and_length >> 16, hold,
            load_bytes<T>(words, from + (is_wide ? 12 : 8))};
  }

  // Returns the index of the first run from `low` on for which `is` holds. `is` must also hold for all runs
  // after it.
  template <class Predicate>
  TAUT_DEVICE std::uint32_t first(std::uint32_t low, const Predicate& is) const {
    for (std::uint32_t high = count; low < high;) {
      const std::uint32_t middle = (low + high) / 2;
      if (is((*this)[middle])) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }
};

// Write the parts of a run at `to`.
TAUT_DEVICE void write_run_head(std::uint16_t* to, std::uint32_t start_and_length, std::int64_t hold,
                                bool is_wide) {
  to[0] = static_cast<std::uint16_t>(start_and_length >> 16);
  to[1] = static_cast<std::uint16_t>(start_and_length);
  if (is_wide) {
    store_halves(to + 2, hold);
  } else {
    store_halves(to + 2, static_cast<std::int32_t>(hold));
  }
}
template <class T>
TAUT_DEVICE void write_run_value(std::uint16_t* to, T value, bool is_wide) {
  store_halves(to + (is_wide ? 6 : 4), value);
}

}  // namespace taut::planes::cuda
