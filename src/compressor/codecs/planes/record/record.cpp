// Reader of records, and the parts of a writer that chunks share.
#include "compressor/codecs/planes/record/record.hpp"

namespace taut::planes {
namespace {

// Reader of the bytes of a record; take() returns the next bytes, or null if fewer are left.
class Reader {
 public:
  explicit Reader(ConstBytes in) : in_(in) {}
  const std::byte* take(std::size_t bytes) noexcept {
    if (bytes > in_.size() - at_) return nullptr;
    at_ += bytes;
    return in_.data() + at_ - bytes;
  }
  std::size_t left() const noexcept { return in_.size() - at_; }
  bool pad() noexcept { return take((4 - at_ % 4) % 4) != nullptr; }

 private:
  ConstBytes in_;
  std::size_t at_ = 0;
};

bool read_header(Reader& in, RecordHeader& h) noexcept {
  const std::byte* fixed = in.take(4);
  if (fixed == nullptr) return false;
  h.flags = load<std::uint8_t>(fixed);
  h.plane_bytes = load<std::uint16_t>(fixed + 2);
  if (fixed[1] != std::byte{0}) return false;
  const std::byte* base = in.take(h.has(wide) ? 8 : 4);
  if (base == nullptr) return false;
  h.base = h.has(wide) ? load<std::int64_t>(base) : load<std::int32_t>(base);
  const bool form = (h.flags & (dense | byte_widths | two_bits)) != 0;
  return h.has(has_planes) ? h.plane_bytes > 0 : h.plane_bytes == 0 && !form;
}

WidthsRead read_widths(const std::byte* table, const std::byte* end, std::size_t blocks, std::uint8_t flags,
                       const WidthKernels& kernels, Widths& widths) noexcept {
  const auto readable = static_cast<std::size_t>(end - table);
  if (readable >= max_table_bytes) return kernels.read(table, blocks, flags, widths);
  std::byte padded[max_table_bytes] = {};
  std::memcpy(padded, table, readable);
  return kernels.read(padded, blocks, flags, widths);
}

template <class T>
bool read_planes(Reader& in, const std::byte* end, const WidthKernels& kernels, Record<T>& r) noexcept {
  r.payload = in.take(r.header.plane_bytes);
  if (r.payload == nullptr) return false;
  const auto [sum, max_width, bytes] =
      read_widths(in.take(0), end, blocks_of(r.count), r.header.flags, kernels, r.widths);
  if (bytes == 0 || in.take(bytes) == nullptr) return false;
  r.max_width = max_width;
  return sum == r.header.plane_bytes && max_width <= (r.header.has(wide) ? 64 : 32);
}

template <class T>
bool read_runs(Reader& in, Record<T>& r) noexcept {
  const std::byte* n = in.take(4);
  if (n == nullptr) return false;
  r.run_count = load<std::uint32_t>(n);
  const std::size_t size = run_bytes<T>(r.header.has(wide));
  if (r.run_count == 0 || r.run_count > in.left() / size) return false;
  r.runs = in.take(r.run_count * size);
  Run<T> before;
  for (std::size_t i = 0; i < r.run_count; ++i) {
    const Run<T> run = r.run_list()[i];
    if (run.end() == run.start() || run.end() > r.count || (i > 0 && run < before)) return false;
    before = run;
  }
  return true;
}

template <class T>
bool read_layers(Reader& in, Record<T>& r) noexcept {
  const std::byte* n = in.take(4);
  if (n == nullptr) return false;
  r.layer_count = load<std::uint32_t>(n);
  const std::size_t size = r.count * sizeof(T);
  if (r.layer_count == 0 || r.layer_count > in.left() / size) return false;
  r.layers = in.take(r.layer_count * size);
  return true;
}

}  // namespace

template <class T>
bool read_record(ConstBytes bytes, const std::byte* end, std::size_t count, const WidthKernels& kernels,
                 Record<T>& r) noexcept {
  r.count = count;
  r.max_width = 0;
  r.run_count = r.layer_count = 0;
  if (bytes.empty()) {
    r.header = {};
    std::memset(r.widths.width, 0, sizeof r.widths.width);
    return true;
  }
  Reader in(bytes);
  if (!read_header(in, r.header)) return false;
  if (r.header.has(has_planes)) {
    if (!read_planes(in, end, kernels, r)) return false;
  } else {
    std::memset(r.widths.width, 0, sizeof r.widths.width);
  }
  if (!in.pad()) return false;
  if (r.header.has(has_runs) && !read_runs(in, r)) return false;
  if (r.header.has(has_layers) && !read_layers(in, r)) return false;
  return in.pad() && in.left() == 0;
}

#define INSTANTIATE(T)                                                                      \
  template bool read_record(ConstBytes, const std::byte*, std::size_t, const WidthKernels&, \
                            Record<T>&) noexcept;
TAUT_PLANES_TYPES(INSTANTIATE)

void sum_planes(std::span<const CodedPlanes* const> records, std::size_t groups, const IntKernels& kernels,
                PlanesOut& out) noexcept {
  PlanesIn in[max_operands];
  const CodedPlanes* last = nullptr;
  std::size_t n = 0;
  std::int32_t flat = 0;
  for (const CodedPlanes* record : records) {
    if (record->max_width == 0) {
      flat = add_wrapping(flat, static_cast<std::int32_t>(record->header.base));
    } else {
      last = record;
      in[n++] = record->planes();
    }
  }
  if (n > 1) {
    kernels.sum(in, n, groups, out);
  } else if (n == 1) {
    out.bytes = last->header.plane_bytes;
    out.base = static_cast<std::int32_t>(last->header.base);
    out.widths = last->widths;
    std::memcpy(out.payload, last->payload, out.bytes);
  }
  out.base = add_wrapping(out.base, flat);
}

void drop_padding(PlanesOut& planes, std::size_t blocks) noexcept {
  if (planes.bytes == 0) return;  // the widths may be unwritten
  for (std::size_t i = blocks; i % group_blocks != 0; ++i)
    planes.bytes -= std::exchange(planes.widths.width[i], std::uint8_t{0});
}

WidthTable choose_table(const Widths& widths, const WidthSummary& summary, std::size_t blocks,
                        std::uint8_t allowed, const WidthKernels& kernels) noexcept {
  const WidthTable usual = choose_table(summary, blocks);
  if (allowed == 0 || summary.sum > max_average_of_named_widths * blocks) return usual;
  WidthCounts counts = kernels.count(widths, summary.max_width);
  counts[0] = static_cast<std::uint16_t>(counts[0] - (chunk_blocks - blocks));
  const WidthTable named = choose_names(counts, summary, blocks);
  const WidthTable best = named.bytes < usual.bytes ? named : usual;
  if (min_sparse_table(summary, blocks) >= best.bytes) return best;
  const WidthTable sparse = sparse_table(summary, blocks, kernels.marked_bytes(widths));
  return sparse.bytes < best.bytes ? sparse : best;
}

std::size_t finish_planes(std::byte* out, RecordHeader header, const Widths& widths,
                          const WidthSummary& summary, std::size_t blocks,
                          const WidthKernels& kernels) noexcept {
  std::byte* at = out + header.bytes();
  if (header.plane_bytes > 0) {
    const WidthTable table = choose_table(widths, summary, blocks, header.flags & two_bits, kernels);
    header.flags = static_cast<std::uint8_t>((header.flags & ~two_bits) | has_planes | table.flags);
    at += header.plane_bytes;
    kernels.write(at, widths, blocks, table);
    at += table.bytes;
    while ((at - out) % 4 != 0) *at++ = std::byte{0};
  } else {
    header.flags &= known_flags;
  }
  write_record_header(out, header);
  return static_cast<std::size_t>(at - out);
}

}  // namespace taut::planes
