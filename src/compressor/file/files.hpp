// Input files with random access, and output files that appear whole or not at all. "-" names standard input
// or standard output.
#pragma once

#include "compressor/values/slice.hpp"

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

namespace taut::file {

// Bytes with random access.
class ByteSource {
 public:
  virtual const std::string& path() const noexcept = 0;  // name in messages
  virtual std::uint64_t size() const noexcept = 0;
  // Fills `out` with the bytes from `offset` on; throws Failure if the source ends before.
  virtual void read(std::uint64_t offset, Bytes out) const = 0;

 protected:
  ~ByteSource() = default;
};

// Bytes that are appended.
class ByteTarget {
 public:
  virtual std::uint64_t written() const noexcept = 0;
  virtual void write(ConstBytes bytes) = 0;

 protected:
  ~ByteTarget() = default;
};

inline constexpr const char* standard_stream = "-";

// File, open for reading. A pipe is read into memory at once.
class InputFile final : public ByteSource {
 public:
  explicit InputFile(const std::string& path);  // throws Failure
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile();

  const std::string& path() const noexcept override { return path_; }
  std::uint64_t size() const noexcept override { return size_; }
  void read(std::uint64_t offset, Bytes out) const override;

 private:
  void read_all();

  std::string path_;
  int descriptor_;
  std::uint64_t size_ = 0;
  bool in_memory_ = false;
  std::vector<std::byte> memory_;
};

// Output file that is written under another name in the same folder and renamed by commit(). Without commit()
// nothing is left, even if a signal (SIGINT, SIGTERM, SIGHUP) ends the program. Only one may exist at a time.
// Standard output gets the bytes as they are written.
class OutputFile final : public ByteTarget {
 public:
  // Throws Failure if the file exists, or standard output is a terminal, and `replace` is false.
  OutputFile(const std::string& path, bool replace);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  const std::string& path() const noexcept { return path_; }
  bool is_standard_output() const noexcept { return to_stdout_; }
  std::uint64_t written() const noexcept override { return written_; }
  void write(ConstBytes bytes) override;
  void commit();

 private:
  void check_target() const;
  void close() noexcept;

  std::string path_;
  bool replace_, to_stdout_;
  int descriptor_ = -1;
  std::uint64_t written_ = 0;
};

// Returns where the summary of a command goes that writes `output`: stdout may carry the output itself.
std::FILE* summary_stream(const OutputFile& output) noexcept;

// Recognises a container by its signature. Returns what the file is and what to do with it, as the end of a
// sentence: "an HDF5 file: name a variable of it". Returns nothing for other files.
std::optional<std::string> container_of(const ByteSource& file);

}  // namespace taut::file
