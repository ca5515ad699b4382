#include "compressor/codecs/szx/chunk.hpp"

#include "compressor/codecs/szx/block.hpp"

namespace taut::szx {
namespace {

// Record that was read and checked; all pointers stay inside it.
template <class T>
struct Record {
  RecordForm form = RecordForm::constant;
  IntOf<T> base = 0;
  BlockTable<T> table;
  const std::byte* body = nullptr;  // blocks, or raw values
};

template <class T>
std::byte* write_head(std::byte* to, RecordForm form, std::uint8_t base_bytes, IntOf<T> base) noexcept {
  to = store(to, static_cast<std::uint8_t>(form));
  to = store(to, base_bytes);
  to = store(to, std::uint16_t{0});
  return store(to, base);
}

template <class T>
std::size_t write_raw(const T* values, std::size_t n, std::byte* to) noexcept {
  to = store(to, std::uint32_t{static_cast<std::uint8_t>(RecordForm::raw)});
  std::memcpy(to, values, n * sizeof(T));
  return raw_head_bytes + n * sizeof(T);
}

// Pads a record, `from` to `to`, with zeros to whole words, and returns its new end.
std::byte* pad(std::byte* from, std::byte* to) noexcept {
  const auto bytes = static_cast<std::size_t>(to - from);
  std::memset(to, 0, whole_words(bytes) - bytes);
  return from + whole_words(bytes);
}

template <class T>
bool read_record(ConstBytes bytes, std::size_t n, const Kernels<T>& kernels, Record<T>& record) noexcept {
  if (bytes.empty()) return true;
  const std::size_t blocks = blocks_of(n);
  const auto head = load<std::uint32_t>(bytes.data());  // a record has at least one 4-byte word
  record.form = static_cast<RecordForm>(head & 0xFF);
  const unsigned base_bytes = head >> 8;
  if (record.form == RecordForm::raw) {
    record.body = bytes.data() + raw_head_bytes;
    return base_bytes == 0 && bytes.size() == raw_head_bytes + n * sizeof(T);
  }
  if (bytes.size() < head_bytes<T>) return false;
  record.base = load<IntOf<T>>(bytes.data() + 4);
  if (std::int64_t{record.base} > max_integer<T> || std::int64_t{record.base} < -max_integer<T> - 1)
    return false;
  if (record.form == RecordForm::constant) return base_bytes == 0 && bytes.size() == head_bytes<T>;

  const std::size_t before_body = head_bytes<T> + blocks * (1 + base_bytes);
  if (record.form != RecordForm::blocks || base_bytes > sizeof(T) || bytes.size() < before_body) return false;
  if (!kernels.read_table(bytes.data() + head_bytes<T>, blocks, record.base, base_bytes, record.table))
    return false;
  record.body = bytes.data() + before_body;
  return bytes.size() == whole_words(before_body + record.table.body_bytes);
}

// Decodes whole blocks, or adds them to the values.
template <bool add, class T>
void unpack(const Record<T>& record, std::size_t blocks, const Grid<T>& grid, const Kernels<T>& kernels,
            T* values) noexcept {
  const auto kernel = add ? kernels.unpack_add : kernels.unpack;
  kernel(record.body, blocks, record.table, grid, values);
}

// Template arguments of decode_values().
constexpr bool replace_values = false, add_to_values = true;

// Decodes a record, or adds it to the values.
template <bool add, class T>
void decode_values(const Record<T>& record, std::size_t n, const Grid<T>& grid, const Kernels<T>& kernels,
                   T* values) noexcept {
  if (record.form == RecordForm::constant) {
    const T value = grid.value(record.base);
    for (std::size_t i = 0; i < n; ++i) write_value<add>(values[i], value);
  } else if (record.form == RecordForm::raw) {
    for (std::size_t i = 0; i < n; ++i) write_value<add>(values[i], load<T>(record.body + i * sizeof(T)));
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
  if (n % block_values != 0) {  // padded with the last value
    alignas(64) T whole[chunk_values];
    std::copy_n(values, n, whole);
    std::fill(whole + n, whole + blocks_of(n) * block_values, values[n - 1]);
    const std::size_t bytes = encode_chunk(whole, blocks_of(n) * block_values, grid, kernels, to);
    const bool is_raw = bytes > 0 && static_cast<RecordForm>(to[0]) == RecordForm::raw;
    return is_raw || bytes > raw_record_bytes<T>(n) ? write_raw(values, n, to) : bytes;
  }
  const std::size_t blocks = blocks_of(n);
  ChunkPlan<T> plan;
  kernels.plan(values, blocks, grid, plan);
  if (plan.constant)
    return plan.base == 0
               ? 0
               : static_cast<std::size_t>(write_head<T>(to, RecordForm::constant, 0, plan.base) - to);
  const std::size_t bytes = head_bytes<T> + blocks * (1 + plan.base_bytes) + plan.body_bytes;
  if (whole_words(bytes) >= raw_record_bytes<T>(n)) return write_raw(values, n, to);
  std::byte* const head =
      write_head<T>(to, RecordForm::blocks, static_cast<std::uint8_t>(plan.base_bytes), plan.base);
  std::byte* const at = kernels.pack(values, blocks, grid, plan, head);
  return static_cast<std::size_t>(pad(to, at) - to);
}

template <class T>
bool decode_chunk(ConstBytes bytes, std::size_t n, const Grid<T>& grid, const Kernels<T>& kernels,
                  T* values) noexcept {
  Record<T> record;
  if (!read_record(bytes, n, kernels, record)) return false;
  decode_values<replace_values>(record, n, grid, kernels, values);
  return true;
}

template <class T>
bool reduce_chunk(ConstBytes bytes, std::size_t n, const Grid<T>& grid, const Kernels<T>& kernels, T* values,
                  Reduction op) noexcept {
  Record<T> record;
  if (!read_record(bytes, n, kernels, record)) return false;
  if (op == Reduction::sum) {
    decode_values<add_to_values>(record, n, grid, kernels, values);
    return true;
  }
  alignas(64) T piece[chunk_values];  // stays in cache
  decode_values<replace_values>(record, n, grid, kernels, piece);
  reduce_values({{values, n, dtype_of<T>}}, {{piece, n, dtype_of<T>}}, op);
  return true;
}

template std::size_t encode_chunk(const float*, std::size_t, const Grid<float>&, const Kernels<float>&,
                                  std::byte*) noexcept;
template std::size_t encode_chunk(const double*, std::size_t, const Grid<double>&, const Kernels<double>&,
                                  std::byte*) noexcept;
template bool decode_chunk(ConstBytes, std::size_t, const Grid<float>&, const Kernels<float>&,
                           float*) noexcept;
template bool decode_chunk(ConstBytes, std::size_t, const Grid<double>&, const Kernels<double>&,
                           double*) noexcept;
template bool reduce_chunk(ConstBytes, std::size_t, const Grid<float>&, const Kernels<float>&, float*,
                           Reduction) noexcept;
template bool reduce_chunk(ConstBytes, std::size_t, const Grid<double>&, const Kernels<double>&, double*,
                           Reduction) noexcept;

}  // namespace taut::szx
