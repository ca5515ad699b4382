#include "compressor/codecs/exponents/frame_io.hpp"

namespace taut::exponents {
namespace {

// Symbols that the first book lacks, padded for kernels.
struct EscapedSymbols {
  alignas(64) std::byte symbols[chunk_values + overrun];
};

std::byte* append(std::byte* out, const void* bytes, std::size_t n) noexcept {
  std::memcpy(out, bytes, n);
  return out + n;
}

// Writes a code book and the bit planes of the codes of symbols. Returns the number of escapes.
std::size_t write_codes(const std::byte* symbols, std::size_t groups, const CodeBook& book,
                        const KernelSet& kernels, std::byte*& out, std::byte* escapes) noexcept {
  out = append(out, book.symbol, symbols_of(book.width));
  const std::size_t n = kernels.encode(symbols, groups, book, out, escapes);
  out += plane_bytes(groups, book.width);
  return n;
}

// Reader of a record from its start. take() returns the next n bytes; null if there are fewer.
class Reader {
 public:
  explicit Reader(ConstBytes record) noexcept : rest_(record) {}

  const std::byte* take(std::size_t n) noexcept {
    if (n > rest_.size()) return nullptr;
    const std::byte* const at = rest_.data();
    rest_ = rest_.subspan(n);
    return at;
  }
  // Reads a code book, and returns the bit planes of the codes that follow it; null if there are fewer bytes.
  const std::byte* read_codes(unsigned width, std::size_t groups, CodeBook& book) noexcept {
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

// Parts of a record. locate() finds and checks them, and returns false if the record is malformed.
struct RecordParts {
  RecordHeader header;
  CodeBook first, second;
  const std::byte *planes, *second_planes = nullptr, *raw, *spare_planes, *low_bytes;

  bool locate(ConstBytes record, std::size_t groups, unsigned spare) noexcept {
    Reader reader(record);
    const std::byte* const at = reader.take(sizeof header);
    if (at == nullptr) return false;
    header = load<RecordHeader>(at);
    const bool possible = header.width >= 1 && header.width <= max_width &&
                          header.flags <= RecordHeader::omits_zero_low_bytes &&
                          header.escapes <= groups * group_values && header.raw <= header.escapes;
    if (!possible || (planes = reader.read_codes(header.width, groups, first)) == nullptr) return false;
    const std::size_t escape_groups = groups_of(header.escapes);
    if (escape_groups > 0 &&
        (second_planes = reader.read_codes(second_width, escape_groups, second)) == nullptr)
      return false;
    raw = reader.take(header.raw);
    spare_planes = reader.take(plane_bytes(groups, spare));
    low_bytes = reader.take(header.low_bytes);
    const bool has_all_low_bytes =
        (header.flags & RecordHeader::omits_zero_low_bytes) != 0 || header.low_bytes == groups * group_values;
    return raw != nullptr && spare_planes != nullptr && low_bytes != nullptr && has_all_low_bytes &&
           reader.only_padding();
  }
};

}  // namespace

std::size_t encode_chunk(const std::byte* values, std::size_t groups, DType type, const CodeBooks& books,
                         const KernelSet& kernels, std::byte* record) noexcept {
  const unsigned spare = spare_bits(type);
  SplitValues split;
  EscapedSymbols escapes;
  RecordHeader header{.width = static_cast<std::uint8_t>(books.first.width)};
  const ZeroSymbols zeros = kernels.split(values, groups, spare, split);
  std::byte* out = record + sizeof header;
  const std::size_t n = write_codes(split.symbols, groups, books.first, kernels, out, escapes.symbols);
  std::size_t raw = 0;
  if (n > 0) {
    const std::size_t escape_groups = groups_of(n);
    // The symbol of code 0, which adds no raw symbols, is the padding.
    std::memset(escapes.symbols + n, books.second.symbol[0], escape_groups * group_values - n);
    std::byte* const raw_symbols = out + symbols_of(second_width) + plane_bytes(escape_groups, second_width);
    raw = write_codes(escapes.symbols, escape_groups, books.second, kernels, out, raw_symbols);
    out += raw;
  }
  out = append(out, split.spare_planes, plane_bytes(groups, spare));
  std::size_t low = groups * group_values;
  if (zeros.all_are_zero && zeros.count >= min_zeros) {
    header.flags = RecordHeader::omits_zero_low_bytes;
    low = kernels.compress_low(split.symbols, split.low_bytes, groups, out);
  } else {
    std::memcpy(out, split.low_bytes, low);
  }
  header.escapes = static_cast<std::uint16_t>(n);
  header.raw = static_cast<std::uint16_t>(raw);
  header.low_bytes = static_cast<std::uint16_t>(low);
  store(record, header);
  store(out + low, std::uint32_t{0});  // padding to a multiple of index_unit
  const auto bytes = static_cast<std::size_t>(out + low - record);
  return (bytes + index_unit - 1) / index_unit * index_unit;
}

bool decode_chunk(ConstBytes record, std::size_t groups, DType type, const KernelSet& kernels,
                  std::byte* values) noexcept {
  const unsigned spare = spare_bits(type);
  RecordParts parts;
  if (!parts.locate(record, groups, spare)) return false;
  const RecordHeader& header = parts.header;
  EscapedSymbols escapes;
  SplitValues split;
  const std::size_t n = header.escapes, escape_groups = groups_of(n);
  if (escape_groups > 0 && !kernels.decode(parts.second_planes, escape_groups, parts.second,
                                           {parts.raw, header.raw}, escapes.symbols))
    return false;
  if (!kernels.decode(parts.planes, groups, parts.first, {escapes.symbols, n}, split.symbols)) return false;
  const std::byte* low_bytes = parts.low_bytes;
  if ((header.flags & RecordHeader::omits_zero_low_bytes) != 0) {
    if (!kernels.expand_low(split.symbols, {parts.low_bytes, header.low_bytes}, groups, split.low_bytes))
      return false;
    low_bytes = split.low_bytes;
  }
  kernels.join(split.symbols, low_bytes, parts.spare_planes, groups, spare, values);
  return true;
}

}  // namespace taut::exponents
