#include "codecs/szx/chunk.hpp"

#include <limits>

#include "codecs/szx/block.hpp"

namespace taut::szx {
namespace {

// A record as it is read: its parts, all of them inside it.
template <class T>
struct Record {
  Form form = Form::constant;
  IntOf<T> base = 0;
  alignas(64) IntOf<T> lows[chunk_blocks];
  std::uint8_t codes[chunk_blocks];
  const std::byte* body = nullptr;  // blocks, or raw values
};

template <class T>
std::byte* write_head(std::byte* to, Form form, std::uint8_t base_bytes, IntOf<T> base) noexcept {
  to = store(to, static_cast<std::uint8_t>(form));
  to = store(to, base_bytes);
  to = store(to, std::uint16_t{0});
  return store(to, base);
}

template <class T>
std::size_t write_raw(const T* values, std::size_t n, std::byte* to) noexcept {
  to = store(to, std::uint32_t{static_cast<std::uint8_t>(Form::raw)});
  std::memcpy(to, values, n * sizeof(T));
  return raw_head_bytes + n * sizeof(T);
}

std::byte* pad(std::byte* from, std::byte* to) noexcept {
  const auto bytes = static_cast<std::size_t>(to - from);
  std::memset(to, 0, whole_words(bytes) - bytes);
  return from + whole_words(bytes);
}

// The least low of the coded blocks; all others get it, so that their distance is 0.
template <class T>
IntOf<T> set_base(Plan<T>& plan, std::size_t blocks) noexcept {
  IntOf<T> base = std::numeric_limits<IntOf<T>>::max();
  for (std::size_t b = 0; b < blocks; ++b) base = std::min(base, plan.code[b] < same ? plan.low[b] : base);
  if (base == std::numeric_limits<IntOf<T>>::max()) base = 0;
  for (std::size_t b = 0; b < blocks; ++b) plan.low[b] = plan.code[b] < same ? plan.low[b] : base;
  return base;
}

// Distances of the lows from the base, as many bytes as the greatest takes: bytes of equal weight together.
template <class T>
std::byte* write_distances(const Plan<T>& plan, std::size_t blocks, IntOf<T> base, unsigned bytes,
                           std::byte* to) noexcept {
  for (unsigned k = 0; k < bytes; ++k, to += blocks)
    for (std::size_t b = 0; b < blocks; ++b)
      to[b] = static_cast<std::byte>(static_cast<BitsOf<T>>(plan.low[b] - base) >> 8 * k);
  return to;
}

template <class T>
void read_distances(const std::byte* from, std::size_t blocks, IntOf<T> base, unsigned bytes,
                    IntOf<T>* lows) noexcept {
  std::fill_n(lows, blocks, base);
  for (unsigned k = 0; k < bytes; ++k, from += blocks)
    for (std::size_t b = 0; b < blocks; ++b)
      lows[b] = sum_of<T>(lows[b], static_cast<BitsOf<T>>(std::to_integer<BitsOf<T>>(from[b]) << 8 * k));
}

// Bytes of the blocks with these codes; 0 when one is none. (All blocks constant: 0 as well, which no encoder writes.)
template <class T>
std::size_t body_bytes(const std::uint8_t* codes, std::size_t blocks, bool& valid) noexcept {
  std::size_t bytes = 0;
  valid = true;
  for (std::size_t b = 0; b < blocks; ++b) {
    valid &= codes[b] <= max_width<T> || codes[b] >= same;
    bytes += block_bytes<T>(codes[b]);
  }
  return bytes;
}

template <class T>
bool read_record(ConstBytes bytes, std::size_t n, Record<T>& record) noexcept {
  if (bytes.empty()) return true;
  const std::size_t blocks = blocks_of(n);
  const auto head = load<std::uint32_t>(bytes.data());  // an index entry has at least 4 bytes
  record.form = static_cast<Form>(head & 0xFF);
  const unsigned base_bytes = head >> 8;
  if (record.form == Form::raw) {
    record.body = bytes.data() + raw_head_bytes;
    return base_bytes == 0 && bytes.size() == raw_head_bytes + n * sizeof(T);
  }
  if (bytes.size() < head_bytes<T>) return false;
  record.base = load<IntOf<T>>(bytes.data() + 4);
  if (record.form == Form::constant) return base_bytes == 0 && bytes.size() == head_bytes<T>;

  const std::size_t before_body = head_bytes<T> + blocks * (1 + base_bytes);
  if (record.form != Form::blocks || base_bytes > sizeof(T) || bytes.size() < before_body) return false;
  const std::byte* const at = bytes.data() + head_bytes<T>;
  std::memcpy(record.codes, at, blocks);
  read_distances<T>(at + blocks, blocks, record.base, base_bytes, record.lows);
  record.body = bytes.data() + before_body;
  bool valid = false;
  const std::size_t body = body_bytes<T>(record.codes, blocks, valid);
  return valid && bytes.size() == whole_words(before_body + body);
}

// values <- record, or values <- values + record, for whole blocks.
template <bool add, class T>
void unpack(const Record<T>& record, std::size_t blocks, const Grid<T>& grid, const Kernels<T>& kernels,
            T* values) noexcept {
  const auto kernel = add ? kernels.unpack_add : kernels.unpack;
  kernel(record.body, blocks, record.codes, record.lows, grid, values);
}

template <bool add, class T>
void take(const Record<T>& record, std::size_t n, const Grid<T>& grid, const Kernels<T>& kernels,
          T* values) noexcept {
  if (record.form == Form::constant) {
    const T value = grid.value(record.base);
    for (std::size_t i = 0; i < n; ++i) put<add>(values[i], value);
  } else if (record.form == Form::raw) {
    for (std::size_t i = 0; i < n; ++i) put<add>(values[i], load<T>(record.body + i * sizeof(T)));
  } else if (n % block_values == 0) {
    unpack<add>(record, blocks_of(n), grid, kernels, values);
  } else {
    alignas(64) T whole[chunk_values];
    std::copy_n(values, n, whole);
    std::fill(whole + n, whole + blocks_of(n) * block_values, T{0});
    unpack<add>(record, blocks_of(n), grid, kernels, whole);
    std::copy_n(whole, n, values);
  }
}

}  // namespace

template <class T>
std::size_t encode_chunk(const T* values, std::size_t n, const Grid<T>& grid, const Kernels<T>& kernels,
                         std::byte* to) noexcept {
  if (n % block_values != 0) {  // completed with the last value
    alignas(64) T whole[chunk_values];
    std::copy_n(values, n, whole);
    std::fill(whole + n, whole + blocks_of(n) * block_values, values[n - 1]);
    const std::size_t bytes = encode_chunk(whole, blocks_of(n) * block_values, grid, kernels, to);
    const bool is_raw = bytes > 0 && static_cast<Form>(to[0]) == Form::raw;
    return is_raw || bytes > most_record_bytes<T>(n) ? write_raw(values, n, to) : bytes;
  }
  const std::size_t blocks = blocks_of(n);
  Plan<T> plan;
  kernels.plan(values, blocks, grid, plan);
  const IntOf<T> base = set_base(plan, blocks);
  BitsOf<T> distance = 0;
  std::size_t body = 0;
  unsigned codes = 0;
  for (std::size_t b = 0; b < blocks; ++b) {
    distance |= static_cast<BitsOf<T>>(plan.low[b] - base);
    codes |= plan.code[b];
    body += block_bytes<T>(plan.code[b]);
  }
  if (distance == 0 && codes == 0)
    return base == 0 ? 0 : static_cast<std::size_t>(write_head<T>(to, Form::constant, 0, base) - to);

  const unsigned base_bytes = (static_cast<unsigned>(std::bit_width(distance)) + 7) / 8;
  if (whole_words(head_bytes<T> + blocks * (1 + base_bytes) + body) >= most_record_bytes<T>(n))
    return write_raw(values, n, to);
  std::byte* at = write_head<T>(to, Form::blocks, static_cast<std::uint8_t>(base_bytes), base);
  std::memcpy(at, plan.code, blocks);
  at = write_distances(plan, blocks, base, base_bytes, at + blocks);
  at = kernels.pack(values, blocks, grid, plan, at);
  return static_cast<std::size_t>(pad(to, at) - to);
}

template <class T>
bool decode_chunk(ConstBytes bytes, std::size_t n, const Grid<T>& grid, const Kernels<T>& kernels,
                  T* values) noexcept {
  Record<T> record;
  if (!read_record(bytes, n, record)) return false;
  take<false>(record, n, grid, kernels, values);
  return true;
}

template <class T>
bool reduce_chunk(ConstBytes bytes, std::size_t n, const Grid<T>& grid, const Kernels<T>& kernels, T* values,
                  Reduction op) noexcept {
  Record<T> record;
  if (!read_record(bytes, n, record)) return false;
  if (op == Reduction::sum) {
    take<true>(record, n, grid, kernels, values);
    return true;
  }
  alignas(64) T piece[chunk_values];  // stays in cache
  take<false>(record, n, grid, kernels, piece);
  reduce_values({{values, n, dtype_of<T>}}, {{piece, n, dtype_of<T>}}, op);
  return true;
}

template std::size_t encode_chunk(const float*, std::size_t, const Grid<float>&, const Kernels<float>&,
                                  std::byte*) noexcept;
template std::size_t encode_chunk(const double*, std::size_t, const Grid<double>&, const Kernels<double>&,
                                  std::byte*) noexcept;
template bool decode_chunk(ConstBytes, std::size_t, const Grid<float>&, const Kernels<float>&, float*) noexcept;
template bool decode_chunk(ConstBytes, std::size_t, const Grid<double>&, const Kernels<double>&,
                           double*) noexcept;
template bool reduce_chunk(ConstBytes, std::size_t, const Grid<float>&, const Kernels<float>&, float*,
                           Reduction) noexcept;
template bool reduce_chunk(ConstBytes, std::size_t, const Grid<double>&, const Kernels<double>&, double*,
                           Reduction) noexcept;

}  // namespace taut::szx
