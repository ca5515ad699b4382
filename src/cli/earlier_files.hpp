// Earlier files, to which the frames of a .taut file refer: options --reference and --series of compress and
// decompress.
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

// Series of files, each of which refers to the one before: the decoded values of the last one.
class FileSeries {
 public:
  // `distance`: each file of this number refers to none; 0: as the files say.
  explicit FileSeries(std::size_t distance) : distance_(distance) {}

  const std::string& last() const noexcept { return last_; }  // name of the last file; "": none yet
  const std::byte* values() const noexcept { return values_.data(); }

  // Returns true if the next file, whose values are `array`, may refer to the last one.
  bool leads_to(const Array& array) const noexcept;

  // Take the decoded values of the next file, in order, and end it: it is then the last one. Without end(),
  // the next begin() drops the values added since. Throw std::bad_alloc.
  void begin(const Array& array);
  void add(ConstBytes values) { next_.insert(next_.end(), values.begin(), values.end()); }
  void end(const Array& array, const std::string& name);

 private:
  std::size_t distance_;
  std::size_t chain_length_ = 0;  // files since the last one that refers to none, which counts too
  std::string last_;
  DType type_{};
  std::vector<std::byte> values_, next_;
};

class EarlierFiles {
 public:
  // Opens the files that --reference names, newest first; of a series, `array` may refer to the last file.
  EarlierFiles(const Arguments& arguments, const Array& array, const std::string& name,
               const FileSeries* series);

  std::size_t size() const noexcept { return last_ != nullptr ? 1 : files_.size(); }
  std::string names() const;

  // Returns where the next `count` values of each file are.
  EarlierValues next(std::size_t count);

 private:
  std::list<EarlierFile> files_;
  const FileSeries* last_ = nullptr;  // its last file is the earlier one
  std::size_t at_ = 0, value_bytes_;  // offset of its next value
  std::vector<const void*> values_;
};

// Throws Failure if there are several inputs, which cannot all refer to the files of --reference, or if these
// are named beside --series.
void check_one_refers(const Arguments& arguments);

}  // namespace taut::cli
