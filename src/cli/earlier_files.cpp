#include "cli/earlier_files.hpp"

#include "compressor/file/failure.hpp"
#include "compressor/file/npy.hpp"

namespace taut::cli {

EarlierFile::EarlierFile(const std::string& path, const Array& array, const std::string& name)
    : file_(path), type_(array.type) {
  const Array own = open();
  if (own.type != array.type || own.count() != array.count())
    reject("--reference " + path + ": holds " + std::to_string(own.count()) + " values of " +
           name_of(own.type) + ", and " + name + " " + std::to_string(array.count()) + " of " +
           name_of(array.type) + "; name a file with as many values of that type");
}

Array EarlierFile::open() {
  if (is_taut(file_)) {
    frames_.emplace(file_);
    if (frames_->references() > 0)
      reject("--reference " + file_.path() +
             ": refers to another file itself; decompress it, and name what comes out");
    return frames_->array();
  }
  if (is_npy(file_)) {
    const StoredArray npy = read_npy(file_, type_ == DType::bf16 ? std::optional(type_) : std::nullopt);
    at_ = npy.values_at;
    return npy.array;
  }
  if (file_.size() % size_of(type_) != 0)
    reject("--reference " + file_.path() + ": holds " + std::to_string(file_.size()) +
           " bytes, which is no multiple of " + std::to_string(size_of(type_)));
  return {type_, Form::raw, {file_.size() / size_of(type_)}};
}

const void* EarlierFile::next(std::size_t count) {
  const std::size_t bytes = count * size_of(type_);
  values_.erase(values_.begin(), values_.begin() + static_cast<std::ptrdiff_t>(taken_));
  if (!frames_) {
    values_.resize(bytes);
    file_.read(at_, values_);
    at_ += bytes;
  }
  while (values_.size() < bytes) {
    const std::size_t before = values_.size(), n = frames_->entries()[frame_++].values;
    values_.resize(before + n * size_of(type_));
    if (!decode(frames_->next(), n, type_, Bytes(values_).subspan(before)))
      fail(file_.path() + ": is damaged (a frame); get the file again");
  }
  taken_ = bytes;
  return values_.data();
}

bool FileSeries::leads_to(const Array& array) const noexcept {
  return !last_.empty() && array.type == type_ && array.bytes() == values_.size() &&
         (distance_ == 0 || chain_length_ < distance_);
}

void FileSeries::begin(const Array& array) {
  next_.clear();
  next_.reserve(array.bytes());
}

void FileSeries::end(const Array& array, const std::string& name) {
  chain_length_ = leads_to(array) ? chain_length_ + 1 : 1;
  last_ = name;
  type_ = array.type;
  values_.swap(next_);
}

EarlierFiles::EarlierFiles(const Arguments& arguments, const Array& array, const std::string& name,
                           const FileSeries* series)
    : value_bytes_(size_of(array.type)) {
  if (series != nullptr && series->leads_to(array)) last_ = series;
  const auto paths = arguments.values("reference");
  if (paths.size() > 2)
    reject("--reference " + paths[2] + ": is one file too many; name one or two, the newest first");
  for (const std::string& path : paths) files_.emplace_back(path, array, name);
}

std::string EarlierFiles::names() const {
  if (last_ != nullptr) return last_->last();
  std::string all;
  for (const EarlierFile& file : files_) all += (all.empty() ? "" : ", ") + file.name();
  return all;
}

EarlierValues EarlierFiles::next(std::size_t count) {
  values_.clear();
  if (last_ != nullptr) values_.push_back(last_->values() + at_);
  at_ += count * value_bytes_;
  for (EarlierFile& file : files_) values_.push_back(file.next(count));
  return values_;
}

void check_one_refers(const Arguments& arguments) {
  if (!arguments.has("reference")) return;
  if (arguments.has("series")) reject("--reference: is not for --series, whose files refer to each other");
  if (arguments.names().size() > 1)
    reject("--reference: is for one input, and there are " + std::to_string(arguments.names().size()) +
           "; give them one by one, or as a --series");
}

}  // namespace taut::cli
