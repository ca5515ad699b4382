// Earlier files, to which the frames of a .taut file refer: option --reference of compress and decompress.
#pragma once

#include <list>
#include <optional>
#include <vector>

#include "cli/arguments.hpp"
#include "compressor/file/coding.hpp"
#include "compressor/file/file_format.hpp"
#include "compressor/file/files.hpp"

namespace taut::cli {

// Values of a file, from the first one on: of a .npy file, of a .taut file that refers to no other, or raw.
class EarlierFile {
 public:
  // Throws Failure unless the file holds as many values of the type as `array`, for which `name` stands in
  // messages.
  EarlierFile(const std::string& path, const Array& array, const std::string& name);

  const std::string& name() const noexcept { return file_.path(); }
  const void* next(std::size_t count);  // the next values, valid until the next call

 private:
  Array open();  // returns the description of the file's array

  InputFile file_;
  DType type_;
  std::optional<FrameReader> frames_;  // of a .taut file
  std::size_t frame_ = 0;              // index of the next frame
  std::uint64_t at_ = 0;               // offset of the next value in another file
  std::vector<std::byte> values_;      // values of next(), and decoded values behind them
  std::size_t taken_ = 0;              // bytes of next() in values_
};

class EarlierFiles {
 public:
  // Opens the files that --reference names, newest first.
  EarlierFiles(const Arguments& arguments, const Array& array, const std::string& name);

  std::size_t size() const noexcept { return files_.size(); }
  std::string names() const;

  // Returns where the next `count` values of each file are.
  EarlierValues next(std::size_t count);

 private:
  std::list<EarlierFile> files_;
  std::vector<const void*> values_;
};

// Throws Failure if there are several inputs, which cannot all refer to the files of --reference.
void check_one_refers(const Arguments& arguments);

}  // namespace taut::cli
