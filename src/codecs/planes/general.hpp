// Chunks with everything the format allows: exact values, raw layers, 64-bit integers. Portable, off the fast
// path.
#pragma once

#include <vector>

#include "codecs/planes/kernels.hpp"
#include "codecs/planes/record.hpp"

namespace taut::planes {

// The same exact value at consecutive places; `hold` is what the quantised integers carry there.
template <class T>
struct Run {
  std::uint16_t start;
  std::uint16_t length;
  std::int64_t hold;
  T value;
};

// A chunk, or a sum of chunks, taken apart: value i is q[i] * step + its runs and layers - the holds of its
// runs.
template <class T>
struct GeneralChunk {
  std::size_t count = 0;
  std::uint8_t flags = 0;  // wide, large
  std::int64_t q[chunk_values] = {};
  std::vector<Run<T>> runs;
  std::vector<const std::byte*> layers;  // count values each, unaligned

  explicit GeneralChunk(std::size_t n) : count(n) {}

  void quantise(const T* values, const Quantiser<T>& z);
  void add_layer(const std::byte* values) { layers.push_back(values); }

  // Adds a record that read_record has accepted.
  void add(const Record<T>& record, Predictor predictor);

  // q * step + exact values, each correctly rounded.
  void values(T step, T* out) const;

  // Writes the record of a sum of `addends` chunks; returns its bytes, 0 when `capacity` does not suffice.
  std::size_t write(std::uint32_t addends, Predictor predictor, const KernelSet& kernels, std::byte* out,
                    std::size_t capacity);
};

extern template struct GeneralChunk<float>;
extern template struct GeneralChunk<double>;

}  // namespace taut::planes
