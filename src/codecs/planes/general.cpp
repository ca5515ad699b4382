#include "codecs/planes/general.hpp"

#include <algorithm>
#include <tuple>

#include "codecs/planes/block.hpp"
#include "codecs/planes/exact_sum.hpp"

namespace taut::planes {
namespace {

// More values than this beyond the large range, and a float64 chunk becomes wide.
constexpr std::size_t tolerated_escapes = 64;

constexpr std::size_t max_wide_record = max_plane_record<std::int64_t>;

template <class T>
bool same_bits(T a, T b) noexcept {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

template <class T>
bool wants_wide(const T* values, std::size_t n, const Quantiser<T>& z) noexcept {
  if constexpr (sizeof(T) == 4) return false;
  const double scale = 1 / static_cast<double>(z.step);
  std::size_t beyond = 0;
  for (std::size_t i = 0; i < n; ++i) {
    std::int64_t q;
    beyond += !quantise(values[i], z, scale, large_bits, q) && quantise(values[i], z, scale, wide_bits, q);
  }
  return beyond > tolerated_escapes;
}

template <class T, class Int>
void add_planes(const Record<T>& r, Predictor predictor, std::int64_t* q) noexcept {
  const std::byte* at = r.payload;
  using Bits = std::make_unsigned_t<Int>;
  Bits previous[2] = {static_cast<Bits>(r.header.base), static_cast<Bits>(r.header.base)};
  const std::size_t back = lag(predictor);
  for (std::size_t b = 0; b < blocks_of(r.count); ++b) {
    // A block may end less than 8 bytes before the record does.
    std::byte padded[sizeof(Int) * block_values + 8] = {};
    const unsigned width = r.widths.of[b];
    if (width > 0) std::memcpy(padded, at, width);
    at += width;
    Int d[block_values];
    read_block(padded, width, d);
    for (std::size_t i = 0; i < block_values && b * block_values + i < r.count; ++i) {
      if (back > 0) d[i] = static_cast<Int>(previous[i % back] += static_cast<Bits>(d[i]));
      q[b * block_values + i] += d[i];
    }
  }
}

// Differences of 64-bit integers as planes at `out`; returns their bytes.
std::size_t pack_wide(const std::int64_t* q, std::size_t n, Predictor predictor, std::byte* out,
                      Widths& widths) noexcept {
  std::byte* at = out;
  const std::size_t back = lag(predictor);
  std::uint64_t previous[2] = {static_cast<std::uint64_t>(q[0]), static_cast<std::uint64_t>(q[0])};
  for (std::size_t b = 0; b < blocks_of(n); ++b) {
    std::int64_t d[block_values] = {};
    for (std::size_t i = 0; i < block_values && b * block_values + i < n; ++i) {
      const auto v = static_cast<std::uint64_t>(q[b * block_values + i]);
      d[i] = static_cast<std::int64_t>(back > 0 ? v - std::exchange(previous[i % back], v) : v);
    }
    const unsigned width = block_width(d);
    at = write_block(at, d, width);
    widths.of[b] = static_cast<std::uint8_t>(width);
  }
  return static_cast<std::size_t>(at - out);
}

// Planes of the integers as a record without runs and layers, at `out` (max_wide_record); returns its bytes.
std::size_t write_planes(const std::int64_t* q, std::size_t n, std::uint8_t flags, Predictor predictor,
                         const KernelSet& kernels, std::byte* out) noexcept {
  RecordHeader h{flags, 0, predictor == Predictor::none ? 0 : q[0]};
  if (h.has(wide)) {
    Widths widths{};
    h.plane_bytes = static_cast<std::uint16_t>(pack_wide(q, n, predictor, out + h.bytes(), widths));
    return finish_planes(out, h, widths, kernels.widths.inspect(widths), blocks_of(n), kernels.widths);
  }
  std::int32_t narrow[chunk_values];
  for (std::size_t i = 0; i < n; ++i) narrow[i] = static_cast<std::int32_t>(q[i]);
  const std::size_t groups = groups_of(n);
  const std::size_t back = lag(predictor);
  for (std::size_t i = n; i < groups * group_values; ++i)
    narrow[i] = back == 0 ? 0 : narrow[i < back ? 0 : i - back];
  PlanesOut planes(out + h.bytes());
  kernels.ints.pack(narrow, groups, predictor, planes);
  h.plane_bytes = static_cast<std::uint16_t>(planes.bytes);
  return finish_planes(out, h, planes.widths, kernels.widths.inspect(planes.widths), blocks_of(n),
                       kernels.widths);
}

template <class T>
std::byte* write_run(std::byte* out, const Run<T>& run, bool is_wide) noexcept {
  out = store(out, run.start);
  out = store(out, run.length);
  out = is_wide ? store(out, run.hold) : store(out, static_cast<std::int32_t>(run.hold));
  return store(out, run.value);
}

}  // namespace

template <class T>
void GeneralChunk<T>::quantise(const T* values, const Quantiser<T>& z) {
  const double scale = 1 / static_cast<double>(z.step);
  const bool is_wide = wants_wide(values, count, z);
  flags = is_wide ? wide | large : 0;
  std::int64_t hold = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (planes::quantise(values[i], z, scale, is_wide ? wide_bits : large_bits, q[i])) {
      hold = q[i];
      if (!within(hold, small_bits)) flags |= large;
      continue;
    }
    q[i] = hold;
    const bool continues = !runs.empty() && runs.back().start + runs.back().length == static_cast<int>(i) &&
                           same_bits(runs.back().value, values[i]);
    if (continues) {
      ++runs.back().length;
    } else {
      runs.push_back({static_cast<std::uint16_t>(i), 1, hold, values[i]});
    }
  }
}

template <class T>
void GeneralChunk<T>::add(const Record<T>& r, Predictor predictor) {
  flags |= r.header.flags & (wide | large);
  r.header.has(wide) ? add_planes<T, std::int64_t>(r, predictor, q)
                     : add_planes<T, std::int32_t>(r, predictor, q);
  const std::size_t hold_bytes = r.header.has(wide) ? 8 : 4;
  const std::byte* at = r.runs;
  for (std::size_t i = 0; i < r.run_count; ++i, at += 4 + hold_bytes + sizeof(T)) {
    const std::int64_t hold = hold_bytes == 8 ? load<std::int64_t>(at + 4) : load<std::int32_t>(at + 4);
    runs.push_back(
        {load<std::uint16_t>(at), load<std::uint16_t>(at + 2), hold, load<T>(at + 4 + hold_bytes)});
  }
  for (std::size_t i = 0; i < r.layer_count; ++i) add_layer(r.layers + i * count * sizeof(T));
}

template <class T>
void GeneralChunk<T>::values(T step, T* out) const {
  std::vector<std::vector<const Run<T>*>> at(runs.empty() ? 0 : count);
  for (const Run<T>& run : runs)
    for (std::size_t i = 0; i < run.length; ++i) at[run.start + i].push_back(&run);

  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t exact_runs = at.empty() ? 0 : at[i].size();
    if (exact_runs + layers.size() == 0) {
      out[i] = dequantise(q[i], step);
      continue;
    }
    std::int64_t rest = q[i];
    for (std::size_t k = 0; k < exact_runs; ++k) rest -= at[i][k]->hold;
    const auto layer_value = [&](const std::byte* layer) { return load<T>(layer + i * sizeof(T)); };
    if (rest == 0 && exact_runs + layers.size() == 1) {  // one exact value and nothing else: its very bits
      out[i] = exact_runs == 1 ? at[i][0]->value : layer_value(layers[0]);
      continue;
    }
    ExactSum sum;
    sum.add_product(static_cast<double>(rest), static_cast<double>(step));
    for (std::size_t k = 0; k < exact_runs; ++k) sum.add(static_cast<double>(at[i][k]->value));
    for (const std::byte* layer : layers) sum.add(static_cast<double>(layer_value(layer)));
    out[i] = sum.rounded<T>();
  }
}

