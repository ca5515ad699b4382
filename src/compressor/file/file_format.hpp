// Writer and reader of .taut files: a header, frames, their index, a footer. docs/spec/file.md specifies the
// layout and what a reader must reject.
#pragma once

#include "compressor/file/array.hpp"
#include "compressor/file/chunking.hpp"
#include "compressor/file/files.hpp"

namespace taut::file {

struct FrameEntry {
  std::uint64_t bytes;
  std::uint32_t values;
  std::uint32_t checksum;  // CRC-32C of the frame
};

bool is_taut(const ByteSource& file);

// Returns the size in bytes of header, index and footer of a file with `frames` frames.
std::size_t overhead_bytes(const Array& array, const std::string& coding, std::size_t frames);

class FrameWriter {
 public:
  // Writes the header. `coding`: bound and options as the user gave them; relative bounds refer to the whole
  // array. `references`: number of arrays that frames may refer to.
  FrameWriter(ByteTarget& file, const Array& array, const std::string& coding, std::size_t references = 0);

  void add(ConstBytes frame, std::size_t values);
  void finish();  // called once all values of the array have been added

  std::size_t frames() const noexcept { return entries_.size(); }

 private:
  ByteTarget& file_;
  std::uint32_t header_checksum_;
  std::vector<FrameEntry> entries_;
};

class FrameReader {
 public:
  // Reads and checks header, footer and index; throws Failure.
  explicit FrameReader(const ByteSource& file);

  const Array& array() const noexcept { return array_; }
  const std::string& coding() const noexcept { return coding_; }
  std::size_t references() const noexcept { return references_; }  // arrays that frames may refer to
  const std::vector<FrameEntry>& entries() const noexcept { return entries_; }

  // Checks the checksum of the next frame and returns its bytes, which are valid until the next call.
  ConstBytes next();

 private:
  std::uint64_t read_header();
  void read_index(std::uint64_t begin);
  void check_sizes(std::uint64_t frames_bytes) const;
  [[noreturn]] void fail_damaged(const char* what) const;

  const ByteSource& file_;
  Array array_;
  std::string coding_;
  std::size_t references_ = 0;
  std::uint32_t header_checksum_ = 0;
  std::vector<FrameEntry> entries_;
  std::size_t position_ = 0;  // index of the next frame in entries_
  std::uint64_t offset_ = 0;  // offset of that frame in the file, in bytes
  std::vector<std::byte> frame_;
};

}  // namespace taut::file
