#include "compressor/codecs/exponents/chunk.hpp"

namespace taut::exponents {
namespace {

// Least number of zeros whose low bytes are left out.
constexpr std::size_t worthwhile_zeros = 64;

struct Escapes {
  alignas(64) std::byte symbols[chunk_values + overrun];
};

std::byte* append(std::byte* out, const void* bytes, std::size_t n) noexcept {
  std::memcpy(out, bytes, n);
  return out + n;
}

// Writes a book and the planes of symbols. Returns the number of escapes.
std::size_t write_codes(const std::byte* symbols, std::size_t groups, const Book& book,
                        const KernelSet& kernels, std::byte*& out, std::byte* escapes) noexcept {
  out = append(out, book.symbol, symbols_of(book.width));
  const std::size_t n = kernels.encode(symbols, groups, book, out, escapes);
  out += plane_bytes(groups, book.width);
  return n;
}

// The unread part of a record. take() returns the next bytes; null if there are fewer.
class Reader {
 public:
  explicit Reader(ConstBytes record) noexcept : rest_(record) {}

  const std::byte* take(std::size_t n) noexcept {
    if (n > rest_.size()) return nullptr;
    const std::byte* const at = rest_.data();
    rest_ = rest_.subspan(n);
    return at;
  }
  // Reads a book and the planes of its codes.
  const std::byte* codes(unsigned width, std::size_t groups, Book& book) noexcept {
    const std::byte* const symbols = take(symbols_of(width));
    if (symbols == nullptr) return nullptr;
    book.width = width;
    std::memcpy(book.symbol, symbols, symbols_of(width));
    return take(plane_bytes(groups, width));
  }
  bool only_padding() const noexcept {
    return rest_.size() < index_unit &&
           std::all_of(rest_.begin(), rest_.end(), [](std::byte b) { return b == std::byte{0}; });
  }

 private:
  ConstBytes rest_;
};

// Parts of a record, located and checked.
struct Located {
  RecordHeader header;
  Book first, second;
  const std::byte *planes, *second_planes = nullptr, *raw, *extra, *low;

  bool find(ConstBytes record, std::size_t groups, unsigned spare) noexcept {
    Reader reader(record);
    const std::byte* const at = reader.take(sizeof header);
    if (at == nullptr) return false;
    header = load<RecordHeader>(at);
    const bool possible = header.width >= 1 && header.width <= max_width &&
                          header.flags <= RecordHeader::without_zeros &&
                          header.escapes <= groups * group_values && header.raw <= header.escapes;
    if (!possible || (planes = reader.codes(header.width, groups, first)) == nullptr) return false;
    const std::size_t more = groups_of(header.escapes);
    if (more > 0 && (second_planes = reader.codes(second_width, more, second)) == nullptr) return false;
    raw = reader.take(header.raw);
    extra = reader.take(plane_bytes(groups, spare));
    low = reader.take(header.low);
    const bool whole =
        (header.flags & RecordHeader::without_zeros) != 0 || header.low == groups * group_values;
    return raw != nullptr && extra != nullptr && low != nullptr && whole && reader.only_padding();
  }
};

}  // namespace

std::size_t encode_chunk(const std::byte* values, std::size_t groups, DType type, const Books& books,
                         const KernelSet& kernels, std::byte* record) noexcept {
  const unsigned spare = spare_bits(type);
  Parts parts;
  Escapes escapes;
  RecordHeader header{.width = static_cast<std::uint8_t>(books.first.width)};
  const Zeros zeros = kernels.split(values, groups, spare, parts);
  std::byte* out = record + sizeof header;
  const std::size_t n = write_codes(parts.symbols, groups, books.first, kernels, out, escapes.symbols);
  std::size_t raw = 0;
  if (n > 0) {
    const std::size_t more = groups_of(n);
    std::memset(escapes.symbols + n, books.second.symbol[0], more * group_values - n);
    std::byte* const to = out + symbols_of(second_width) + plane_bytes(more, second_width);
    raw = write_codes(escapes.symbols, more, books.second, kernels, out, to);
    out += raw;
  }
  out = append(out, parts.extra, plane_bytes(groups, spare));
  std::size_t low = groups * group_values;
  if (zeros.all && zeros.count >= worthwhile_zeros) {
    header.flags = RecordHeader::without_zeros;
    low = kernels.leave_out(parts.symbols, parts.low, groups, out);
  } else {
    std::memcpy(out, parts.low, low);
  }
  header.escapes = static_cast<std::uint16_t>(n);
  header.raw = static_cast<std::uint16_t>(raw);
  header.low = static_cast<std::uint16_t>(low);
  store(record, header);
  store(out + low, std::uint32_t{0});
  const auto bytes = static_cast<std::size_t>(out + low - record);
  return (bytes + index_unit - 1) / index_unit * index_unit;
}

bool decode_chunk(ConstBytes record, std::size_t groups, DType type, const KernelSet& kernels,
                  std::byte* values) noexcept {
  const unsigned spare = spare_bits(type);
  Located part;
  if (!part.find(record, groups, spare)) return false;
  const RecordHeader& header = part.header;
  Escapes escapes;
  Parts parts;
  const std::size_t n = header.escapes, more = groups_of(n);
  if (more > 0 &&
      !kernels.decode(part.second_planes, more, part.second, {part.raw, header.raw}, escapes.symbols))
    return false;
  if (!kernels.decode(part.planes, groups, part.first, {escapes.symbols, n}, parts.symbols)) return false;
  const std::byte* low = part.low;
  if ((header.flags & RecordHeader::without_zeros) != 0) {
    if (!kernels.put_back(parts.symbols, {part.low, header.low}, groups, parts.low)) return false;
    low = parts.low;
  }
  kernels.join(parts.symbols, low, part.extra, groups, spare, values);
  return true;
}

}  // namespace taut::exponents