template <class T>
std::size_t GeneralChunk<T>::write(std::uint32_t addends, Predictor predictor, const KernelSet& kernels,
                                   std::byte* out, std::size_t capacity) {
  const int bits = (flags & large) != 0 ? large_bits : small_bits;
  if (std::uint64_t{addends} << bits >= std::uint64_t{1} << narrow_sum_bits) flags |= wide;
  const bool is_wide = (flags & wide) != 0;
  if (!runs.empty()) flags |= has_runs;
  if (!layers.empty()) flags |= has_layers;

  std::byte planes[max_wide_record];
  const std::size_t plane_bytes = write_planes(q, count, flags, predictor, kernels, planes);
  const std::size_t total = plane_bytes + (runs.empty() ? 0 : 4 + runs.size() * run_bytes<T>(is_wide)) +
                            (layers.empty() ? 0 : 4 + layers.size() * count * sizeof(T));
  if (total > capacity) return 0;
  std::memcpy(out, planes, plane_bytes);
  out += plane_bytes;
  if (!runs.empty()) {
    std::sort(runs.begin(), runs.end(), [](const Run<T>& a, const Run<T>& b) {
      using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
      return std::tuple(a.start, a.length, a.hold, std::bit_cast<Bits>(a.value)) <
             std::tuple(b.start, b.length, b.hold, std::bit_cast<Bits>(b.value));
    });
    out = store(out, static_cast<std::uint32_t>(runs.size()));
    for (const Run<T>& run : runs) out = write_run(out, run, is_wide);
  }
  if (!layers.empty()) out = store(out, static_cast<std::uint32_t>(layers.size()));
  for (const std::byte* layer : layers) {
    std::memcpy(out, layer, count * sizeof(T));
    out += count * sizeof(T);
  }
  return total;
}

template struct GeneralChunk<float>;
template struct GeneralChunk<double>;

}  // namespace taut::planes
