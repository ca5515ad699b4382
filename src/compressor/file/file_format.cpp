#include "compressor/file/file_format.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "compressor/file/coding.hpp"
#include "compressor/file/failure.hpp"
#include "compressor/frame/frame.hpp"

namespace taut::file {
namespace {

static_assert(std::endian::native == std::endian::little, "structures are written as they are in memory");

constexpr char file_magic[8] = {'\x89', 'T', 'A', 'U', 'T', '\r', '\n', '\x1a'};
constexpr char end_magic[8] = {'T', 'A', 'U', 'T', ' ', 'e', 'n', 'd'};
constexpr std::uint32_t version_without_references = 1, version_with_references = 2;
constexpr std::uint8_t most_references = 2;
constexpr std::size_t most_coding_bytes = 4096;

// Structures of docs/spec/file.md.
struct Header {
  char magic[8];
  std::uint32_t version;
  std::uint32_t bytes;  // size of the header: this structure, extents, coding text, checksum
  std::uint8_t type, form, dims, references;
  std::uint32_t coding_bytes;
};
static_assert(sizeof(Header) == 24);

struct Footer {
  std::uint64_t index_offset;
  std::uint64_t frames;
  std::uint32_t index_checksum;
  std::uint32_t header_checksum;
  std::uint32_t zero;
  std::uint32_t checksum;  // CRC-32C of the 28 bytes before it
  char magic[8];
};
static_assert(sizeof(Footer) == 40);
static_assert(sizeof(FrameEntry) == 16);

template <class T>
ConstBytes bytes_of(const T& object) noexcept {
  return std::as_bytes(std::span(&object, 1));
}
template <class T>
Bytes writable_bytes_of(T& object) noexcept {
  return std::as_writable_bytes(std::span(&object, 1));
}

std::uint32_t own_checksum(const Footer& footer) noexcept {
  return crc32c(bytes_of(footer).first(offsetof(Footer, checksum)));
}

std::size_t header_bytes(std::size_t dims, std::size_t coding_bytes) noexcept {
  return sizeof(Header) + 8 * dims + coding_bytes + sizeof(std::uint32_t);
}

void append(std::vector<std::byte>& bytes, ConstBytes more) {
  bytes.insert(bytes.end(), more.begin(), more.end());
}

}  // namespace

bool is_taut(const ByteSource& file) {
  char magic[sizeof file_magic];
  if (file.size() < sizeof magic) return false;
  file.read(0, std::as_writable_bytes(std::span(magic)));
  return std::ranges::equal(magic, file_magic);
}

std::size_t overhead_bytes(const Array& array, const std::string& coding, std::size_t frames) {
  return header_bytes(array.shape.size(), coding.size()) + frames * sizeof(FrameEntry) + sizeof(Footer);
}

// ---- Writing

FrameWriter::FrameWriter(ByteTarget& file, const Array& array, const std::string& coding,
                         std::size_t references)
    : file_(file) {
  if (coding.size() > most_coding_bytes) reject("--bound: is longer than 4096 characters");
  Header header{};
  std::ranges::copy(file_magic, header.magic);
  header.version = references == 0 ? version_without_references : version_with_references;
  header.bytes = static_cast<std::uint32_t>(header_bytes(array.shape.size(), coding.size()));
  header.type = static_cast<std::uint8_t>(array.type);
  header.form = static_cast<std::uint8_t>(array.form);
  header.dims = static_cast<std::uint8_t>(array.shape.size());
  header.references = static_cast<std::uint8_t>(references);
  header.coding_bytes = static_cast<std::uint32_t>(coding.size());
  std::vector<std::byte> bytes;
  append(bytes, bytes_of(header));
  append(bytes, std::as_bytes(std::span(array.shape)));
  append(bytes, std::as_bytes(std::span(coding)));
  header_checksum_ = crc32c(bytes);
  append(bytes, bytes_of(header_checksum_));
  file_.write(bytes);
}

void FrameWriter::add(ConstBytes frame, std::size_t values) {
  entries_.push_back({frame.size(), static_cast<std::uint32_t>(values), crc32c(frame)});
  file_.write(frame);
}

void FrameWriter::finish() {
  Footer footer{};
  footer.index_offset = file_.written();
  footer.frames = entries_.size();
  footer.index_checksum = crc32c(std::as_bytes(std::span(entries_)));
  footer.header_checksum = header_checksum_;
  footer.checksum = own_checksum(footer);
  std::ranges::copy(end_magic, footer.magic);
  file_.write(std::as_bytes(std::span(entries_)));
  file_.write(bytes_of(footer));
}

// ---- Reading

FrameReader::FrameReader(const ByteSource& file) : file_(file) {
  if (!is_taut(file)) fail(file.path() + ": is no .taut file");
  offset_ = read_header();
  check_coded(array_.type);
  read_index(offset_);
}

void FrameReader::fail_damaged(const char* what) const {
  fail(file_.path() + ": is damaged (" + what + "); get the file again");
}

// Reads the header and returns the offset after it.
std::uint64_t FrameReader::read_header() {
  Header header{};
  if (file_.size() < sizeof header) fail_damaged("it ends within its header");
  file_.read(0, writable_bytes_of(header));
  if (header.version != version_without_references && header.version != version_with_references)
    fail(file_.path() + ": is of version " + std::to_string(header.version) +
         " of the format, or damaged; this program reads versions 1 and 2");
  const std::size_t expected = header_bytes(header.dims, header.coding_bytes);
  if (header.dims > max_array_dims || header.coding_bytes > most_coding_bytes || header.bytes != expected)
    fail_damaged("lengths in its header");
  if (file_.size() < expected) fail_damaged("it ends within its header");

  std::vector<std::byte> bytes(expected);
  file_.read(0, bytes);
  std::memcpy(&header_checksum_, bytes.data() + expected - 4, 4);
  if (header_checksum_ != crc32c(ConstBytes(bytes).first(expected - 4)))
    fail_damaged("checksum of its header");
  const bool known_form = header.form >= 1 && header.form <= static_cast<std::uint8_t>(Form::npy_fortran);
  if (!is_dtype(header.type) || !known_form) fail_damaged("type or form in its header");
  const bool refers = header.references > 0 && header.references <= most_references;
  if (header.version == version_without_references ? header.references != 0 : !refers)
    fail_damaged("references in its header");
  references_ = header.references;
  array_.type = DType{header.type};
  array_.form = Form{header.form};
  array_.shape.resize(header.dims);
  std::ranges::copy(ConstBytes(bytes).subspan(sizeof header, 8 * std::size_t{header.dims}),
                    std::as_writable_bytes(std::span(array_.shape)).begin());
  if (!has_valid_size(array_)) fail_damaged("shape in its header");
  coding_.assign(reinterpret_cast<const char*>(bytes.data()) + sizeof header + 8 * header.dims,
                 header.coding_bytes);
  return expected;
}

// Reads the index. `begin` is the offset of the first frame. Frames, index and footer fill the rest of the
// file.
void FrameReader::read_index(std::uint64_t begin) {
  Footer footer{};
  if (file_.size() < begin + sizeof footer) fail_damaged("it ends before its index");
  const std::uint64_t end = file_.size() - sizeof footer;  // end of the index
  file_.read(end, writable_bytes_of(footer));
  if (!std::ranges::equal(footer.magic, end_magic) || footer.checksum != own_checksum(footer))
    fail_damaged("its end is missing");
  const bool fits = footer.index_offset >= begin && footer.index_offset <= end &&
                    footer.frames == (end - footer.index_offset) / sizeof(FrameEntry) &&
                    (end - footer.index_offset) % sizeof(FrameEntry) == 0;
  if (!fits || footer.zero != 0 || footer.header_checksum != header_checksum_) fail_damaged("its index");

  entries_.resize(static_cast<std::size_t>(footer.frames));
  file_.read(footer.index_offset, std::as_writable_bytes(std::span(entries_)));
  if (crc32c(std::as_bytes(std::span(entries_))) != footer.index_checksum)
    fail_damaged("checksum of its index");
  check_sizes(footer.index_offset - begin);
}

void FrameReader::check_sizes(std::uint64_t bytes_left) const {
  std::uint64_t values_left = array_.count();
  FrameEntry limit{};  // most bytes of a frame of `values` values; kept, as most frames have equally many
  for (const FrameEntry& entry : entries_) {
    if (entry.values == 0 || entry.values > most_values_a_frame || entry.values > values_left ||
        entry.bytes > bytes_left || entry.bytes + 3 < min_frame_bytes(entry.values))
      fail_damaged("sizes in its index");
    if (entry.values != limit.values) limit = {most_frame_bytes(array_.type, entry.values), entry.values, 0};
    if (entry.bytes > limit.bytes) fail_damaged("sizes in its index");
    values_left -= entry.values;
    bytes_left -= entry.bytes;
  }
  if (values_left != 0 || bytes_left != 0) fail_damaged("sizes in its index");
}

ConstBytes FrameReader::next() {
  const FrameEntry& entry = entries_[position_++];
  frame_.resize(static_cast<std::size_t>(entry.bytes));
  file_.read(offset_, frame_);
  offset_ += entry.bytes;
  if (crc32c(frame_) != entry.checksum)
    fail_damaged(("checksum of frame " + std::to_string(position_) + " of " + std::to_string(entries_.size()))
                     .c_str());
  return frame_;
}

}  // namespace taut::file
