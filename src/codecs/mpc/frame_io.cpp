#include "codecs/mpc/frame_io.hpp"

namespace taut::mpc {
namespace {

struct Piece {
  alignas(64) std::byte bytes[chunk_bytes];
};

bool all_zero(const std::byte* words, std::size_t bytes) noexcept {
  return words[0] == std::byte{0} && std::memcmp(words, words + 1, bytes - 1) == 0;
}

// Returns a chunk in the form that kernels take: rounded, and padded to whole vectors with words that equal
// their prediction.
const std::byte* prepared(ConstBytes words, const Layout& layout, const KernelSet& kernels,
                          Piece& piece) noexcept {
  const std::size_t n = words.size(), vectors = vectors_of(n);
  const std::byte* whole = words.data();
  if (n % vector_bytes != 0) {
    const std::size_t back = layout.heads_bytes();
    std::memcpy(piece.bytes, whole, n);
    for (std::size_t i = n; i < vectors * vector_bytes; ++i)
      piece.bytes[i] = i < back ? std::byte{0} : piece.bytes[i - back];
    whole = piece.bytes;
  }
  if (layout.rounding.dropped != 0) {
    kernels.of(layout.word_bytes).round(whole, vectors, layout.rounding, piece.bytes);
    whole = piece.bytes;
  }
  return whole;
}

template <class Writer>
bool write_chunk(ConstBytes chunk, const Layout& layout, const KernelSet& kernels, Piece& piece,
                 Writer& writer) noexcept {
  const std::byte* words = prepared(chunk, layout, kernels, piece);
  if (all_zero(words, chunk.size())) return writer.commit(0);
  std::byte* record = writer.room();
  const std::size_t bytes = kernels.of(layout.word_bytes)
                                .encode(words, vectors_of(chunk.size()), layout.distance, record),
                    plain = index_unit * units_of(chunk.size());
  if (bytes < plain) return writer.commit(bytes);
  store(record + plain - index_unit, std::uint32_t{0});
  std::memcpy(record, words, chunk.size());
  return writer.commit(plain);
}

}  // namespace

std::size_t write_chunks(ConstBytes values, const Layout& layout, const KernelSet& kernels, int threads,
                         Bytes payload) noexcept {
  using Writer = RecordWriter<max_record_bytes>;
  const std::size_t chunks = chunks_of(values.size()), index = index_bytes(chunks);
  if (index > payload.size()) return 0;
  store(payload.data(), std::uint32_t{0});
  const Bytes records = payload.subspan(index);
  const auto write = [&](Range range, Writer& writer) {
    Piece piece;
    for (std::size_t i = range.first; i < range.first + range.count; ++i) {
      const std::size_t first = i * chunk_bytes, n = std::min(chunk_bytes, values.size() - first);
      if (!write_chunk(values.subspan(first, n), layout, kernels, piece, writer))
        return Status::buffer_too_small;
    }
    return Status::ok;
  };
  const Sized written = write_records<Writer>(
      parts_of(threads, chunks),
      {payload.data() + index_unit, records, chunks, even_share(records.size(), chunks)}, write);
  return written.status == Status::ok ? index + written.bytes : 0;
}

void write_rounded(ConstBytes values, const Layout& layout, const KernelSet& kernels,
                   std::byte* to) noexcept {
  Piece piece;
  for (std::size_t i = 0; i < values.size(); i += chunk_bytes) {
    const ConstBytes chunk = values.subspan(i, std::min(chunk_bytes, values.size() - i));
    std::memcpy(to + i, prepared(chunk, layout, kernels, piece), chunk.size());
  }
}

std::size_t sampled_bytes(ConstBytes values, const Layout& layout, const KernelSet& kernels) noexcept {
  constexpr std::size_t vectors = 16, piece_bytes = vectors * vector_bytes, alignment = 16;
  constexpr std::size_t share = std::size_t{1} << 18;  // bytes of the message for each sampled piece
  const std::size_t pieces = std::clamp<std::size_t>(values.size() / share, 4, 8);
  const auto encode = kernels.of(layout.word_bytes).encode;
  Piece piece;
  alignas(64) std::byte record[max_record_bytes];
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < pieces; ++i) {
    const std::size_t first = (values.size() - piece_bytes) / (pieces - 1) * i / alignment * alignment;
    const std::byte* words = prepared(values.subspan(first, piece_bytes), layout, kernels, piece);
    // The heads spare the first vector some bytes, and the more so the greater the distance. So the first
    // vector is left out of the count.
    bytes += encode(words, vectors, layout.distance, record) - encode(words, 1, layout.distance, record);
  }
  return bytes + pieces * layout.heads_bytes() * vectors / chunk_vectors;
}

