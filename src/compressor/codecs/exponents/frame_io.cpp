#include "compressor/codecs/exponents/frame_io.hpp"

#include <bit>

namespace taut::exponents {
namespace {

// Memory for the values of a chunk, in whole groups.
struct PaddedChunk {
  alignas(64) std::byte bytes[chunk_bytes];
};

// Returns a value rotated left by one bit: the exponent comes first, the sign last.
std::uint16_t rotated(const std::byte* value) noexcept { return std::rotl(load<std::uint16_t>(value), 1); }

// Encoder of a range of chunks. The record of a chunk does not depend on the range.
class ChunkWriter {
 public:
  ChunkWriter(ConstSlice values, const KernelSet& kernels) noexcept
      : values_(values.as_bytes()), type_(values.type), kernels_(kernels) {}

  // Writes the record of chunk i. Returns false if the record does not fit.
  template <class Writer>
  bool write(std::size_t i, Writer& writer) noexcept {
    const ConstBytes chunk = chunk_at(i);
    return write_lossless(chunk, writer, [&](std::byte* record) {
      use_books(i / chunks_sharing_books);
      return encode_chunk(whole_groups(chunk), groups_of(chunk.size() / value_bytes), type_, books_, kernels_,
                          record);
    });
  }

 private:
  ConstBytes chunk_at(std::size_t i) const noexcept {
    const std::size_t first = i * chunk_bytes;
    return values_.subspan(first, std::min(chunk_bytes, values_.size() - first));
  }

  std::uint8_t symbol(const std::byte* value) const noexcept {
    return static_cast<std::uint8_t>(rotated(value) >> (8 + spare_bits(type_)));
  }

  // Chooses book set `set`: the books of the chunks from set * chunks_sharing_books on.
  void use_books(std::size_t set) noexcept {
    if (set == book_set_) return;
    book_set_ = set;
    std::array<std::uint32_t, 256> frequency{};
    const std::size_t first = set * chunks_sharing_books,
                      end = std::min(first + chunks_sharing_books, chunks_of(values_.size() / value_bytes));
    const std::size_t sampled = sampled_values / 2 / (end - first);
    for (std::size_t i = first; i < end; ++i) count(chunk_at(i), sampled, frequency);
    books_ = CodeBooks::choose(frequency);
  }

  // Counts the symbols of the first and the last `sampled` values of a chunk.
  void count(ConstBytes chunk, std::size_t sampled,
             std::array<std::uint32_t, 256>& frequency) const noexcept {
    const std::size_t n = chunk.size() / value_bytes;
    sampled = std::min(n, sampled);
    for (const std::size_t first : {std::size_t{0}, n - sampled})
      for (std::size_t k = 0; k < sampled; ++k) ++frequency[symbol(chunk.data() + (first + k) * value_bytes)];
  }

  // Returns a chunk in whole groups. The padding has the code 0 and no other bits.
  const std::byte* whole_groups(ConstBytes chunk) noexcept {
    if (chunk.size() % (group_values * value_bytes) == 0) return chunk.data();
    const auto high = static_cast<std::uint16_t>(books_.first.symbol[0] << (8 + spare_bits(type_)));
    std::memcpy(padded_.bytes, chunk.data(), chunk.size());
    const std::size_t end = groups_of(chunk.size() / value_bytes) * group_values * value_bytes;
    for (std::size_t at = chunk.size(); at < end; at += value_bytes)
      store(padded_.bytes + at, std::rotr(high, 1));
    return padded_.bytes;
  }

  ConstBytes values_;
  DType type_;
  const KernelSet& kernels_;
  CodeBooks books_;
  std::size_t book_set_ = ~std::size_t{0};  // book set in `books_`; at first none
  PaddedChunk padded_;
};

}  // namespace

std::size_t write_chunks(ConstSlice values, const KernelSet& kernels, int threads, Bytes payload) noexcept {
  using Writer = RecordWriter<max_record_bytes>;
  const auto write = [&](Range range, Writer& writer) {
    ChunkWriter chunk(values, kernels);
    for (std::size_t i = range.first; i < range.first + range.count; ++i)
      if (!chunk.write(i, writer)) return Status::buffer_too_small;
    return Status::ok;
  };
  return write_indexed<Writer>(payload, chunks_of(values.count), threads, write);
}

Status FrameReader::open(ConstBytes frame, ConstSlice values) noexcept {
  if (const Status s = open_frame(frame, frame_id, header_, payload_); s != Status::ok) return s;
  if (header_.type != values.type || header_.count != values.count) return Status::frame_mismatch;
  frame_ = frame;
  if (header_.has(FrameHeader::stored))
    return payload_.size() == values.bytes() ? Status::ok : Status::corrupt_frame;
  return header_.addends == 1 && has_valid_index(payload_, chunks()) ? Status::ok : Status::corrupt_frame;
}

Status FrameReader::read(std::size_t i, const KernelSet& kernels, std::byte* to) const noexcept {
  const std::size_t n = values_of_chunk(i), size = n * value_bytes;
  if (header_.has(FrameHeader::stored)) {
    std::memcpy(to, payload_.data() + i * chunk_bytes, size);
    return Status::ok;
  }
  return read_lossless(record_at(payload_, chunks(), i), size, to,
                       [&](ConstBytes record) { return decode(record, n, kernels, to); });
}

// Decodes a record that is shorter than its values. Kernels read beyond its end; a record near the end of the
// frame is copied first. Kernels write whole groups, so an incomplete last one goes through a buffer.
bool FrameReader::decode(ConstBytes record, std::size_t n, const KernelSet& kernels,
                         std::byte* to) const noexcept {
  alignas(64) std::byte copy[chunk_bytes + overrun];
  if (static_cast<std::size_t>(frame_.data() + frame_.size() - record.data()) < record.size() + overrun) {
    std::memcpy(copy, record.data(), record.size());
    std::memset(copy + record.size(), 0, overrun);
    record = {copy, record.size()};
  }
  if (n % group_values == 0) return decode_chunk(record, n / group_values, header_.type, kernels, to);
  PaddedChunk padded;
  if (!decode_chunk(record, groups_of(n), header_.type, kernels, padded.bytes)) return false;
  std::memcpy(to, padded.bytes, n * value_bytes);
  return true;
}

}  // namespace taut::exponents
