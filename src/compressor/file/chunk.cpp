#include "compressor/file/chunk.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <new>

#include "compressor/file/bound_check.hpp"
#include "compressor/file/coding.hpp"
#include "compressor/file/failure.hpp"

namespace taut::file {
namespace {

class MemoryTarget final : public ByteTarget {
 public:
  std::uint64_t written() const noexcept override { return buffer_.bytes; }
  void write(ConstBytes bytes) override {
    const std::size_t end = buffer_.bytes + bytes.size();
    if (end > buffer_.capacity) reserve(buffer_, std::max(end, 2 * buffer_.capacity));
    if (!bytes.empty()) std::memcpy(buffer_.data.get() + buffer_.bytes, bytes.data(), bytes.size());
    buffer_.bytes = end;
  }
  Buffer take() { return std::move(buffer_); }

 private:
  Buffer buffer_;
};

ConstSlice slice_of(DType type, ConstBytes values) {
  return {{values.data(), values.size() / size_of(type), type}};
}

void warn_once(const ArrayCoding& coding, const ValueRange& range, ConstSlice values, const char* what) {
  static std::atomic<bool> warned{false};
  if (warned) return;
  const std::string text = bound_warning(coding, range, values);
  if (!text.empty() && !warned.exchange(true))
    std::fprintf(stderr, "taut: warning: %s under '%s': %s\n", what, coding.text().c_str(), text.c_str());
}

}  // namespace

void reserve(Buffer& buffer, std::size_t bytes) {
  if (bytes <= buffer.capacity) return;
  void* const grown = std::realloc(buffer.data.get(), bytes);
  if (grown == nullptr) throw std::bad_alloc();
  static_cast<void>(buffer.data.release());
  buffer.data.reset(static_cast<std::byte*>(grown));
  buffer.capacity = bytes;
}

void check_coding(DType type, const std::string& text) {
  const ArrayCoding coding("bound", text);
  check_coded(type);
  const std::byte zero[16]{};
  const ConstBytes value = ConstBytes(zero).first(size_of(type));
  const Room frame(most_frame_bytes(type, 1));
  const ValueRange range = coding.range(slice_of(type, value));
  encode({0, {1}}, value, type, coding.frame_text(type, range), frame.all());
}

std::size_t most_chunk_bytes(const Array& array, const std::string& coding) {
  if (most_frame_bytes(array.type, 1) == 0) return 0;
  const std::vector<Piece> pieces = pieces_of(array.shape);
  std::size_t bytes = overhead_bytes(array, coding, pieces.size());
  for (const Piece& piece : pieces) bytes += most_frame_bytes(array.type, piece.count());
  return bytes;
}

Buffer encode_chunk(const Array& array, const std::string& text, ConstBytes values, const char* what) {
  const ArrayCoding coding("bound", text);
  const ValueRange range = coding.range(slice_of(array.type, values));
  const std::string frame_text = coding.frame_text(array.type, range);
  warn_once(coding, range, slice_of(array.type, values), what);
  MemoryTarget target;
  FrameWriter writer(target, array, coding.text());
  for (const Piece& piece : pieces_of(array.shape)) {
    const Room frame(most_frame_bytes(array.type, piece.count()));
    const ConstBytes part =
        values.subspan(piece.first * size_of(array.type), piece.count() * size_of(array.type));
    writer.add(frame.first(encode(piece, part, array.type, frame_text, frame.all())), piece.count());
  }
  writer.finish();
  return target.take();
}

void ChunkReader::decode(Bytes out) {
  for (const FrameEntry& entry : reader_.entries()) {
    const Bytes values = out.first(entry.values * size_of(array().type));
    if (!file::decode(reader_.next(), entry.values, array().type, values))
      fail("a chunk is damaged; get the file again");
    out = out.subspan(values.size());
  }
}

void ChunkReader::MemorySource::read(std::uint64_t offset, Bytes out) const {
  if (offset > bytes_.size() || out.size() > bytes_.size() - offset) fail("a chunk ends too early");
  std::ranges::copy(bytes_.subspan(offset, out.size()), out.begin());
}

}  // namespace taut::file