Status FrameReader::open(ConstBytes frame, ConstSlice values) noexcept {
  if (const Status s = open_frame(frame, frame_id, header_, payload_); s != Status::ok) return s;
  if (header_.type != values.type || header_.count != values.count) return Status::frame_mismatch;
  frame_ = frame;
  bytes_ = values.bytes();
  word_bytes_ = size_of(component_of(values.type));
  if (header_.has(FrameHeader::stored)) return payload_.size() == bytes_ ? Status::ok : Status::corrupt_frame;
  return open_index();
}

Status FrameReader::open_index() noexcept {
  const unsigned distance = header_.parameters[0];
  if (distance < 1 || distance > max_distance || header_.addends != 1) return Status::corrupt_frame;
  const std::size_t index = index_bytes(chunks());
  if (payload_.size() < index || load<std::uint32_t>(payload_.data()) != 0) return Status::corrupt_frame;
  const bool fit = ends_fit(payload_.data() + index_unit, chunks(), payload_.size() - index);
  return fit ? Status::ok : Status::corrupt_frame;
}

Status FrameReader::read(std::size_t i, const KernelSet& kernels, std::byte* to) const noexcept {
  const std::size_t size = size_of_chunk(i);
  if (header_.has(FrameHeader::stored)) {
    std::memcpy(to, payload_.data() + i * chunk_bytes, size);
    return Status::ok;
  }
  const std::byte* index = payload_.data() + i * index_unit;
  const std::size_t first = load<std::uint32_t>(index), last = load<std::uint32_t>(index + index_unit);
  const ConstBytes record =
      payload_.subspan(index_bytes(chunks()) + first * index_unit, (last - first) * index_unit);
  const std::size_t plain = index_unit * units_of(size);
  if (record.empty()) {
    std::memset(to, 0, size);
  } else if (record.size() == plain) {
    std::memcpy(to, record.data(), size);
  } else if (record.size() > plain || !decode(record, size, kernels, to)) {
    return Status::corrupt_frame;
  }
  return Status::ok;
}

// Decodes a record that is shorter than its words. Kernels read a little before the record, where header and
// index are stored, and beyond its end; a record near the end of the frame is copied first. Kernels write
// whole vectors, so an incomplete last one goes through a buffer.
bool FrameReader::decode(ConstBytes record, std::size_t size, const KernelSet& kernels,
                         std::byte* to) const noexcept {
  alignas(64) std::byte copy[overrun + chunk_bytes + overrun];
  if (static_cast<std::size_t>(frame_.data() + frame_.size() - record.data()) < chunk_bytes + overrun) {
    std::memset(copy, 0, sizeof copy);
    std::memcpy(copy + overrun, record.data(), record.size());
    record = {copy + overrun, record.size()};
  }
  const auto& kernel = kernels.of(word_bytes_);
  const unsigned distance = header_.parameters[0];
  if (size % vector_bytes == 0) return kernel.decode(record, size / vector_bytes, distance, to);
  Piece piece;
  if (!kernel.decode(record, vectors_of(size), distance, piece.bytes)) return false;
  std::memcpy(to, piece.bytes, size);
  return true;
}

}  // namespace taut::mpc
