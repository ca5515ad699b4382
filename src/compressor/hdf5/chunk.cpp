#include "compressor/hdf5/chunk.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <new>

#include "compressor/file/bound_check.hpp"
#include "compressor/file/coding.hpp"
#include "compressor/file/failure.hpp"
#include "compressor/file/file_format.hpp"

namespace taut::hdf5 {
namespace {

void reserve(Buffer& buffer, std::size_t bytes) {
  if (bytes <= buffer.capacity) return;
  void* const grown = std::realloc(buffer.data.get(), bytes);
  if (grown == nullptr) throw std::bad_alloc();
  static_cast<void>(buffer.data.release());
  buffer.data.reset(static_cast<std::byte*>(grown));
  buffer.capacity = bytes;
}

class MemoryTarget final : public cli::ByteTarget {
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

class MemorySource final : public cli::ByteSource {
 public:
  explicit MemorySource(ConstBytes bytes) : bytes_(bytes) {}
  const std::string& path() const noexcept override { return name_; }
  std::uint64_t size() const noexcept override { return bytes_.size(); }
  void read(std::uint64_t offset, Bytes out) const override {
    if (offset > bytes_.size() || out.size() > bytes_.size() - offset) cli::fail("a chunk ends too early");
    std::ranges::copy(bytes_.subspan(offset, out.size()), out.begin());
  }

 private:
  ConstBytes bytes_;
  std::string name_ = "a chunk";
};

ConstSlice slice_of(DType type, ConstBytes values) {
  return {{values.data(), values.size() / size_of(type), type}};
}

// Warns once in a process of a bound that leaves little of a chunk.
void warn_once(const cli::ArrayCoding& coding, const ValueRange& range, ConstSlice values) {
  static std::atomic<bool> warned{false};
  if (warned) return;
  const std::string text = cli::bound_warning(coding, range, values);
  if (!text.empty() && !warned.exchange(true))
    std::fprintf(stderr, "taut: warning: a chunk of an HDF5 dataset under '%s': %s\n", coding.text().c_str(),
                 text.c_str());
}

// Decodes all frames into `out`.
void decode_frames(cli::FrameReader& reader, DType type, Bytes out) {
  for (const cli::FrameEntry& entry : reader.entries()) {
    const Bytes values = out.first(entry.values * size_of(type));
    if (!cli::decode(reader.next(), entry.values, type, values))
      cli::fail("a chunk is damaged; get the file again");
    out = out.subspan(values.size());
  }
}

}  // namespace

void check_coding(DType type, const std::string& text) {
  const cli::ArrayCoding coding("bound", text);
  cli::check_coded(type);
  const std::byte zero[16]{};
  const ConstBytes value = ConstBytes(zero).first(size_of(type));
  const cli::Room frame(cli::most_frame_bytes(type, 1));
  const ValueRange range = coding.range(slice_of(type, value));
  cli::encode({0, {1}}, value, type, coding.frame_text(type, range), frame.all());
}

Buffer encode_chunk(const ChunkOptions& options, ConstBytes values) {
  if (!options.type) cli::fail("the words of the filter do not name the type of the values");
  const DType type = *options.type;
  const cli::Array array{type, cli::Form::npy, options.extents};
  if (array.bytes() != values.size())
    cli::fail("a chunk has " + std::to_string(values.size()) + " bytes where the words of the filter name " +
              std::to_string(array.bytes()) + "; the filter must be the first of the dataset");
  const cli::ArrayCoding coding("bound", options.coding);
  const ValueRange range = coding.range(slice_of(type, values));
  const std::string text = coding.frame_text(type, range);
  warn_once(coding, range, slice_of(type, values));
  MemoryTarget target;
  cli::FrameWriter writer(target, array, coding.text());
  for (const cli::Piece& piece : cli::pieces_of(options.extents)) {
    const cli::Room frame(cli::most_frame_bytes(type, piece.count()));
    const ConstBytes part = values.subspan(piece.first * size_of(type), piece.count() * size_of(type));
    writer.add(frame.first(cli::encode(piece, part, type, text, frame.all())), piece.count());
  }
  writer.finish();
  return target.take();
}

Buffer decode_chunk(const ChunkOptions& options, ConstBytes coded) {
  const MemorySource source(coded);
  cli::FrameReader reader(source);
  const cli::Array& array = reader.array();
  if (options.type && (array.type != *options.type || array.shape != options.extents))
    cli::fail("a chunk is not of the type and shape that the words of the filter name; get the file again");
  Buffer values;
  reserve(values, std::max<std::size_t>(array.bytes(), 1));
  values.bytes = array.bytes();
  decode_frames(reader, array.type, {values.data.get(), values.bytes});
  return values;
}

}  // namespace taut::hdf5
